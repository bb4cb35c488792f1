import { Tooltip } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { coverageQuery } from "../../api/queries";
import { TimeSurface } from "../../components/TimeSurface";
import { useOneStop } from "../../components/useOneStop";
import { coverageWindow, coveredWindows, describeCoverage } from "../../logic/coverage";
import { bandShare, type Margins, percent, pixelOfTime, requestWidth } from "../../logic/surface";
import { labelledTicks } from "../../logic/ticks";
import { fromApi, lengthOf, MINUTE, wholeSecond } from "../../logic/time";
import { formatClock, formatInstant } from "../../logic/zone";
import { usePointer } from "../../state/pointer";
import type { Clock } from "../../state/url";
import { EventFlags } from "./Events";
import { EVENTS_ID, type GraphContext } from "./graph";
import { LimitLane } from "./LimitLane";
import { UnusualLane, UnusualNote } from "./UnusualLane";
import "./TimeStrip.css";

const HEIGHT = 40;
const MARGINS: Margins = { left: 0, right: 0, top: 0, bottom: 14 };
const PIXELS_PER_TICK = 110;
// From this length on, a pixel stands for so much time that milliseconds mean nothing.
const LONG_WINDOW = MINUTE;

interface TimeStripProps {
  readonly graph: GraphContext;
  readonly clock: Clock;
  /** The list of the window's events, behind their count. */
  readonly events: ReactNode;
}

/**
 * The window as a timeline with fixed lanes: events, unusual times, what rules found, and samples. It can be dragged on like a
 * graph, and has the same height whatever it shows.
 */
export function TimeStrip({ graph, clock, events }: TimeStripProps) {
  const frame = useRef<HTMLDivElement>(null);
  useOneStop(frame);
  const { ref, width } = useElementSize();
  const { window: drawn, zone } = graph;
  const coverage = useQuery({ ...coverageQuery(graph.host, coverageWindow(drawn), requestWidth(width)), enabled: width > 0 });
  const text = coverage.data ? describeCoverage(coverage.data, drawn) : null;
  return (
    <div className="strip" ref={frame}>
      <div ref={ref} className="strip-body">
        {width > 0 && (
          <TimeSurface
            width={width}
            height={HEIGHT}
            margins={MARGINS}
            window={drawn}
            tool={graph.tool}
            pointer={graph.pointer}
            bands={graph.bands}
            events={graph.events}
            zone={zone}
            eventsId={graph.events.length === 0 ? undefined : EVENTS_ID}
            label="Window: samples, baselines, selection and events"
            onZoom={graph.onZoom}
            onMark={(window) => {
              graph.onMark(window, null);
            }}
            onZoomOut={graph.onZoomOut}
          >
            <div className="strip-covered">
              {coverage.data &&
                coveredWindows(coverage.data).map((window) => {
                  const share = bandShare(window, drawn);
                  return (
                    share && (
                      <div
                        key={window.start}
                        className="strip-piece"
                        style={{ left: percent(share.left), width: percent(share.width) }}
                      />
                    )
                  );
                })}
              {coverage.data?.gaps.map((gap) => {
                const x = pixelOfTime(fromApi(gap.reported_at), width, MARGINS, drawn);
                return x !== null && <div key={`${gap.key} ${gap.reported_at}`} className="strip-gap" style={{ left: x }} />;
              })}
            </div>
            {labelledTicks(drawn, zone, PIXELS_PER_TICK, width, MARGINS).map(({ at, label }) => (
              <span key={at} className="strip-tick" style={{ left: pixelOfTime(at, width, MARGINS, drawn) ?? 0 }}>
                {label}
              </span>
            ))}
            <UnusualLane graph={graph} />
            <LimitLane graph={graph} clock={clock} />
            <CrossLabel graph={graph} width={width} />
            <EventFlags graph={graph} width={width} margins={MARGINS} />
          </TimeSurface>
        )}
      </div>
      <div className="strip-notes soft">
        <div className="strip-note" data-state={text?.state} role="status">
          {coverage.error ? (
            `coverage: ${coverage.error.message}`
          ) : (
            <Tooltip label="Dark: this host has samples">
              <span>{text?.text ?? " "}</span>
            </Tooltip>
          )}
        </div>
        <div className="strip-note">{events}</div>
        <div className="strip-note">
          <UnusualNote graph={graph} />
        </div>
      </div>
    </div>
  );
}

/** The time at the crosshair as text. */
function CrossLabel({ graph, width }: { readonly graph: GraphContext; readonly width: number }) {
  const { hovered, dragged } = usePointer(graph.pointer);
  const x = hovered === null ? null : pixelOfTime(hovered, width, MARGINS, graph.window);
  if (x === null || hovered === null) {
    return null;
  }
  const text =
    dragged === null
      ? formatInstant(graph.zone, lengthOf(graph.window) > LONG_WINDOW ? wholeSecond(hovered) : hovered)
      : `${formatClock(graph.zone, dragged.window.start)} – ${formatClock(graph.zone, dragged.window.end)}`;
  return (
    <span className="strip-cross" data-side={x > width / 2 ? "left" : "right"} style={{ left: x }}>
      {text}
    </span>
  );
}
