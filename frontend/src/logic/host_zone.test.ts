import { describe, expect, it } from "vitest";
import { chooseHostZone, groupZones, noZoneReason, parseHostZone, toNamedZone } from "./host_zone";
import { toEpochMs } from "./time";
import { formatInstant, fromWall, offsetOf, toWall, zoneLabel } from "./zone";

const zones = (text: string) =>
  chooseHostZone(
    text.split(" ").map((pair) => {
      const [host = "", zone = ""] = pair.split("=");
      return { host, time_zone: zone === "" ? null : zone };
    }),
  );

describe("the zone of hosts", () => {
  it("reads names and offsets, and no invented ones", () => {
    expect(["Europe/Berlin", "US/Pacific", "+0530", "-03:30", "+0000", "Etc/UTC"].map(parseHostZone)).toEqual([
      "Europe/Berlin",
      "US/Pacific",
      "+05:30",
      "-03:30",
      "UTC",
      "UTC",
    ]);
    expect(["Mars/Olympus", "CET-1CEST,M3.5.0,M10.5.0/3", "+2500", "", "5"].map(parseHostZone)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it("is the one that all hosts with a report have", () => {
    expect(zones("a=Europe/Berlin b=Europe/Berlin c")).toEqual({ zone: "Europe/Berlin", problem: null, unreported: ["c"] });
    expect(zones("a=UTC b=Etc/UTC c=+0000").zone).toBe("UTC");
  });

  it("says why there is none", () => {
    const none = (text: string) =>
      noZoneReason(
        zones(text),
        text.split(" ").map((pair) => pair.split("=")[0] ?? ""),
      );
    expect(none("web1")).toMatch(/^No agent has reported the time zone of web1, so times are in UTC\./);
    expect(noZoneReason(chooseHostZone([]), [])).toMatch(/^No agent has reported its time zone/);
    expect(none("a=Asia/Tokyo b=Europe/Berlin c=Asia/Tokyo d=Asia/Tokyo e=Asia/Tokyo")).toContain(
      "(Asia/Tokyo: a, c, d and 1 more; Europe/Berlin: b)",
    );
    expect(none("a=Mars/Olympus")).toContain("does not know the time zone Mars/Olympus");
    expect(none("a=Asia/Tokyo")).toBeNull();
  });

  it("stands first where a zone is chosen, and has a name for the server", () => {
    const reported = ["Europe/Berlin", "+0530", null].map((time_zone, n) => ({ host: `web${String(n)}`, time_zone }));
    expect(groupZones(reported, ["UTC", "Asia/Tokyo", "Europe/Berlin"]).map(({ items }) => items)).toEqual([
      ["Europe/Berlin"],
      ["UTC", "Asia/Tokyo"],
    ]);
    expect(groupZones([], ["UTC"]).map(({ items }) => items)).toEqual([["UTC"]]);
    expect(["Europe/Berlin", "+05:00", "-03:00", "+05:30"].map(toNamedZone)).toEqual([
      "Europe/Berlin",
      "Etc/GMT-5",
      "Etc/GMT+3",
      "UTC",
    ]);
  });

  it("may be an offset: the same all year", () => {
    const at = toEpochMs(Date.UTC(2026, 6, 1, 12));
    expect(formatInstant("+05:30", at)).toBe("2026-07-01 17:30:00");
    expect(zoneLabel("-03:30", at)).toBe("UTC−03:30");
    expect(fromWall("-03:30", toWall("-03:30", at))).toBe(at);
    expect(offsetOf("-03:30", at)).toBe(-3.5 * 3_600_000);
  });
});
