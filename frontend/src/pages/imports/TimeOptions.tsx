import { Autocomplete, Checkbox, Group, Select, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { specsQuery } from "../../api/queries";
import { useZoneGroups } from "../../components/zone";
import { type ImportOptions, MAX_TITLE } from "../../logic/imports";
import type { Zone } from "../../logic/zone";

// The descriptions are below, so that the inputs are in one row.
const ORDER = ["label", "input", "description", "error"] satisfies ("label" | "input" | "description" | "error")[];
const FIELD = { size: "xs", inputWrapperOrder: ORDER } as const;

interface TimeOptionsProps {
  readonly form: UseFormReturnType<ImportOptions>;
  /** The zone of a start without one. */
  readonly startZone: Zone;
}

/** Values that files may lack: needed only if a file does. */
export function TimeOptions({ form, startZone }: TimeOptionsProps) {
  const zones = useZoneGroups();
  const specs = useQuery(specsQuery).data?.specs ?? [];
  return (
    <div>
      <Text fz="sm" className="soft" mb={6}>
        All of these are optional. What is still missing after loading can be given there, file by file or for all at once.
      </Text>
      <Group gap="sm" align="flex-start">
        <Autocomplete
          {...FIELD}
          w={210}
          label="Time zone"
          description="of times without a zone; default UTC"
          placeholder="Europe/Berlin"
          data={[...zones]}
          limit={50}
          {...form.getInputProps("zone")}
        />
        <TextInput
          {...FIELD}
          w={190}
          label="Date"
          description="of the first line, if the tool prints only times of day (mpstat, sar)"
          placeholder="2026-11-21"
          {...form.getInputProps("date")}
        />
        <TextInput
          {...FIELD}
          w={230}
          label={`First report at (${startZone})`}
          description="if the tool prints no time at all (iostat, prstat, netstat)"
          placeholder="2026-11-21 09:05:00"
          {...form.getInputProps("start")}
        />
        <TextInput
          {...FIELD}
          w={170}
          label="Seconds between reports"
          description="the tool's interval, such as 5 for iostat 5"
          placeholder="5"
          inputMode="decimal"
          {...form.getInputProps("interval")}
        />
        <Select
          {...FIELD}
          w={260}
          label="Spec"
          description="if the tool cannot be detected from its output"
          placeholder="detected from the content"
          clearable
          searchable
          limit={100}
          data={specs.map(({ name, title }) => ({ value: name, label: `${name}: ${title}` }))}
          {...form.getInputProps("spec")}
          value={form.values.spec === "" ? null : form.values.spec}
          onChange={(spec: string | null) => {
            form.setFieldValue("spec", spec ?? "");
          }}
        />
        <TextInput
          {...FIELD}
          w={230}
          label="Title"
          description="of artefacts; for dtrace, bpftrace, bcc and SystemTap also the question, which begins the names of their series"
          placeholder="reads by size"
          maxLength={MAX_TITLE}
          {...form.getInputProps("title")}
        />
        <Checkbox
          size="xs"
          mt={22}
          label="First report covers an interval"
          description="it covers an interval, not the time since boot (vmstat -y)"
          {...form.getInputProps("firstIsReal", { type: "checkbox" })}
        />
        <Checkbox
          size="xs"
          mt={22}
          label="Each host under its own name"
          description="for files with the output of several hosts (cat, Ansible, pdsh, kubectl --prefix)"
          {...form.getInputProps("eachHost", { type: "checkbox" })}
        />
      </Group>
    </div>
  );
}
