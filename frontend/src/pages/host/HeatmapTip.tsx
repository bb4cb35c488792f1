import { formatWithUnit } from "../../logic/number";
import { HEATMAP_MARGINS, pixelOfTime, shareAtPixel, tipPlace } from "../../logic/surface";
import { toEpochMs, type Window } from "../../logic/time";
import { formatClock, type Zone } from "../../logic/zone";
import { cellAt, type HeatmapCells } from "../../plot/heatmap";
import { type PointerStore, usePointer } from "../../state/pointer";

interface HeatmapTipProps {
  readonly panel: string;
  readonly cells: HeatmapCells;
  /** Which sample of a cell is shown. */
  readonly pick: "highest" | "lowest" | "mean";
  readonly decimals: number;
  readonly unit: string;
  readonly width: number;
  readonly height: number;
  readonly shown: Window;
  readonly zone: Zone;
  readonly pointer: PointerStore;
}

/** The cell under the pointer: its row, its time and its value. */
export function HeatmapTip({ panel, cells, pick, decimals, unit, width, height, shown, zone, pointer }: HeatmapTipProps) {
  const { hovered, dragged, point } = usePointer(pointer);
  if (hovered === null || dragged !== null || point?.panel !== panel) {
    return null;
  }
  const cell = cellAt(cells, hovered, shareAtPixel(point.y, height, HEATMAP_MARGINS));
  const x = pixelOfTime(hovered, width, HEATMAP_MARGINS, shown);
  if (cell === null || x === null) {
    return null;
  }
  return (
    <div className="nearest-tip" style={tipPlace(x, point.y, width, height)} aria-hidden>
      <b>{formatWithUnit(cell.value, decimals, unit)}</b> {cell.label}
      <div>{`${pick} from ${formatClock(zone, toEpochMs(cell.start))} to ${formatClock(zone, toEpochMs(cell.end))}`}</div>
    </div>
  );
}
