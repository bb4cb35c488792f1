import { Autocomplete, Checkbox, Group, Select, Text, TextInput } from "@mantine/core";
import { useZoneGroups } from "../../components/zone";
import type { SpecInfo } from "../../logic/api";
import { type ImportOptions, MAX_TITLE, type OptionProblems } from "../../logic/imports";
import type { Zone } from "../../logic/zone";

// The descriptions are below, so that the inputs are in one row.
const ORDER = ["label", "input", "description", "error"] satisfies ("label" | "input" | "description" | "error")[];

interface TimeOptionsProps {
  readonly options: ImportOptions;
  readonly problems: OptionProblems;
  readonly specs: readonly SpecInfo[];
  /** The zone of a start without one. */
  readonly startZone: Zone;
  readonly onChange: (change: Partial<ImportOptions>) => void;
}

/** Values that files may lack: needed only if the result says so. */
export function TimeOptions({ options, problems, specs, startZone, onChange }: TimeOptionsProps) {
  const zones = useZoneGroups();
  return (
    <div>
      <Text fz="sm" className="soft" mb={6}>
        All of these are optional. Load the files first. If a time or a tool could not be detected, the result asks for it.
      </Text>
      <Group gap="sm" align="flex-start">
        <Autocomplete
          size="xs"
          w={210}
          inputWrapperOrder={ORDER}
          label="Time zone"
          description="of times without a zone; default UTC"
          placeholder="Europe/Berlin"
          data={[...zones]}
          limit={50}
          value={options.zone}
          error={problems.zone}
          onChange={(zone) => {
            onChange({ zone });
          }}
        />
        <TextInput
          size="xs"
          w={190}
          inputWrapperOrder={ORDER}
          label="Date"
          description="of the first line, if the tool prints only times of day (mpstat, sar)"
          placeholder="2026-11-21"
          value={options.date}
          error={problems.date}
          onChange={(event) => {
            onChange({ date: event.currentTarget.value.trim() });
          }}
        />
        <TextInput
          size="xs"
          w={230}
          inputWrapperOrder={ORDER}
          label={`First report at (${startZone})`}
          description="if the tool prints no time at all (iostat, prstat, netstat)"
          placeholder="2026-11-21 09:05:00"
          value={options.start}
          error={problems.start}
          onChange={(event) => {
            onChange({ start: event.currentTarget.value });
          }}
        />
        <TextInput
          size="xs"
          w={170}
          inputWrapperOrder={ORDER}
          label="Seconds between reports"
          description="the tool's interval, such as 5 for iostat 5"
          placeholder="5"
          inputMode="decimal"
          value={options.interval}
          error={problems.interval}
          onChange={(event) => {
            onChange({ interval: event.currentTarget.value });
          }}
        />
        <Select
          size="xs"
          w={260}
          inputWrapperOrder={ORDER}
          label="Spec"
          description="if the tool cannot be detected from its output"
          placeholder="detected from the content"
          clearable
          searchable
          limit={100}
          data={specs.map(({ name, title }) => ({ value: name, label: `${name}: ${title}` }))}
          value={options.spec === "" ? null : options.spec}
          onChange={(spec) => {
            onChange({ spec: spec ?? "" });
          }}
        />
        <TextInput
          size="xs"
          w={230}
          inputWrapperOrder={ORDER}
          label="Question of a tracer"
          description="what dtrace, bpftrace, bcc or SystemTap was asked; begins the names of its series"
          placeholder="reads by size"
          maxLength={MAX_TITLE}
          value={options.title}
          onChange={(event) => {
            onChange({ title: event.currentTarget.value });
          }}
        />
        <Checkbox
          size="xs"
          mt={22}
          label="First report covers an interval"
          description="it covers an interval, not the time since boot (vmstat -y)"
          checked={options.firstIsReal}
          onChange={(event) => {
            onChange({ firstIsReal: event.currentTarget.checked });
          }}
        />
        <Checkbox
          size="xs"
          mt={22}
          label="Each host under its own name"
          description="for files with the output of several hosts (cat, Ansible, pdsh, kubectl --prefix)"
          checked={options.eachHost}
          onChange={(event) => {
            onChange({ eachHost: event.currentTarget.checked });
          }}
        />
      </Group>
    </div>
  );
}
