import { Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { scoresQuery } from "../../api/scores";
import { useOneStop } from "../../components/useOneStop";
import { unusualIn } from "../../logic/overview";
import type { Section } from "../../logic/panel";
import { scoreRows, scoresWindow, topRun } from "../../logic/scores";
import { percent } from "../../logic/surface";
import type { GraphContext } from "./graph";
import { describeRun } from "./UnusualLane";
import "./SectionIndex.css";

/** Return the id of the element of a section. */
export function sectionId(key: string): string {
  return `section-${key}`;
}

interface SectionIndexProps {
  /** All sections of the host, also those whose panels are all in the overview. */
  readonly sections: readonly Section[];
  readonly graph: GraphContext;
}

/** Leads to each section; a bar says how unusual it was in the visible window. */
export function SectionIndex({ sections, graph }: SectionIndexProps) {
  const frame = useRef<HTMLElement>(null);
  useOneStop(frame);
  const { data } = useQuery(scoresQuery(graph.host, scoresWindow(graph.window)));
  const rows = useMemo(() => (data === undefined ? [] : scoreRows(data)), [data]);
  const isJudged = data !== undefined && data.steps.length > 0;
  return (
    <nav className="section-index no-print" ref={frame} aria-label="Sections">
      <SectionLink
        title="Overview"
        isJudged={false}
        onOpen={() => {
          window.scrollTo({ top: 0 });
        }}
      />
      {sections.map(({ key, title, panels }) => {
        const row = unusualIn(key, rows);
        const run = row === null ? undefined : topRun(row);
        return (
          <SectionLink
            key={key}
            title={title}
            isJudged={isJudged}
            {...(row !== null && run !== undefined
              ? { score: row.score, level: run.level, text: describeRun(row, run, graph) }
              : {})}
            onOpen={() => {
              const [first] = panels;
              const target =
                document.getElementById(sectionId(key)) ?? document.querySelector(`[data-panel="${first?.id ?? ""}"]`);
              target?.scrollIntoView();
            }}
          />
        );
      })}
      {isJudged && <p className="section-note soft">Bars: how unusual</p>}
    </nav>
  );
}

interface SectionLinkProps {
  readonly title: string;
  /** Whether there is a normal to compare with. */
  readonly isJudged: boolean;
  readonly score?: number;
  readonly level?: number;
  /** When it was most unusual, and by what. */
  readonly text?: string;
  readonly onOpen: () => void;
}

function SectionLink({ title, isJudged, score, level, text, onOpen }: SectionLinkProps) {
  return (
    <Tooltip label={text} disabled={text === undefined} multiline maw={420} position="right">
      <button
        type="button"
        className="section-link"
        aria-label={text === undefined ? title : `${title}: unusual. ${text}`}
        onClick={onOpen}
      >
        {title}
        {isJudged && (
          <span className="section-bar">
            {score !== undefined && <span className="unusual-run" data-level={level} style={{ width: percent(score) }} />}
          </span>
        )}
      </button>
    </Tooltip>
  );
}
