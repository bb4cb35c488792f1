import { Group, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { requireWindow } from "../logic/range";
import type { Window } from "../logic/time";
import { formatInstant, parseInstant, type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";

interface WindowInputsProps {
  readonly window: Window;
  readonly zone: Zone;
  /** Receives the window as typed; null while it is not valid. */
  readonly onChange: (window: Window | null) => void;
  /** What the form says of the window; the inputs say themselves what is wrong with what is typed. */
  readonly error?: ReactNode;
  /** The name of the field in its form. */
  readonly "data-path"?: string;
}

/** Text inputs for the start and end of a window: date and time, time of today, or `now-15m`. */
export function WindowInputs({ window, zone, onChange, error, "data-path": path }: WindowInputsProps) {
  const [from, setFrom] = useState(formatInstant(zone, window.start));
  const [to, setTo] = useState(formatInstant(zone, window.end));
  const read = (start: string, end: string): Window | string => {
    const now = readNow();
    return requireWindow(parseInstant(start, zone, now), parseInstant(end, zone, now));
  };
  const problem = read(from, to);
  const change = (start: string, end: string): void => {
    setFrom(start);
    setTo(end);
    const next = read(start, end);
    onChange(typeof next === "string" ? null : next);
  };
  const label = zoneLabel(zone, window.end);
  const isWrong = typeof problem === "string";
  const field = { size: "xs", spellCheck: false, error: isWrong && Boolean(error) } as const;
  return (
    <>
      <Group gap="xs" grow>
        <TextInput
          {...field}
          data-path={path}
          label={`From (${label})`}
          value={from}
          onChange={(event) => {
            change(event.currentTarget.value, to);
          }}
        />
        <TextInput
          {...field}
          label={`To (${label})`}
          value={to}
          onChange={(event) => {
            change(from, event.currentTarget.value);
          }}
        />
      </Group>
      <div
        style={{ minHeight: 20, fontSize: 12, marginTop: 2, ...(isWrong && error ? { color: "var(--bad)" } : {}) }}
        className={isWrong ? undefined : "soft"}
        role="status"
      >
        {isWrong ? problem : "2026-11-21 09:05:00, 09:05 (today), now-15m, or ISO 8601 with a zone"}
      </div>
    </>
  );
}
