import { HoverCard } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconList, IconTable } from "@tabler/icons-react";
import { memo, type MouseEvent, type ReactElement, type ReactNode, useMemo } from "react";
import { FieldCard } from "../../components/FieldHelp";
import type { LineValues } from "../../logic/api";
import type { LegendKind, LegendSort } from "../../logic/look";
import { formatValue, formatWithUnit } from "../../logic/number";
import { type Scheme, type Stroke, strokeOf } from "../../logic/palette";
import { type LegendEntry, sampleAt } from "../../logic/series";
import { formatStatistic, legendColumn, type Statistic, STATISTIC_LABELS, STATISTICS } from "../../logic/statistics";
import type { Scale } from "../../logic/unit";
import { type PointerStore, usePointer } from "../../state/pointer";
import { counted } from "../../logic/counted";

export interface LegendStatistics {
  /** Null until they are known. */
  readonly lines: ReadonlyMap<string, LineValues> | null;
  /** What they are computed from, and what is missing. */
  readonly note: string;
}

interface LegendProps {
  readonly kind: LegendKind;
  readonly entries: readonly LegendEntry[];
  readonly hidden: ReadonlySet<string>;
  readonly slots: ReadonlyMap<string, number>;
  readonly scheme: Scheme;
  readonly pointer: PointerStore;
  /** The unit of the axis, in which the values stand. */
  readonly scale: Scale;
  readonly statistics: LegendStatistics;
  readonly sort: LegendSort | null;
  readonly onToggle: (key: string, isAlone: boolean) => void;
  readonly onHighlight: (key: string | null) => void;
  readonly onKind: (kind: LegendKind) => void;
  readonly onSort: (sort: LegendSort | null) => void;
  /** The page of the process or command of an instance; null for other instances. */
  readonly linkTo: (instance: string) => ReactNode;
}

// Cards for hundreds of lines cost too much, and the panel's (i) explains the fields too.
const MAX_CARDS = 40;

/** The lines of a panel: with their values at the crosshair, or the newest ones without it, and as a table with their statistics. */
export const Legend = memo(function Legend(props: LegendProps) {
  const { kind, onKind } = props;
  const other: LegendKind = kind === "table" ? "compact" : "table";
  const Icon = kind === "table" ? IconList : IconTable;
  return (
    <div className="legend-frame">
      {kind === "table" ? <LegendTable {...props} /> : <CompactLegend {...props} />}
      <button
        type="button"
        className="legend-switch no-print"
        aria-label={kind === "table" ? "Legend without statistics" : "Legend with statistics"}
        title={kind === "table" ? "Show the last values only" : "Show min, avg, p95 and max of each line"}
        onClick={() => {
          onKind(other);
        }}
      >
        <Icon size={13} aria-hidden />
      </button>
    </div>
  );
});

function CompactLegend({ entries, hidden, slots, scheme, pointer, scale, onToggle, onHighlight, linkTo }: LegendProps) {
  const column = useMemo(() => legendColumn(entries, scale), [entries, scale]);
  return (
    <div
      className="legend"
      role="group"
      aria-label="Lines"
      style={{ gridTemplateColumns: `repeat(auto-fill, minmax(min(100%, ${String(column)}ch), 1fr))` }}
    >
      {entries.map((entry) => (
        <LegendButton
          key={entry.key}
          entry={entry}
          stroke={strokeOf(slots.get(entry.key) ?? 0, scheme)}
          isHidden={hidden.has(entry.key)}
          hasCard={entries.length <= MAX_CARDS}
          onToggle={onToggle}
          onHighlight={onHighlight}
          linkTo={linkTo}
        >
          <LegendValue entry={entry} pointer={pointer} scale={scale} />
        </LegendButton>
      ))}
    </div>
  );
}

function LegendTable(props: LegendProps) {
  const { entries, hidden, slots, scheme, pointer, scale, statistics, sort, onToggle, onHighlight, onSort, linkTo } = props;
  const { lines } = statistics;
  const ordered = useMemo(() => inOrder(entries, lines, sort), [entries, lines, sort]);
  return (
    <div className="legend-table" role="group" aria-label="Lines">
      <table aria-label="Lines and their statistics" aria-busy={lines === null}>
        <thead>
          <tr>
            <th scope="col" title={statistics.note}>
              <span className="legend-unit">{scale.unit === "" ? "number" : scale.unit}</span>
            </th>
            {STATISTICS.map((statistic) => (
              <SortHead
                key={statistic}
                statistic={statistic}
                note={statistics.note}
                sort={sort}
                pointer={pointer}
                onSort={onSort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {ordered.map((entry) => (
            <tr
              key={entry.key}
              data-hidden={hidden.has(entry.key)}
              onMouseEnter={() => {
                onHighlight(entry.key);
              }}
              onMouseLeave={() => {
                onHighlight(null);
              }}
            >
              <th scope="row">
                <LegendButton
                  entry={entry}
                  stroke={strokeOf(slots.get(entry.key) ?? 0, scheme)}
                  isHidden={hidden.has(entry.key)}
                  hasCard={entries.length <= MAX_CARDS}
                  onToggle={onToggle}
                  onHighlight={onHighlight}
                  linkTo={linkTo}
                />
              </th>
              <td>
                <LegendValue entry={entry} pointer={pointer} scale={scale} />
              </td>
              {STATISTICS.slice(1).map((statistic) => (
                <td key={statistic} title={exactText(entry, lines?.get(entry.key), statistic)}>
                  {lines === null
                    ? "…"
                    : formatStatistic(lines.get(entry.key)?.[statistic] ?? null, statistic, entry.field.decimals, scale)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Return a number as it was printed, or as it was computed, in the unit of the field. */
function exactText({ field }: LegendEntry, values: LineValues | undefined, statistic: Statistic): string {
  const value = values?.[statistic] ?? null;
  return value === null ? "" : `${formatWithUnit(value, field.decimals, field.unit)}, of ${counted(values?.n ?? 0, "sample")}`;
}

function inOrder(
  entries: readonly LegendEntry[],
  lines: ReadonlyMap<string, LineValues> | null,
  sort: LegendSort | null,
): readonly LegendEntry[] {
  if (sort === null) {
    return entries;
  }
  const valueOf = (entry: LegendEntry): number | null =>
    sort.by === "last" ? entry.newest : (lines?.get(entry.key)?.[sort.by] ?? null);
  const sign = sort.isDescending ? -1 : 1;
  return [...entries].sort((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)];
    // A line without a value comes last in either order.
    return one === null || other === null ? Number(one === null) - Number(other === null) : sign * (one - other);
  });
}

interface SortHeadProps {
  readonly statistic: Statistic;
  readonly note: string;
  readonly sort: LegendSort | null;
  readonly pointer: PointerStore;
  readonly onSort: (sort: LegendSort | null) => void;
}

/** A column's head: click for the highest first, then for the lowest, then for the order of the lines. */
function SortHead({ statistic, note, sort, pointer, onSort }: SortHeadProps) {
  const own = sort?.by === statistic ? sort : null;
  const Icon = own?.isDescending === false ? IconArrowUp : IconArrowDown;
  return (
    <th scope="col" aria-sort={own === null ? "none" : own.isDescending ? "descending" : "ascending"}>
      <button
        type="button"
        title={statistic === "last" ? "The newest sample, or the one at the crosshair" : note}
        onClick={() => {
          onSort(
            own === null
              ? { by: statistic, isDescending: true }
              : own.isDescending
                ? { by: statistic, isDescending: false }
                : null,
          );
        }}
      >
        {own !== null && <Icon size={11} aria-hidden />}
        {statistic === "last" ? <LastLabel pointer={pointer} /> : STATISTIC_LABELS[statistic]}
      </button>
    </th>
  );
}

function LastLabel({ pointer }: { readonly pointer: PointerStore }) {
  return <>{usePointer(pointer).hovered === null ? STATISTIC_LABELS.last : "here"}</>;
}

const DASHES: Readonly<Record<string, string | undefined>> = { dash: "5 3", dot: "2 2", dashdot: "6 2 2 2" };

interface LegendButtonProps {
  readonly entry: LegendEntry;
  readonly stroke: Stroke;
  readonly isHidden: boolean;
  readonly hasCard: boolean;
  readonly onToggle: (key: string, isAlone: boolean) => void;
  readonly onHighlight: (key: string | null) => void;
  readonly linkTo: (instance: string) => ReactNode;
  readonly children?: ReactNode;
}

/** A line's name: click shows or hides it, with Ctrl (or Shift) it shows only this line. */
function LegendButton({ entry, stroke, isHidden, hasCard, onToggle, onHighlight, linkTo, children }: LegendButtonProps) {
  const { key, name } = entry;
  const button = (
    <button
      type="button"
      className="legend-entry"
      data-hidden={isHidden}
      aria-pressed={!isHidden}
      onClick={(event: MouseEvent) => {
        onToggle(key, event.ctrlKey || event.metaKey || event.shiftKey);
      }}
      onMouseEnter={() => {
        onHighlight(key);
      }}
      onMouseLeave={() => {
        onHighlight(null);
      }}
      onFocus={() => {
        onHighlight(key);
      }}
      onBlur={() => {
        onHighlight(null);
      }}
    >
      <svg width="18" height="10" aria-hidden>
        <line x1="0" x2="18" y1="5" y2="5" stroke={stroke.color} strokeWidth="3" strokeDasharray={DASHES[stroke.dash]} />
      </svg>
      <span className="legend-name" title={name}>
        {name}
      </span>
      {children}
    </button>
  );
  return hasCard ? <LegendCard entry={entry} button={button} link={linkTo(entry.series.instance)} /> : button;
}

/** Return the value at the crosshair, or the newest one without it. */
function usePointedValue({ series, tolerance_ms, newest }: LegendEntry, pointer: PointerStore): number | null {
  const { hovered } = usePointer(pointer);
  return hovered === null ? newest : (sampleAt(series, hovered, tolerance_ms)?.value ?? null);
}

interface LegendValueProps {
  readonly entry: LegendEntry;
  readonly pointer: PointerStore;
  readonly scale: Scale;
}

/** Follows the pointer; the rest of a legend does not. */
function LegendValue({ entry, pointer, scale }: LegendValueProps) {
  const value = usePointedValue(entry, pointer);
  return <span className="legend-value">{formatStatistic(value, "last", entry.field.decimals, scale)}</span>;
}

interface LegendCardProps {
  readonly entry: LegendEntry;
  readonly button: ReactElement;
  readonly link: ReactNode;
}

/** Adds a card with the field's meaning and the line's extremes. */
function LegendCard({ entry, button, link }: LegendCardProps) {
  const { field, lowest, highest, last } = entry;
  return (
    <HoverCard width={340} openDelay={450} position="bottom-start" shadow="md" withinPortal>
      <HoverCard.Target>{button}</HoverCard.Target>
      <HoverCard.Dropdown>
        <FieldCard field={field} />
        <div className="legend-extremes">
          {`in this window: lowest ${formatValue(lowest, field.decimals)}, highest ${formatValue(highest, field.decimals)}, last ${formatValue(last, field.decimals)} ${field.unit}`}
        </div>
        {link}
      </HoverCard.Dropdown>
    </HoverCard>
  );
}
