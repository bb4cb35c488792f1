import { COLOUR_LABELS, describeBetween, type Segment, STRIP, toBars } from "../../logic/watch";
import type { Window } from "../../logic/time";
import { formatInstant, type Zone } from "../../logic/zone";
import "../../components/ColourBadge.css";
import "./watch.css";

interface StateStripProps {
  readonly window: Window;
  readonly zone: Zone;
  readonly segments: readonly Segment[];
  readonly label: string;
}

/** States over time: fine ones as a thin line, bad ones as bars; where nothing is known, nothing is drawn. */
export function StateStrip({ window, zone, segments, label }: StateStripProps) {
  return (
    <svg
      className="state-strip"
      viewBox={`0 0 ${String(STRIP.width)} ${String(STRIP.height)}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {toBars(segments, window).map(({ segment: { start, end, colour }, ...box }) => (
        <rect key={`${String(start)} ${String(box.x)} ${colour}`} data-colour={colour} {...box}>
          <title>{`${COLOUR_LABELS[colour]} from ${formatInstant(zone, start)}, for ${describeBetween(start, end)}`}</title>
        </rect>
      ))}
    </svg>
  );
}
