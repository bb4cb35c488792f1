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
import { words } from "../../words";
import type { GraphContext } from "./graph";
import "./TimeRows.css";
import "./ScoreRows.css";

/** When the host was unusual in the window, a row for each subsystem; a click selects the time. Without scores, why. */
export function ScoreRows({ graph }: { readonly graph: GraphContext }) {
  const { data } = useQuery(scoresQuery(graph.host, scoresWindow(graph.window)));
  const rows = useMemo(() => (data === undefined ? [] : scoreRows(data)), [data]);
  if (data === undefined) {
    return null;
  }
  const nJudged = countJudged(data);
  const calm = nJudged === null || rows.length > 0 ? "" : words.host.scoreRows.nothingUnusual(nJudged);
  const note = [calm, describeScoreNormal(data.normal)].filter(Boolean).join(" · ");
  return (
    <>
      {rows.length > 0 && (
        <div className="time-rows scores" role="group" aria-label={words.host.scoreRows.unusualTimes}>
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
  const name = words.host.scoreRows.subsystem(row.subsystem);
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
                  aria-label={words.host.scoreRows.select(text)}
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
        <span className="time-rows-note">{words.host.scoreRows.unusual(name)}</span>
      </Tooltip>
    </div>
  );
}

function describe(run: UnusualRun, name: string, { zone }: GraphContext): string {
  const time = words.host.scoreRows.time(formatClock(zone, run.window.start), formatClock(zone, run.window.end));
  return words.host.scoreRows.run(name, time, run.sentence ?? words.host.scoreRows.score(run.score.toFixed(2)));
}
