import { Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { scoresQuery } from "../../api/scores";
import {
  countJudged,
  describeScoreNormal,
  type ScoreRow,
  scoreRows,
  scoresWindow,
  spellOf,
  topRun,
  type UnusualRun,
} from "../../logic/scores";
import { bandShare, percent } from "../../logic/surface";
import { formatClock } from "../../logic/zone";
import { counted } from "../../logic/counted";
import { type GraphContext, noDrag } from "./graph";

const scoreRowsSubsystem = (name: string) =>
  ({ cpu: "CPU", disk: "Disk", memory: "Memory", network: "Network", locks: "Locks", filesystem: "File systems", nfs: "NFS" })[
    name
  ] ?? "Other";

/** The lane of the timeline with the times in which the host was unusual; the strongest is on top. A click selects the time. */
export function UnusualLane({ graph }: { readonly graph: GraphContext }) {
  const { data } = useQuery(scoresQuery(graph.host, scoresWindow(graph.window)));
  const runs = useMemo(
    () =>
      (data === undefined ? [] : scoreRows(data))
        .flatMap((row) => row.runs.map((run) => ({ row, run })))
        .sort((one, other) => one.run.score - other.run.score),
    [data],
  );
  return (
    <div className="lane lane-unusual" role="group" aria-label="Times in which the host was unusual">
      {runs.map(({ row, run }) => {
        const share = bandShare(run.window, graph.window);
        const text = describeRun(row, run, graph);
        return (
          share && (
            <Tooltip key={`${row.subsystem} ${String(run.window.start)}`} label={text} multiline maw={420}>
              <button
                type="button"
                className="lane-run unusual-run"
                data-level={run.level}
                style={{ left: percent(share.left), width: percent(share.width) }}
                aria-label={`Select ${text}`}
                onPointerDown={noDrag}
                onDoubleClick={noDrag}
                onClick={() => {
                  graph.onMark(spellOf(row, run), null);
                }}
              />
            </Tooltip>
          )
        );
      })}
    </div>
  );
}

/** What the lane of unusual times says in words: that nothing was, or why it cannot say. */
export function UnusualNote({ graph }: { readonly graph: GraphContext }) {
  const { data } = useQuery(scoresQuery(graph.host, scoresWindow(graph.window)));
  if (data === undefined) {
    return null;
  }
  const [top] = scoreRows(data);
  const run = top && topRun(top);
  const nJudged = countJudged(data);
  const text = run
    ? describeRun(top, run, graph)
    : nJudged === null
      ? ""
      : `Nothing unusual (${counted(nJudged, "metric")} checked each minute)`;
  const note = [text, describeScoreNormal(data.normal)].filter(Boolean).join(" · ");
  return <span title={note}>{note}</span>;
}

/** Return when a subsystem was unusual, and by what. */
export function describeRun({ subsystem }: ScoreRow, run: UnusualRun, { zone }: Pick<GraphContext, "zone">): string {
  const time = `${formatClock(zone, run.window.start)} to ${formatClock(zone, run.window.end)}`;
  return `${scoreRowsSubsystem(subsystem)}, ${time}: ${run.sentence ?? `anomaly score ${run.score.toFixed(2)}`}`;
}
