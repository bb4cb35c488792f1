import { type Margins, pixelOfTime } from "../../logic/surface";
import { labelledTicks } from "../../logic/ticks";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import "./MovedTicks.css";

const PIXELS_PER_TICK = 88;

interface MovedTicksProps {
  /** The window that is shown now. */
  readonly shown: Window;
  readonly zone: Zone;
  readonly width: number;
  readonly margins: Margins;
}

/** Time labels for a graph that was moved or stretched, until it is redrawn: they stand right after its Plot, which says when it is moved. */
export function MovedTicks({ shown, zone, width, margins }: MovedTicksProps) {
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
