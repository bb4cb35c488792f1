import { type Margins, pixelOfTime } from "../../logic/surface";
import { labelledTicks } from "../../logic/ticks";
import { isSameWindow, type Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import "./MovedTicks.css";

const PIXELS_PER_TICK = 88;

interface MovedTicksProps {
  /** The window that the figure was drawn for. */
  readonly drawn: Window;
  /** The window that is shown now. */
  readonly shown: Window;
  readonly zone: Zone;
  readonly width: number;
  readonly margins: Margins;
}

/** Time labels for a graph that was moved or stretched, until it is redrawn. */
export function MovedTicks({ drawn, shown, zone, width, margins }: MovedTicksProps) {
  if (isSameWindow(drawn, shown)) {
    return null;
  }
  return (
    <div className="moved-ticks" style={{ height: margins.bottom }} aria-hidden>
      {labelledTicks(shown, zone, PIXELS_PER_TICK, width, margins).map(({ at, label }) => (
        <span key={at} style={{ left: pixelOfTime(at, width, margins, shown) ?? 0 }}>
          {label}
        </span>
      ))}
    </div>
  );
}
