import { describe, expect, it } from "vitest";
import type { HostLine } from "../logic/host_lines";
import { toEpochMs } from "../logic/time";
import { ELAPSED } from "../logic/zone";
import { buildHostFigure, type HostFigureInput } from "./hosts";

const line = (host: string, values: (number | null)[]): HostLine => ({
  key: host,
  name: host,
  host,
  start: null,
  instance: "",
  field: "value",
  unit: "%",
  column: "s.f",
  across: null,
  n_instances: 1,
  n_raw: values.length,
  mean: 0,
  n_hosts: null,
  times: values.map((_, index) => index * 1000),
  values,
});

const input = (change: Partial<HostFigureInput>): HostFigureInput => ({
  lines: [line("a", [1, 2, 3])],
  slots: new Map([["a", 0]]),
  shared: [],
  window: { start: toEpochMs(0), end: toEpochMs(120_000) },
  unit: "MHz",
  isPercent: false,
  isLevel: false,
  zone: "UTC",
  scheme: "light",
  margins: { left: 50, right: 10, top: 20, bottom: 20 },
  width: 600,
  height: 200,
  ...change,
});

describe("a figure of several hosts", () => {
  it("keeps gaps, and shows samples that stand alone between them", () => {
    const values = [...Array.from({ length: 50 }, () => 1), null, 7, null, 1, 1];
    const { data } = buildHostFigure(input({ lines: [line("a", values)] }));
    expect(data[0]).toMatchObject({ connectgaps: false, mode: "lines", y: values });
    expect(data[1]).toMatchObject({ mode: "markers", x: [51_000], y: [7] });
  });

  it("has the scale of all graphs", () => {
    const top = (shared: readonly number[]) => (buildHostFigure(input({ shared })).layout.yaxis?.range as number[])[1] ?? 0;
    expect(top([])).toBeLessThan(5);
    expect(top([90])).toBeGreaterThanOrEqual(90);
  });

  it("labels elapsed times from zero on", () => {
    const { layout } = buildHostFigure(input({ zone: ELAPSED }));
    expect(layout.xaxis?.ticktext?.slice(0, 2)).toEqual(["0:00:00", "0:00:30"]);
    const hours = buildHostFigure(input({ zone: ELAPSED, window: { start: toEpochMs(0), end: toEpochMs(30 * 3_600_000) } }));
    expect(hours.layout.xaxis?.ticktext?.slice(0, 3)).toEqual(["0:00", "6:00", "12:00"]);
    expect(hours.layout.xaxis?.ticktext?.at(-1)).toBe("1 d 00:00");
  });
});
