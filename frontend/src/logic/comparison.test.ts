import { describe, expect, it } from "vitest";
import type { FieldInfo } from "./api";
import { filterBaselines, totalLength } from "./baseline";
import { divisorOptions, groupTitle, memberNames, seriesTitle } from "./comparison";
import { madeBaseline } from "../testing/baseline";
import { madeField, madeStat } from "./stat_fixture";
import { describeClockOffset, filterHosts, kindsToShow, totalLines } from "./host";
import { passwordProblem, rolesUpTo, sortTokens } from "./account";

describe("a series", () => {
  it("is named by stat, instance and column even if it is not in the catalogue", () => {
    expect(seriesTitle(null, { stat: "s", instance: "", field: "x_kb" })).toBe("s · x_kb");
    expect(seriesTitle(null, { stat: "s", instance: "sda", field: "x_kb" })).toBe("s · sda · x_kb");
    const group = { stat: "s", field: "x_pct", column: "x" };
    expect(groupTitle(null, { ...group, instances: ["sda", "sdb"] })).toBe("s · x");
    expect(groupTitle(null, { ...group, instances: ["sda"] })).toBe("s · sda · x");
  });

  it("of a group is drawn, named, or counted", () => {
    const members = [{ instance: "a" }];
    expect(memberNames({ n_members: 5, instances: ["a", "b", "c"], members })).toEqual({ rest: ["b", "c"], n_unnamed: 2 });
    expect(memberNames({ n_members: 1, instances: ["a"], members })).toEqual({ rest: [], n_unnamed: 0 });
  });

  it("that serves as divisor is a count, and has samples", () => {
    const stat = (name: string, kind: FieldInfo["kind"]) =>
      madeStat(name, { fields: [madeField("sy", "1/s", { group: "faults", kind })] });
    const stats = [stat("vmstat", "rate"), stat("mpstat", "percent"), stat("other", "rate")];
    expect(divisorOptions(stats, ["vmstat", "mpstat"])).toEqual([
      { group: "vmstat", items: [{ value: "vmstat.sy", label: "faults sy (1/s)" }] },
    ]);
  });
});

describe("lists", () => {
  it("filter baselines and add up their windows", () => {
    const baseline = madeBaseline();
    expect(filterBaselines([baseline], "web deploy")).toHaveLength(1);
    expect(filterBaselines([baseline], "web2")).toHaveLength(0);
    expect(totalLength(baseline)).toBe(900_000);
  });

  it("show a clock offset, but ignore rounding to whole seconds", () => {
    expect(describeClockOffset(null)).toBe("–");
    expect(describeClockOffset(-1.4)).toBe("in sync");
    expect(describeClockOffset(-12.2)).toBe("−12 s");
    expect(describeClockOffset(3_600)).toBe("+60 min");
  });

  it("account for every line", () => {
    const counts = { header: 2, sample: 10, since_boot: 1, timestamp: 0, state_change: 0, ignored: 0, rejected: 0 };
    expect(totalLines(counts)).toBe(13);
    expect(kindsToShow([counts]).map(({ key }) => key)).toEqual(["sample", "header", "since_boot", "rejected"]);
  });

  it("filter hosts by name and system", () => {
    const host = { name: "web1", os: "SunOS 5.10" } as Parameters<typeof filterHosts>[0][number];
    expect(filterHosts([host], "sunos web")).toHaveLength(1);
    expect(filterHosts([host], "linux")).toHaveLength(0);
  });

  it("of tokens show the valid ones first", () => {
    const token = (id: number, created_at: string, revoked_at: string | null) => ({
      id,
      name: "",
      host: null,
      role: null,
      created_at,
      last_used_at: null,
      revoked_at,
      is_rotating: false,
      replaces_id: null,
      expires_at: null,
    });
    const sorted = sortTokens([token(1, "2026-01-01", null), token(2, "2026-01-03", "2026-01-04"), token(3, "2026-01-02", null)]);
    expect(sorted.map(({ id }) => id)).toEqual([3, 1, 2]);
  });

  it("know what is wrong with a password and which roles can be assigned", () => {
    expect(passwordProblem("short")).not.toBeNull();
    expect(passwordProblem("long enough")).toBeNull();
    expect(rolesUpTo("operator")).toEqual(["viewer", "operator"]);
  });
});
