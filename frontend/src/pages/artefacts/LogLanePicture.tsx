import { Group, Text, useComputedColorScheme } from "@mantine/core";
import { useRef } from "react";
import type { Blocking, LogLanes } from "../../logic/api";
import { strokeOf } from "../../logic/palette";
import {
  eventPath,
  formatSpan,
  LABEL_PX,
  LANE_PX,
  lanePixels,
  moveWindow,
  offsetIn,
  printLogTime,
  spanBoxes,
  spanTicks,
  zoomWindow,
} from "../../logic/trace_log";
import { useElementSize } from "@mantine/hooks";

const KINDS = { wait: "waits", hold: "holds a lock", run: "runs" };

const traceLogSpanTitle = (kind: string, label: string, length: string, count: number, isOpen: boolean) =>
  `${kind}${label === "" ? "" : ` (${label})`}: ${count > 1 ? `${String(count)} within ${length}` : `${isOpen ? "at most " : ""}${length}`}`;

interface LogLanePictureProps {
  readonly lanes: LogLanes;
  readonly blockings: readonly Blocking[];
  readonly onWindow: (window: { start: string; end: string }) => void;
  /** Returns whether the key means something. */
  readonly onKey: (key: string) => boolean;
}

const AXIS_PX = 20;

/** A line for each CPU or thread: spans of waiting and holding, and strokes for events. Drag moves it, a double click zooms. */
export function LogLanePicture({ lanes, blockings, onWindow, onKey }: LogLanePictureProps) {
  const scheme = useComputedColorScheme("light");
  const { ref, width } = useElementSize();
  const from = useRef<number | null>(null);
  const inner = lanePixels(width);
  const height = AXIS_PX + lanes.lanes.length * LANE_PX;
  const scale = inner / lanes.width_ns;
  const rowOf = (thread: Blocking["waiter"]) =>
    lanes.lanes.findIndex(({ pid, cpu, command }) =>
      lanes.by === "cpu" ? cpu === thread.cpu : command === thread.command && (lanes.by === "command" || pid === thread.pid),
    );
  return (
    <div ref={ref}>
      <Group gap="sm" mb={4} fz="xs">
        {(["wait", "hold", "run"] as const).map((kind) => (
          <span key={kind} className="log-key">
            <span className={`log-swatch log-${kind}`} /> {KINDS[kind]}
          </span>
        ))}
        {lanes.names.map((name, at) => (
          <span key={name} className="log-key">
            <span className="log-swatch" style={{ background: strokeOf(at, scheme).color }} /> {name}
          </span>
        ))}
      </Group>
      <div
        className="log-lanes"
        role="region"
        aria-label="Lanes of the log: plus and minus zoom, arrow keys move"
        tabIndex={0}
        onKeyDown={(event) => {
          if (onKey(event.key)) {
            event.preventDefault();
          }
        }}
      >
        <svg
          width={inner + LABEL_PX}
          height={height}
          aria-hidden
          onPointerDown={(event) => {
            from.current = event.clientX;
          }}
          onPointerUp={(event) => {
            const moved = from.current === null ? 0 : event.clientX - from.current;
            from.current = null;
            if (moved > 4 || moved < -4) {
              onWindow(moveWindow(lanes.start, lanes.width_ns, -moved / inner));
            }
          }}
          onDoubleClick={(event) => {
            const place = (event.nativeEvent.offsetX - LABEL_PX) / inner;
            onWindow(zoomWindow(lanes.start, lanes.width_ns, 0.25, place < 0 ? 0 : place));
          }}
        >
          <g transform={`translate(${String(LABEL_PX)} 0)`}>
            {spanTicks(lanes.width_ns, inner / 110).map((tick) => (
              <g key={tick} transform={`translate(${String(tick * scale)} 0)`}>
                <line y1={AXIS_PX - 5} y2={height} className="log-grid" />
                <text y={11} x={3} className="log-tick">
                  {tick === 0 ? printLogTime(lanes.start, lanes.clock, lanes.decimals) : `+${formatSpan(tick)}`}
                </text>
              </g>
            ))}
          </g>
          {lanes.lanes.map((lane, row) => (
            <g key={lane.label} transform={`translate(0 ${String(AXIS_PX + row * LANE_PX)})`}>
              <text x={LABEL_PX - 8} y={15} textAnchor="end" className="log-label">
                {lane.label.length > 24 ? `${lane.label.slice(0, 23)}…` : lane.label}
              </text>
              <g transform={`translate(${String(LABEL_PX)} 0)`}>
                <line x2={inner} y1={LANE_PX - 0.5} y2={LANE_PX - 0.5} className="log-grid" />
                {spanBoxes(lane, lanes.width_ns, inner).map((box, at) => (
                  <rect
                    key={at}
                    x={box.x}
                    y={2}
                    width={box.width}
                    height={10}
                    className={`log-box log-${box.kind}${box.isOpen ? " log-open" : ""}`}
                  >
                    <title>
                      {traceLogSpanTitle(
                        KINDS[box.kind as "wait" | "hold" | "run"],
                        box.label,
                        formatSpan(box.lengthNs),
                        box.count,
                        box.isOpen,
                      )}
                    </title>
                  </rect>
                ))}
                {lanes.names.map((name, at) => (
                  <path key={name} d={eventPath(lane, at, lanes.width_ns, inner)} stroke={strokeOf(at, scheme).color} />
                ))}
              </g>
            </g>
          ))}
          <g transform={`translate(${String(LABEL_PX)} ${String(AXIS_PX)})`}>
            {blockings.slice(0, 20).map((row) => {
              const [to, by] = [rowOf(row.waiter), rowOf(row.holder)];
              const [start, end, released] = [row.wait_start, row.wait_end, row.released].map(
                (at) => offsetIn(lanes.start, at) * scale,
              ) as [number, number, number];
              if (to < 0 || by < 0 || released < 0 || end > inner + 1) {
                return null;
              }
              return (
                <g key={`${row.wait_end} ${row.sentence}`} className="log-blocked">
                  {row.wait_is_limit && (
                    <rect
                      x={start < 0 ? 0 : start}
                      width={end - (start < 0 ? 0 : start)}
                      y={to * LANE_PX + 2}
                      height={10}
                      className="log-box log-wait log-open"
                    >
                      <title>{row.sentence}</title>
                    </rect>
                  )}
                  <path d={`M${String(released)} ${String(by * LANE_PX + 7)}L${String(end)} ${String(to * LANE_PX + 7)}`}>
                    <title>{row.sentence}</title>
                  </path>
                  <circle cx={end} cy={to * LANE_PX + 7} r={2.5} />
                </g>
              );
            })}
          </g>
        </svg>
      </div>
      <Text fz="xs" className="soft">
        Drag to move, double-click or + and − to zoom, arrow keys to move. The tables below have the same as text.
      </Text>
    </div>
  );
}
