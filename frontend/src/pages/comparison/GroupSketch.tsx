import { useMemo } from "react";
import type { Finding } from "../../logic/api";
import { buildSketch, HEIGHT, SIDE, WIDTH } from "../../logic/sketch";
import { describeDuration, toDurationMs, toEpochMs } from "../../logic/time";
import { formatClock, type Zone } from "../../logic/zone";
import type { Alignment } from "../../state/comparison";
import { counted } from "../../logic/counted";

interface GroupSketchProps {
  readonly finding: Pick<Finding, "baseline" | "incident" | "sparkline">;
  readonly unit: string;
  readonly align: Alignment;
  readonly zone: Zone;
  readonly label: string;
}

/** The incident over the band of the baseline, and the distribution of both sides; plain SVG, as fifty are drawn at once. */
export function GroupSketch({ finding, unit, align, zone, label }: GroupSketchProps) {
  const sketch = useMemo(() => buildSketch(finding, unit), [finding, unit]);
  const { sparkline } = finding;
  const times =
    sparkline === null
      ? null
      : align === "clock"
        ? [formatClock(zone, toEpochMs(sparkline.start_ms)), formatClock(zone, toEpochMs(sparkline.end_ms))]
        : ["0", describeDuration(toDurationMs(sparkline.end_ms - sparkline.start_ms))];
  return (
    <figure className="sketch">
      <div className="sketch-axis soft" aria-hidden>
        <span className="sketch-unit">{sketch.axisUnit === "" ? "number" : sketch.axisUnit}</span>
        {sketch.ticks.map(({ y, label: tick }) => (
          <span key={y} className="sketch-tick" style={{ top: `${String(y)}%` }}>
            {tick}
          </span>
        ))}
      </div>
      <svg
        className="sketch-line"
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: incident over the baseline's band`}
      >
        {sketch.ticks.map(({ y }) => (
          <line key={y} className="sketch-grid" x1="0" x2={WIDTH} y1={y} y2={y} />
        ))}
        {sketch.band && (
          <rect className="sketch-band" x="0" width={WIDTH} y={sketch.band.top} height={sketch.band.bottom - sketch.band.top} />
        )}
        {sketch.median !== null && <line className="sketch-median" x1="0" x2={WIDTH} y1={sketch.median} y2={sketch.median} />}
        {align === "elapsed" && sketch.baseline !== "" && <path className="sketch-baseline" d={sketch.baseline} />}
        <path className="sketch-incident" d={sketch.incident} />
      </svg>
      <svg
        className="sketch-values"
        viewBox={`0 0 ${String(2 * SIDE)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`How often each value occurs: ${counted(finding.baseline.n, "sample")} of the baseline at the left, ${counted(finding.incident.n, "sample")} of the incident at the right`}
      >
        {sketch.ticks.map(({ y }) => (
          <line key={y} className="sketch-grid" x1="0" x2={2 * SIDE} y1={y} y2={y} />
        ))}
        <path className="sketch-before" d={sketch.distribution.baseline} />
        <path className="sketch-during" d={sketch.distribution.incident} />
        <line className="sketch-grid" x1={SIDE} x2={SIDE} y1="0" y2={HEIGHT} />
      </svg>
      <div className="sketch-times soft">
        <span aria-hidden>{times === null ? "not drawn over time" : times[0]}</span>
        {sketch.note !== "" && <span>{sketch.note}</span>}
        {times !== null && <span aria-hidden>{times[1]}</span>}
      </div>
      <div className="sketch-sides" aria-hidden>
        <span className="side-name" data-kind="baseline">
          baseline
        </span>
        <span className="side-name" data-kind="incident">
          incident
        </span>
      </div>
    </figure>
  );
}
