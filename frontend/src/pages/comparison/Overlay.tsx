import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { seriesQuery } from "../../api/queries";
import { StateView } from "../../components/StateView";
import type { FieldInfo, Finding } from "../../logic/api";
import type { Scheme } from "../../logic/palette";
import { type Margins, plotWidth, requestWidth } from "../../logic/surface";
import type { Window } from "../../logic/time";
import { buildOverlayFigure } from "../../plot/figure";
import { Plot } from "../../plot/Plot";

const HEIGHT = 156;
const MARGINS: Margins = { left: 54, right: 8, top: 18, bottom: 20 };

interface OverlayProps {
  readonly host: string;
  readonly finding: Finding;
  readonly field: FieldInfo | null;
  readonly incident: Window;
  readonly baselineWindow: Window | null;
  readonly scheme: Scheme;
  readonly width: number;
  readonly label: string;
}

/** The incident over a piece of the baseline that is as long, both from their own beginnings. */
export function Overlay({ host, finding, field, incident, baselineWindow, scheme, width, label }: OverlayProps) {
  const query = {
    host,
    stat: finding.stat,
    fields: [finding.field],
    choice: finding.instance === "" ? ({ kind: "one" } as const) : ({ kind: "only", names: [finding.instance] } as const),
    width: requestWidth(plotWidth(width, MARGINS)),
  };
  const during = useQuery(seriesQuery({ ...query, window: incident }));
  const before = useQuery({ ...seriesQuery({ ...query, window: baselineWindow ?? incident }), enabled: baselineWindow !== null });
  const figure = useMemo(
    () =>
      during.data === undefined
        ? null
        : buildOverlayFigure({
            incident: during.data,
            baseline: before.data ?? null,
            incidentWindow: incident,
            baselineWindow: baselineWindow ?? incident,
            baselineSummary: finding.baseline,
            unit: finding.unit,
            isPercent: finding.unit === "%",
            isLevel: field?.kind === "gauge" || field?.kind === "counter",
            scheme,
            margins: MARGINS,
            width,
            height: HEIGHT,
          }),
    [during.data, before.data, incident, baselineWindow, finding, field, scheme, width],
  );
  if (figure === null) {
    return (
      <StateView
        isCompact
        state={during.error ? { kind: "error", error: during.error, onRetry: () => void during.refetch() } : { kind: "loading" }}
      />
    );
  }
  return (
    <figure className="overlay">
      <figcaption>
        <span className="soft">{figure.axisUnit === "" ? "number" : figure.axisUnit}</span>
        <span className="overlay-key" data-kind="incident">
          <svg width="22" height="8" aria-hidden>
            <line x1="0" x2="22" y1="4" y2="4" />
          </svg>
          incident
        </span>
        <span className="overlay-key" data-kind="baseline">
          <svg width="22" height="8" aria-hidden>
            <line x1="0" x2="22" y1="4" y2="4" />
          </svg>
          baseline: samples, median, p5–p95
        </span>
      </figcaption>
      <Plot figure={figure} label={`${label}: incident over baseline by elapsed time`} />
      {before.error && <span className="overlay-note">baseline: {before.error.message}</span>}
    </figure>
  );
}
