import { Autocomplete, Group, Select, Text, TextInput } from "@mantine/core";
import { useMemo } from "react";
import type { SpecInfo } from "../../logic/api";
import type { ImportOptions, OptionProblems } from "../../logic/imports";
import type { Zone } from "../../logic/zone";
import { listZones } from "../../state/clock";

// The notes stand below, so that the inputs stand in one row.
const ORDER = ["label", "input", "description", "error"] satisfies ("label" | "input" | "description" | "error")[];

interface TimeOptionsProps {
  readonly options: ImportOptions;
  readonly problems: OptionProblems;
  readonly specs: readonly SpecInfo[];
  /** In which a start without a zone is read. */
  readonly startZone: Zone;
  readonly onChange: (change: Partial<ImportOptions>) => void;
}

/** What files may leave unsaid: needed only where the result table says so. */
export function TimeOptions({ options, problems, specs, startZone, onChange }: TimeOptionsProps) {
  const zones = useMemo(() => listZones(), []);
  return (
    <div>
      <Text fz="sm" className="soft" mb={6}>
        All of these may stay empty. Load first; where a time or a tool could not be told, the result says so, and you load the
        file again with what it lacks.
      </Text>
      <Group gap="sm" align="flex-start">
        <Autocomplete
          size="xs"
          w={210}
          inputWrapperOrder={ORDER}
          label="Time zone"
          description="of clocks that name no zone; else UTC"
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
          description="of the first line, where only clocks are printed (mpstat, sar)"
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
          description="where no time at all is printed (iostat, prstat, netstat)"
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
          description="as the tool was called: iostat 5"
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
          description="where the tool is not told by what it prints"
          placeholder="told by the file's content"
          clearable
          searchable
          limit={100}
          data={specs.map(({ name, title }) => ({ value: name, label: `${name}: ${title}` }))}
          value={options.spec === "" ? null : options.spec}
          onChange={(spec) => {
            onChange({ spec: spec ?? "" });
          }}
        />
      </Group>
    </div>
  );
}
