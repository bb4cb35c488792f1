import { Group as Row, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { FindingGroup } from "../../logic/api";
import {
  FINDING_KINDS,
  GROUP_SORT_LABELS,
  GROUP_SORTS,
  KIND_WORDS,
  type Option,
  optionsOf,
  SUBSYSTEM_LABELS,
  SUBSYSTEMS,
} from "../../logic/group";
import { toggledOf } from "../../logic/group";
import type { ComparisonView } from "../../state/comparison";

interface FiltersProps {
  readonly groups: readonly FindingGroup[];
  readonly hosts: readonly string[];
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** The filter and order of the groups, and the background of their graphs. */
export function Filters({ groups, hosts, view, onChange }: FiltersProps) {
  return (
    <div className="filters no-print">
      <Row gap="xs">
        <FilterText view={view} onChange={onChange} />
        <Select
          size="xs"
          w={190}
          aria-label="Order"
          allowDeselect={false}
          data={GROUP_SORTS.map((value) => ({ value, label: `by ${GROUP_SORT_LABELS[value]}` }))}
          value={view.sort}
          onChange={(value) => {
            onChange({ sort: GROUP_SORTS.find((sort) => sort === value) ?? "anomaly_score" }, false);
          }}
        />
        <SegmentedControl
          size="xs"
          aria-label="Time axis of the graphs"
          value={view.align}
          data={[
            { value: "elapsed", label: "By elapsed time" },
            { value: "clock", label: "By the clock" },
          ]}
          onChange={(value) => {
            onChange({ align: value === "clock" ? "clock" : "elapsed" }, false);
          }}
        />
        <Legend hasLine={view.align === "elapsed"} />
      </Row>
      <Row gap={14}>
        {hosts.length > 1 && (
          <Chips
            label="Hosts"
            options={optionsOf(groups, hosts, ({ host }) => host)}
            labels={null}
            chosen={view.onlyHosts}
            onChange={(onlyHosts) => {
              onChange({ onlyHosts }, false);
            }}
          />
        )}
        <Chips
          label="Subsystems"
          options={optionsOf(groups, SUBSYSTEMS, ({ subsystem }) => subsystem)}
          labels={SUBSYSTEM_LABELS}
          chosen={view.subsystems}
          onChange={(subsystems) => {
            onChange({ subsystems }, false);
          }}
        />
        <Chips
          label="Kinds of change"
          options={optionsOf(groups, FINDING_KINDS, ({ kind }) => kind)}
          labels={KIND_LABELS}
          chosen={view.kinds}
          onChange={(kinds) => {
            onChange({ kinds }, false);
          }}
        />
      </Row>
    </div>
  );
}

const KIND_LABELS = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, KIND_WORDS[kind].label]));

export function FilterText({ view, onChange }: Pick<FiltersProps, "view" | "onChange">) {
  return (
    <TextInput
      size="xs"
      w={260}
      aria-label="Filter"
      placeholder="Filter: words, or -word to exclude"
      leftSection={<IconSearch size={14} />}
      value={view.filter}
      onChange={(event) => {
        onChange({ filter: event.currentTarget.value }, false);
      }}
    />
  );
}

interface ChipsProps<T extends string> {
  readonly label: string;
  readonly options: readonly Option<T>[];
  readonly labels: Readonly<Record<string, string>> | null;
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
}

/** Filter buttons; none pressed shows all. */
function Chips<T extends string>({ label, options, labels, chosen, onChange }: ChipsProps<T>) {
  return options.length < 2 && chosen.length === 0 ? null : (
    <div className="chips" role="group" aria-label={label}>
      {options.map(({ value, count }) => (
        <button
          key={value}
          type="button"
          className="chip"
          aria-pressed={chosen.includes(value)}
          onClick={() => {
            onChange(toggledOf(chosen, value));
          }}
        >
          {labels?.[value] ?? value} {count}
        </button>
      ))}
    </div>
  );
}

/** The legend shared by all small graphs. */
function Legend({ hasLine }: { readonly hasLine: boolean }) {
  return (
    <span className="sketch-legend soft" aria-hidden>
      <svg width="24" height="12">
        <path className="sketch-incident" d="M0 4L8 2L16 6L24 3L24 8L16 10L8 7L0 9Z" />
      </svg>
      incident: lowest to highest
      <svg width="24" height="12">
        <rect className="sketch-band" width="24" height="12" />
        <line className="sketch-median" x2="24" y1="6" y2="6" />
      </svg>
      band of the baseline: p5 to p95, median
      {hasLine && (
        <>
          <svg width="24" height="12">
            <path className="sketch-baseline" d="M0 5L8 3L16 7L24 4L24 8L16 11L8 7L0 9Z" />
          </svg>
          its own line
        </>
      )}
    </span>
  );
}
