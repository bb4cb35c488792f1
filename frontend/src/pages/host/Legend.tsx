import { HoverCard } from "@mantine/core";
import { memo, type MouseEvent, type ReactElement, type ReactNode, useMemo } from "react";
import { FieldCard } from "../../components/FieldHelp";
import { formatValue, formatWithUnit } from "../../logic/number";
import { type Scheme, strokeOf } from "../../logic/palette";
import { legendColumn, type LegendEntry, sampleAt } from "../../logic/series";
import { type PointerStore, usePointer } from "../../state/pointer";

interface LegendProps {
  readonly entries: readonly LegendEntry[];
  readonly hidden: ReadonlySet<string>;
  readonly slots: ReadonlyMap<string, number>;
  readonly scheme: Scheme;
  readonly pointer: PointerStore;
  /** The unit after each value; empty if the axis shows it. */
  readonly unit: string;
  readonly onToggle: (key: string, isAlone: boolean) => void;
  /** The page of the process or command of an instance; null for other instances. */
  readonly linkTo: (instance: string) => ReactNode;
}

// Cards for hundreds of lines cost too much, and the panel's (i) explains the fields too.
const MAX_CARDS = 40;

/** The lines of a panel with their values at the crosshair, or the newest values without one. */
export const Legend = memo(function Legend({ entries, hidden, slots, scheme, pointer, unit, onToggle, linkTo }: LegendProps) {
  const column = useMemo(() => legendColumn(entries, unit), [entries, unit]);
  return (
    <div
      className="legend"
      role="group"
      aria-label="Lines"
      style={{ gridTemplateColumns: `repeat(auto-fill, minmax(min(100%, ${String(column)}ch), 1fr))` }}
    >
      {entries.map((entry) => {
        const { key, name } = entry;
        const stroke = strokeOf(slots.get(key) ?? 0, scheme);
        const button = (
          <button
            key={key}
            type="button"
            className="legend-entry"
            data-hidden={hidden.has(key)}
            aria-pressed={!hidden.has(key)}
            onClick={(event: MouseEvent) => {
              onToggle(key, event.shiftKey);
            }}
          >
            <svg width="18" height="10" aria-hidden>
              <line x1="0" x2="18" y1="5" y2="5" stroke={stroke.color} strokeWidth="3" strokeDasharray={DASHES[stroke.dash]} />
            </svg>
            <span className="legend-name" title={name}>
              {name}
            </span>
            <LegendValue entry={entry} pointer={pointer} unit={unit} />
          </button>
        );
        return entries.length > MAX_CARDS ? (
          button
        ) : (
          <LegendCard key={key} entry={entry} button={button} link={linkTo(entry.series.instance)} />
        );
      })}
    </div>
  );
});

const DASHES: Readonly<Record<string, string | undefined>> = { dash: "5 3", dot: "2 2", dashdot: "6 2 2 2" };

interface LegendValueProps {
  readonly entry: LegendEntry;
  readonly pointer: PointerStore;
  readonly unit: string;
}

/** The only part of a legend that follows the pointer. */
function LegendValue({ entry, pointer, unit }: LegendValueProps) {
  const { hovered } = usePointer(pointer);
  const { series, field, tolerance_ms, newest } = entry;
  const value = hovered === null ? newest : (sampleAt(series, hovered, tolerance_ms)?.value ?? null);
  return <span className="legend-value">{formatWithUnit(value, field.decimals, unit)}</span>;
}

/** Adds a card with the field's meaning and the line's extremes. */
interface LegendCardProps {
  readonly entry: LegendEntry;
  readonly button: ReactElement;
  readonly link: ReactNode;
}

function LegendCard({ entry, button, link }: LegendCardProps) {
  const { field, lowest, highest, last } = entry;
  return (
    <HoverCard width={340} openDelay={450} position="bottom-start" shadow="md" withinPortal>
      <HoverCard.Target>{button}</HoverCard.Target>
      <HoverCard.Dropdown>
        <FieldCard field={field} />
        <div className="legend-extremes">
          in this window: lowest {formatValue(lowest, field.decimals)}, highest {formatValue(highest, field.decimals)}, last{" "}
          {formatValue(last, field.decimals)} {field.unit}
        </div>
        {link}
      </HoverCard.Dropdown>
    </HoverCard>
  );
}
