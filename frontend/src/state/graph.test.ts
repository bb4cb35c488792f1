import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, toDurationMs, toEpochMs } from "../logic/time";
import { DEFAULT_GRAPH_VIEW, decodeGraphView, encodeGraphView, type GraphView } from "./graph";
import { formatSearch, parseSearch } from "./search";

const through = (view: GraphView) => decodeGraphView(parseSearch(formatSearch(encodeGraphView(view))));

describe("the link of a graph of several hosts", () => {
  it("gives the view back", () => {
    const view: GraphView = {
      clock: "utc",
      range: { kind: "live", length: HOUR },
      hosts: ["a", "b,c", "d%2C"],
      group: "db servers",
      tag: "prod",
      metrics: ["net.in:bytes_per_s", "iostat_linux.util_pct"],
      instance: "",
      across: "p95",
      over: "sum",
      kind: "heatmap",
      top: 5,
      runs: [],
      length: HOUR,
    };
    expect(through(view)).toEqual({ view, ignored: [] });
    const runs = [
      { host: "a@b", start: toEpochMs(Date.UTC(2026, 10, 21)) },
      { host: "a@b", start: toEpochMs(Date.UTC(2026, 10, 20)) },
    ];
    const elapsed = { ...view, range: DEFAULT_GRAPH_VIEW.range, runs, length: toDurationMs(90 * MINUTE) };
    expect(through(elapsed)).toEqual({ view: elapsed, ignored: [] });
  });

  it("may name only hosts", () => {
    expect(decodeGraphView({ hosts: "a,b,a" })).toEqual({ view: { ...DEFAULT_GRAPH_VIEW, hosts: ["a", "b"] }, ignored: [] });
  });

  it("says what it ignores", () => {
    const { view, ignored } = decodeGraphView({
      hosts: "a,,b",
      over: "median",
      top: "0",
      run: "a@yesterday",
      for: "x",
      colour: "red",
    });
    expect(view).toEqual(DEFAULT_GRAPH_VIEW);
    expect(ignored).toEqual(["hosts=a,,b", "over=median", "top=0", "run=a@yesterday", "for=x", "colour=red"]);
  });
});
