import { formatValue, formatWithUnit } from "../../logic/number";
import { bandAt, describeDistance, type DrawnAxis, nearestLine } from "../../logic/nearest";
import { type Scheme, strokeOf } from "../../logic/palette";
import type { LegendEntry } from "../../logic/series";
import { PANEL_MARGINS, pixelOfTime, plotHeight, tipPlace } from "../../logic/surface";
import { type Window, toEpochMs } from "../../logic/time";
import type { DrawnBand, Figure } from "../../plot/figure";
import { type PointerStore, usePointer } from "../../state/pointer";

interface NearestTipProps {
  readonly panel: string;
  readonly entries: readonly LegendEntry[];
  readonly hidden: ReadonlySet<string>;
  readonly slots: ReadonlyMap<string, number>;
  readonly scheme: Scheme;
  readonly figure: Figure;
  readonly isStacked: boolean;
  readonly bands: readonly DrawnBand[];
  readonly width: number;
  readonly height: number;
  readonly shown: Window;
  readonly pointer: PointerStore;
}

/** The line nearest to the pointer: its sample, and its distance from the band where a band is drawn. */
export function NearestTip(props: NearestTipProps) {
  const { panel, entries, hidden, slots, scheme, figure, isStacked, bands, width, height, shown, pointer } = props;
  const { hovered, dragged, point } = usePointer(pointer);
  if (hovered === null || dragged !== null || point?.panel !== panel) {
    return null;
  }
  const axis = axisOf(figure, height);
  const visible = entries.filter(({ key }) => !hidden.has(key));
  const nearest = axis === null ? null : nearestLine(visible, hovered, point.y, axis, isStacked);
  const x = nearest === null ? null : pixelOfTime(toEpochMs(nearest.time), width, PANEL_MARGINS, shown);
  if (nearest === null || x === null) {
    return null;
  }
  const { entry, value, time, y } = nearest;
  const { field } = entry;
  const band = bands.find(({ key }) => key === entry.key);
  const normal = band === undefined ? null : bandAt(band.pieces, time);
  const { color } = strokeOf(slots.get(entry.key) ?? 0, scheme);
  return (
    <>
      <div className="nearest-dot" style={{ left: x, top: y, borderColor: color }} aria-hidden />
      <div className="nearest-tip" style={tipPlace(x, y, width, height)} aria-hidden>
        <b>{formatWithUnit(value, field.decimals, field.unit)}</b> {entry.name}
        {normal !== null && (
          <div>
            {`${describeDistance(value, normal, field.decimals, field.unit)} (p5 ${formatValue(normal.low, field.decimals)} to p95 ${formatValue(normal.high, field.decimals)})`}
          </div>
        )}
      </div>
    </>
  );
}

function axisOf({ layout }: Figure, height: number): DrawnAxis | null {
  const [low, high] = (layout.yaxis?.range ?? []) as readonly unknown[];
  return typeof low === "number" && typeof high === "number" && high > low
    ? { low, high, isLog: layout.yaxis?.type === "log", top: PANEL_MARGINS.top, height: plotHeight(height, PANEL_MARGINS) }
    : null;
}
