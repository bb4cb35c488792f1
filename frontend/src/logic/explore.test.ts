import { describe, expect, it } from "vitest";
import type { StatInfo } from "./api";
import { formatExplored, MAX_EXPLORED, parseExplored, planExplored, usualChoice, withExplored } from "./explore";
import { madeField, madePanel, madeStat } from "./stat_fixture";

const IOSTAT = madeStat("iostat_linux", {
  title: "Devices",
  fields: [madeField("util", "%", { column: "%util" }), madeField("r_per_s", "1/s", { column: "r/s" }), madeField("odd", "")],
  panels: [madePanel("util", ["util"])],
});
const BARE: StatInfo = { ...IOSTAT, name: "bare", instance_title: "", panels: [] };

describe("a metric in a link", () => {
  it.each(["iostat_linux.util", "iostat_linux.util,r_per_s.top:5", "iostat_linux..only:sda%2Cb", "bare.util."])("%s", (text) => {
    const metric = parseExplored(text);
    expect(metric === null ? null : formatExplored(metric)).toBe(text);
  });

  it.each(["", "iostat_linux", "iostat_linux.a b", "iostat_linux.util.nonsense", ".util", "1x.util"])("%s is none", (text) => {
    expect(parseExplored(text)).toBeNull();
  });
});

describe("what is drawn", () => {
  it("is the field with the instances of the panel that has it", () => {
    const [only] = planExplored([{ stat: "iostat_linux", fields: ["util"], choice: null }], [IOSTAT]);
    expect(only?.plans.map(({ title, choice, unit }) => [title, choice, unit])).toEqual([
      ["Devices: %util", { kind: "all" }, "%"],
    ]);
    expect(only?.panel).toEqual({ stat: "iostat_linux", fields: ["util"], choice: { kind: "all" } });
  });

  it("is what the stat's own panels draw where no field is named", () => {
    const [only] = planExplored([{ stat: "iostat_linux", fields: [], choice: { kind: "only", names: ["sda"] } }], [IOSTAT]);
    expect(only?.plans.map(({ title, fields }) => [title, fields.map(({ key }) => key)])).toEqual([["Devices", ["util"]]]);
    expect(planExplored([{ stat: "bare", fields: [], choice: null }], [BARE])[0]?.panel?.fields).toEqual(["util"]);
  });

  it("is a graph for each unit", () => {
    const [only] = planExplored([{ stat: "iostat_linux", fields: ["util", "r_per_s"], choice: null }], [IOSTAT]);
    expect(only?.plans.map(({ id }) => id)).toEqual(["explore-0", "explore-0.2"]);
  });

  it("is said to be missing where the host does not send the stat, or the stat has no such field", () => {
    const missing = planExplored(
      [
        { stat: "vmstat_linux", fields: ["cpu_us"], choice: null },
        { stat: "iostat_linux", fields: ["gone"], choice: null },
      ],
      [IOSTAT],
    );
    expect(missing.map(({ stat, plans }) => [stat, plans.length])).toEqual([
      [null, 0],
      [null, 0],
    ]);
  });

  it("is the top five where no panel has the field, and one line where there are no instances", () => {
    expect(usualChoice(IOSTAT, "odd")).toEqual({ kind: "top", n: 5 });
    expect(usualChoice(BARE, "odd")).toEqual({ kind: "one" });
  });
});

describe("another metric", () => {
  it("is added once, and the oldest goes where there are too many", () => {
    const metrics = Array.from({ length: MAX_EXPLORED }, (_, n) => ({ stat: `s${String(n)}`, fields: ["x"], choice: null }));
    const again = withExplored(metrics, { stat: "s3", fields: ["x"], choice: null });
    expect(again.map(({ stat }) => stat)).toEqual(["s0", "s1", "s2", "s4", "s5", "s3"]);
    expect(withExplored(metrics, { stat: "new", fields: ["x"], choice: null }).map(({ stat }) => stat)).toEqual([
      "s1",
      "s2",
      "s3",
      "s4",
      "s5",
      "new",
    ]);
  });
});
