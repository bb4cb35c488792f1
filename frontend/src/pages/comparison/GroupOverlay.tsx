import { useMemo } from "react";
import type { Finding } from "../../logic/api";
import { counted } from "../../logic/counted";
import { buildOverlay, HEIGHT, WIDTH } from "../../logic/sketch";

interface GroupOverlayProps {
  readonly finding: Pick<Finding, "baseline" | "incident" | "sparkline">;
  readonly unit: string;
  readonly label: string;
}

/** How often each value occurs in the baseline and in the incident, one over the other. */
export function GroupOverlay({ finding, unit, label }: GroupOverlayProps) {
  const overlay = useMemo(() => buildOverlay(finding, unit), [finding, unit]);
  const { baseline, incident } = finding;
  return (
    <figure className="overlay">
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: how often each value occurs; ${counted(baseline.n, "sample")} of the baseline, ${counted(incident.n, "sample")} of the incident`}
      >
        <path className="sketch-before" d={overlay.baseline} />
        <path className="sketch-during" d={overlay.incident} />
      </svg>
      <div className="overlay-axis soft" aria-hidden>
        <span>{overlay.low}</span>
        <span>{overlay.high}</span>
      </div>
    </figure>
  );
}
