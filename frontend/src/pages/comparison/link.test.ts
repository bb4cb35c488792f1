import { describe, expect, it } from "vitest";
import type { Circumstance } from "../../logic/api";
import { toEpochMs } from "../../logic/time";
import { decodeHostView } from "../../state/url";
import { circumstanceLink, type Place, processLink } from "./link";

const START = Date.UTC(2026, 10, 21, 9, 35);
const place: Place = { window: { start: toEpochMs(START), end: toEpochMs(START + 600_000) }, clock: "utc", bandId: null };

describe("a link to a process", () => {
  const open = (instance: string, title: string, pids: number[]) =>
    decodeHostView(processLink({ stat: "s", instance, pids }, { instance_title: title }, ["cpu_pct"], place)).view;

  it("opens the page of its PID, or of its command where there were several", () => {
    expect(open("29206/dd", "process", [])).toMatchObject({ tab: "processes", process: { command: "dd", pid: 29206 } });
    expect(open("dd", "command", [29206])).toMatchObject({ tab: "processes", process: { command: "dd", pid: 29206 } });
    expect(open("yes", "command", [1, 2])).toMatchObject({ tab: "processes", process: { command: "yes", pid: null } });
    expect(open("dd", "command", [])).toMatchObject({ process: { command: "dd", pid: null }, mark: place.window });
  });

  it("opens the graphs of what has no page", () => {
    expect(open("815/java/12", "thread", [])).toMatchObject({
      tab: "graphs",
      process: null,
      panels: [{ stat: "s", fields: ["cpu_pct"], choice: { kind: "only", names: ["815/java/12"] } }],
    });
  });
});

describe("a link of a circumstance", () => {
  const open = (change: Partial<Circumstance>) => {
    const moment = { start_ms: START, end_ms: null, is_likely_cause: false };
    const one = { kind: "event", host: "web1", sentence: "", ...moment, ...change } as const;
    return decodeHostView(circumstanceLink(one, place)).view;
  };

  it("opens what it is about", () => {
    expect(open({})).toMatchObject({ tab: "graphs", mark: place.window });
    expect(open({ kind: "observer", command: "truss" })).toMatchObject({ tab: "processes", process: { command: "truss" } });
    expect(open({ kind: "observer" })).toMatchObject({ tab: "graphs" });
    expect(open({ kind: "rejected_lines", stream_id: 7 })).toMatchObject({ tab: "rejected", streamId: 7 });
    expect(open({ kind: "lost_bytes", stream_id: 7 })).toMatchObject({ tab: "streams", streamId: 7 });
  });
});
