import { Group as Row, SegmentedControl, Select } from "@mantine/core";
import { FilterBox } from "../../components/ListFilters";
import type { FindingGroup } from "../../logic/api";
import { type ChipCount, CHIP_LABELS } from "../../logic/change_chips";
import {
  FINDING_KINDS,
  GROUP_SORT_LABELS,
  GROUP_SORTS,
  KIND_WORDS,
  type Option,
  optionsOf,
  SUBSYSTEM_LABELS,
  SUBSYSTEMS,
  toggledOf,
} from "../../logic/group";
import { formatCount } from "../../logic/number";
import type { ComparisonView } from "../../state/comparison";

interface FiltersProps {
  readonly groups: readonly FindingGroup[];
  readonly hosts: readonly string[];
  /** The chips of certainty and kind of series, with what each shows. */
  readonly chips: readonly ChipCount[];
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** The chips, the filter and the order of the list; what is seldom needed is folded. */
export function Filters({ groups, hosts, chips, view, onChange }: FiltersProps) {
  const isNarrowed = [view.onlyHosts, view.subsystems, view.kinds].some(({ length }) => length > 0);
  return (
    <div className="filters no-print">
      <Row gap="xs">
        <h2 className="filters-title">All changes</h2>
        <div className="chips" role="group" aria-label="Which series">
          {chips.map(({ chip, count }) => (
            <button
              key={chip}
              type="button"
              className="chip"
              aria-pressed={view.chips.includes(chip)}
              onClick={() => {
                onChange({ chips: toggledOf(view.chips, chip) }, false);
              }}
            >
              {CHIP_LABELS[chip]} {formatCount(count)}
            </button>
          ))}
        </div>
        <Row gap="xs" className="filters-order">
          <FilterText view={view} onChange={onChange} />
          <Select
            size="xs"
            w={170}
            aria-label="Order"
            allowDeselect={false}
            data={GROUP_SORTS.map((value) => ({ value, label: `by ${GROUP_SORT_LABELS[value]}` }))}
            value={view.sort}
            onChange={(value) => {
              onChange({ sort: GROUP_SORTS.find((sort) => sort === value) ?? "anomaly_score" }, false);
            }}
          />
        </Row>
      </Row>
      <details className="filters-more" open={isNarrowed}>
        <summary>More filters, and how the graphs are drawn</summary>
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
      </details>
    </div>
  );
}

const KIND_LABELS = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, KIND_WORDS[kind].label]));

function FilterText({ view, onChange }: Pick<FiltersProps, "view" | "onChange">) {
  return (
    <FilterBox
      label="Filter"
      placeholder="Filter: words, or -word to exclude"
      value={view.filter}
      onChange={(filter) => {
        onChange({ filter }, false);
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
