import { HoverCard } from "@mantine/core";
import type { MouseEvent } from "react";
import { FieldCard } from "../../components/FieldHelp";
import { formatValue } from "../../logic/number";
import { type Scheme, strokeOf } from "../../logic/palette";
import { type LegendEntry, sampleAt } from "../../logic/series";
import { type PointerStore, usePointer } from "../../state/pointer";

interface LegendProps {
  readonly entries: readonly LegendEntry[];
  readonly hidden: ReadonlySet<number>;
  readonly scheme: Scheme;
  readonly pointer: PointerStore;
  readonly onToggle: (index: number, isAlone: boolean) => void;
}

/** The lines of a panel with their values under the crosshair; without one, the newest. */
export function Legend({ entries, hidden, scheme, pointer, onToggle }: LegendProps) {
  const { hovered } = usePointer(pointer);
  return (
    <div className="legend" role="list" aria-label="Lines">
      {entries.map((entry) => {
        const { index, name, field, series } = entry;
        const value = hovered === null ? entry.last : (sampleAt(series, hovered, entry.tolerance_ms)?.value ?? null);
        const stroke = strokeOf(index, scheme);
        return (
          <HoverCard key={index} width={340} openDelay={450} position="bottom-start" shadow="md" withinPortal>
            <HoverCard.Target>
              <button
                type="button"
                role="listitem"
                className="legend-entry"
                data-hidden={hidden.has(index)}
                aria-pressed={!hidden.has(index)}
                onClick={(event: MouseEvent) => {
                  onToggle(index, event.shiftKey);
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
                <span className="legend-value">{formatValue(value, field.decimals)}</span>
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
