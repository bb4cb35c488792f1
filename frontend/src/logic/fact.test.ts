import { describe, expect, it } from "vitest";
import { factLabel, factMoment, formatFact, sortFacts, windowAround } from "./fact";

describe("formatFact", () => {
  it.each([
    ["memory_kb", "16393232", "15.6 GiB"],
    ["memory_kb", "524288", "512.0 MiB"],
    ["swap_kb", "0", "none"],
    ["cpu_mhz", "2449.998", "2,450 MHz"],
    ["cpus", "4", "4"],
    ["cpu_model", "AMD EPYC 7B13", "AMD EPYC 7B13"],
    ["memory_kb", "", ""],
    ["memory_kb", "unknown", "unknown"],
  ])("%s %s", (key, value, text) => {
    expect(formatFact(key, value)).toBe(text);
  });
});

describe("factMoment", () => {
  it("reads the time of a boot and nothing else", () => {
    expect(factMoment("boot_time", "1795300011")).toBe(1795300011000);
    expect(factMoment("boot_time", "yesterday")).toBeNull();
    expect(factMoment("cpus", "4")).toBeNull();
  });
});

describe("sortFacts", () => {
  it("puts known kinds first and names in order", () => {
    const fact = (key: string, item = "") => ({ key, item, value: "", since: "2026-11-22T00:00:00Z" });
    const sorted = sortFacts([fact("zz"), fact("mount", "/var"), fact("mount", "/"), fact("aa"), fact("system")]);
    expect(sorted.map(({ key, item }) => key + item)).toEqual(["system", "mount/", "mount/var", "aa", "zz"]);
  });
});

describe("factLabel", () => {
  it("names unknown kinds by their key", () => {
    expect(factLabel("cpus")).toBe("CPUs");
    expect(factLabel("bios_version")).toBe("bios version");
  });
});

describe("windowAround", () => {
  it("is half an hour with the change in the middle", () => {
    const { start, end } = windowAround("2026-11-22T01:00:00Z");
    expect(end - start).toBe(1_800_000);
    expect((start + end) / 2).toBe(Date.parse("2026-11-22T01:00:00Z"));
  });
});
