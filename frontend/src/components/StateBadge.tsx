import { Tooltip } from "@mantine/core";
import type { StreamState } from "../logic/api";
import "./StateBadge.css";

const STATES: Readonly<Record<StreamState, { readonly letter: string; readonly text: string; readonly help: string }>> = {
  live: { letter: "L", text: "live", help: "data within the last 30 seconds, or within the interval that the command names" },
  late: { letter: "T", text: "late", help: "overdue, by less than 10 minutes" },
  silent: { letter: "S", text: "silent", help: "overdue by more than 10 minutes" },
  recorded: { letter: "R", text: "recorded", help: "imported from files; no agent is sending" },
};

/** A state shown by letter, shape (circle, triangle, square, diamond), word and colour. */
export function StateBadge({ state }: { readonly state: StreamState }) {
  const { letter, text, help } = STATES[state];
  return (
    <Tooltip label={`${text}: ${help}`}>
      <span className="state-badge" data-state={state}>
        <svg viewBox="0 0 18 18" width="16" height="16" aria-hidden>
          {state === "live" && <circle cx="9" cy="9" r="8" />}
          {state === "late" && <path d="M9 1 L17.5 17 L0.5 17 Z" />}
          {state === "silent" && <rect x="1.5" y="1.5" width="15" height="15" className="state-badge-hollow" />}
          {state === "recorded" && <path d="M9 0.5 L17.5 9 L9 17.5 L0.5 9 Z" className="state-badge-hollow" />}
          <text x="9" y={state === "late" ? 14.6 : 12.7} textAnchor="middle">
            {letter}
          </text>
        </svg>
        <span>{text}</span>
      </span>
    </Tooltip>
  );
}
