import { describe, expect, it } from "vitest";
import { buildPicture, fitText, type PictureInput, pictureName } from "./picture";
import { toEpochMs } from "./time";

const measure = (text: string, size: number): number => text.length * size * 0.5;
const INPUT: PictureInput = {
  title: "CPU <all>",
  subtitles: ["web1 · mpstat & co", "06:45:00 – 07:00:00 UTC"],
  unit: "%",
  graph: "<svg class='graph'/>",
  width: 600,
  height: 200,
  margins: { left: 50, right: 10, top: 20, bottom: 20 },
  window: { start: toEpochMs(0), end: toEpochMs(1_000) },
  periods: [
    { kind: "baseline", window: { start: toEpochMs(-500), end: toEpochMs(500) } },
    { kind: "mark", window: { start: toEpochMs(2_000), end: toEpochMs(3_000) } },
  ],
  events: [{ at: toEpochMs(500), text: "06:52:30: deployed \u0001" }],
  heads: ["last", "max"],
  rows: [{ name: "usr", stroke: { color: "#0068a8", dash: "dash" }, cells: ["12.5", "99"] }],
  notes: ["Of all samples in the window"],
  scheme: "light",
  measure,
};

const texts = (svg: string): readonly string[] => [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text);

describe("the picture of a panel", () => {
  it("says what it shows, from when to when, and the statistics of each line", () => {
    const { svg, height } = buildPicture(INPUT);
    expect(texts(svg)).toEqual([
      "CPU &lt;all&gt;",
      "web1 · mpstat &amp; co",
      "06:45:00 – 07:00:00 UTC",
      "%",
      "1",
      "last",
      "max",
      "usr",
      "12.5",
      "99",
      "(1) 06:52:30: deployed \ufffd",
      "Of all samples in the window",
    ]);
    expect(svg).toContain(INPUT.graph);
    expect(svg).toContain('stroke="#0068a8" stroke-width="3" stroke-dasharray="5 3"');
    // Every text lies inside.
    expect(Math.max(...[...svg.matchAll(/ y="(\d+)"/g)].map(([, y]) => Number(y)))).toBeLessThan(height);
  });

  it("shades the part of a period that it shows, and no other period", () => {
    const rects = [...buildPicture(INPUT).svg.matchAll(/<rect x="([\d.]+)" width="([\d.]+)"/g)].map(([, x, width]) => [x, width]);
    expect(rects).toEqual([
      ["50.0", "270.0"],
      ["50.0", "270.0"],
    ]);
  });

  it("is white on request and dark on a dark page", () => {
    expect(buildPicture(INPUT).svg).toContain('fill="#ffffff"');
    expect(buildPicture({ ...INPUT, scheme: "dark" }).svg).toContain('fill="#171c23"');
  });

  it("says how many lines it leaves out", () => {
    const [row] = INPUT.rows;
    const { svg } = buildPicture({ ...INPUT, rows: Array.from({ length: 45 }, () => row!) });
    expect(texts(svg)).toContain("and 5 more lines");
  });

  it("cuts a long name, never a number", () => {
    expect(fitText("short", 100, 10, measure)).toBe("short");
    expect(fitText("a very long name", 30, 10, measure)).toBe("a ver…");
  });

  it("has a name that every system takes", () => {
    const window = { start: toEpochMs(Date.UTC(2026, 10, 22, 6, 45)), end: toEpochMs(Date.UTC(2026, 10, 22, 7)) };
    expect(pictureName("web 1/a", "mpstat_linux.cpu", window, "png")).toBe(
      "web_1_a-mpstat_linux.cpu-20261122T064500Z-20261122T070000Z.png",
    );
  });
});
