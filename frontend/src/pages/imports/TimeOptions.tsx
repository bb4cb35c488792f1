import { Autocomplete, Checkbox, Group, Select, Text, TextInput } from "@mantine/core";
import { useZoneGroups } from "../../components/zone";
import type { SpecInfo } from "../../logic/api";
import { type ImportOptions, MAX_TITLE, type OptionProblems } from "../../logic/imports";
import type { Zone } from "../../logic/zone";
import { words } from "../../words";

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
        {words.imports.timeOptions.allTheseOptionalLoad}
      </Text>
      <Group gap="sm" align="flex-start">
        <Autocomplete
          size="xs"
          w={210}
          inputWrapperOrder={ORDER}
          label={words.common.timeZone}
          description={words.imports.timeOptions.timesWithoutZoneDefault}
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
          label={words.imports.timeOptions.date}
          description={words.imports.timeOptions.firstLineIfTool}
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
          label={words.imports.timeOptions.firstReportAt(startZone)}
          description={words.imports.timeOptions.ifToolPrintsNo}
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
          label={words.imports.timeOptions.secondsBetweenReports}
          description={words.imports.timeOptions.toolsIntervalSuchIostat}
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
          label={words.common.spec}
          description={words.imports.timeOptions.ifToolCannotDetected}
          placeholder={words.imports.timeOptions.detectedFromTheContent}
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
          label={words.imports.timeOptions.questionOfATracer}
          description={words.imports.timeOptions.whatDtraceBpftraceBcc}
          placeholder={words.imports.timeOptions.readsBySize}
          maxLength={MAX_TITLE}
          value={options.title}
          onChange={(event) => {
            onChange({ title: event.currentTarget.value });
          }}
        />
        <Checkbox
          size="xs"
          mt={22}
          label={words.imports.timeOptions.firstReportReal}
          description={words.imports.timeOptions.coversIntervalNotTime}
          checked={options.firstIsReal}
          onChange={(event) => {
            onChange({ firstIsReal: event.currentTarget.checked });
          }}
        />
        <Checkbox
          size="xs"
          mt={22}
          label={words.imports.timeOptions.eachHost}
          description={words.imports.timeOptions.eachHostMeans}
          checked={options.eachHost}
          onChange={(event) => {
            onChange({ eachHost: event.currentTarget.checked });
          }}
        />
      </Group>
    </div>
  );
}
