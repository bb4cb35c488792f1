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
import type { GraphContext } from "./graph";
import "./TimeRows.css";
import "./ScoreRows.css";

const scoreRowsSubsystem = (name: string) =>
  ({ cpu: "CPU", disk: "Disk", memory: "Memory", network: "Network", locks: "Locks", filesystem: "File systems", nfs: "NFS" })[
    name
  ] ?? "Other";

/** When the host was unusual in the window, a row for each subsystem; a click selects the time. Without scores, why. */
export function ScoreRows({ graph }: { readonly graph: GraphContext }) {
  const { data } = useQuery(scoresQuery(graph.host, scoresWindow(graph.window)));
  const rows = useMemo(() => (data === undefined ? [] : scoreRows(data)), [data]);
  if (data === undefined) {
    return null;
  }
  const nJudged = countJudged(data);
  const calm =
    nJudged === null || rows.length > 0
      ? ""
      : `Nothing unusual in this window: ${counted(nJudged, "series", "series")} compared with what is normal each minute`;
  const note = [calm, describeScoreNormal(data.normal)].filter(Boolean).join(" · ");
  return (
    <>
      {rows.length > 0 && (
        <div className="time-rows scores" role="group" aria-label="Times in which the host was unusual">
          {rows.map((row) => (
            <Row key={row.subsystem} row={row} graph={graph} />
          ))}
        </div>
      )}
      {note !== "" && <p className="scores-calm soft">{note}</p>}
    </>
  );
}

function Row({ row, graph }: { readonly row: ScoreRow; readonly graph: GraphContext }) {
  const name = scoreRowsSubsystem(row.subsystem);
  const top = topRun(row);
  return (
    <div className="time-rows-row">
      <div className="time-rows-body">
        {row.runs.map((run) => {
          const share = bandShare(run.window, graph.window);
          const text = describe(run, name, graph);
          return (
            share && (
              <Tooltip key={run.window.start} label={text} multiline maw={420}>
                <button
                  type="button"
                  className="time-rows-run scores-run"
                  data-level={run.level}
                  style={{ left: percent(share.left), width: percent(share.width) }}
                  aria-label={`Select ${text}`}
                  onClick={() => {
                    graph.onMark(spellOf(row, run), null);
                  }}
                />
              </Tooltip>
            )
          );
        })}
      </div>
      <Tooltip label={top && describe(top, name, graph)} multiline maw={420}>
        <span className="time-rows-note">{`${name} unusual`}</span>
      </Tooltip>
    </div>
  );
}

function describe(run: UnusualRun, name: string, { zone }: GraphContext): string {
  const time = `${formatClock(zone, run.window.start)} to ${formatClock(zone, run.window.end)}`;
  return `${name}, ${time}: ${run.sentence ?? `anomaly score ${run.score.toFixed(2)}`}`;
}
