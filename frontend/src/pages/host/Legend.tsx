import { HoverCard } from "@mantine/core";
import { type MouseEvent, useMemo } from "react";
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
  /** Stands behind each value; empty where the axis says it. */
  readonly unit: string;
  readonly onToggle: (key: string, isAlone: boolean) => void;
}

/** The lines of a panel with their values under the crosshair; without one, the newest. */
export function Legend({ entries, hidden, slots, scheme, pointer, unit, onToggle }: LegendProps) {
  const { hovered } = usePointer(pointer);
  const column = useMemo(() => legendColumn(entries, unit), [entries, unit]);
  return (
    <div
      className="legend"
      role="group"
      aria-label="Lines"
      style={{ gridTemplateColumns: `repeat(auto-fill, minmax(min(100%, ${String(column)}ch), 1fr))` }}
    >
      {entries.map((entry) => {
        const { key, name, field, series } = entry;
        const value = hovered === null ? entry.last : (sampleAt(series, hovered, entry.tolerance_ms)?.value ?? null);
        const stroke = strokeOf(slots.get(key) ?? 0, scheme);
        return (
          <HoverCard key={key} width={340} openDelay={450} position="bottom-start" shadow="md" withinPortal>
            <HoverCard.Target>
              <button
                type="button"
                className="legend-entry"
                data-hidden={hidden.has(key)}
                aria-pressed={!hidden.has(key)}
                onClick={(event: MouseEvent) => {
                  onToggle(key, event.shiftKey);
                }}
              >
                <svg width="18" height="10" aria-hidden>
                  <line
                    x1="0"
                    x2="18"
                    y1="5"
                    y2="5"
                    stroke={stroke.color}
                    strokeWidth="3"
                    strokeDasharray={DASHES[stroke.dash]}
                  />
                </svg>
                <span className="legend-name">{name}</span>
                <span className="legend-value">{formatWithUnit(value, field.decimals, unit)}</span>
              </button>
            </HoverCard.Target>
            <HoverCard.Dropdown>
              <FieldCard field={field} />
              <div className="legend-extremes">
                in this window: lowest {formatValue(entry.lowest, field.decimals)}, highest{" "}
                {formatValue(entry.highest, field.decimals)}, last {formatValue(entry.last, field.decimals)} {field.unit}
              </div>
            </HoverCard.Dropdown>
          </HoverCard>
        );
      })}
    </div>
  );
}

const DASHES: Readonly<Record<string, string | undefined>> = { dash: "5 3", dot: "2 2", dashdot: "6 2 2 2" };
