import { describe, expect, it } from "vitest";
import type { FactChange, HostFact } from "./api";
import { countRecent, factMoment, factSections, windowAround } from "./fact";
import { fromApi } from "./time";

describe("factMoment", () => {
  it("reads the time of a boot and nothing else", () => {
    expect(factMoment("boot_time", "1795300011")).toBe(1795300011000);
    expect(factMoment("boot_time", "yesterday")).toBeNull();
    expect(factMoment("cpus", "4")).toBeNull();
  });
});

describe("factSections", () => {
  it("keeps the order of the server", () => {
    const fact = (section: string, key: string): HostFact => ({
      ...{ section, key, item: "", label: key, value: "", text: "", since: "2026-11-22T00:00:00Z" },
    });
    const sections = factSections([fact("System", "os"), fact("CPUs", "cpus"), fact("System", "agent")]);
    expect(sections.map(({ title, facts }) => [title, facts.map(({ key }) => key)])).toEqual([
      ["System", ["os", "agent"]],
      ["CPUs", ["cpus"]],
    ]);
  });
});

describe("countRecent", () => {
  it("counts the changes of the last day", () => {
    const change = (at: string): FactChange => ({
      ...{ at, not_before: at, key: "cpus", item: "", label: "CPUs online", kind: "hardware", text: "CPUs online: 4 → 2" },
      ...{ before: "4", before_text: "4", after: "2", after_text: "2" },
    });
    const changes = [change("2026-11-22T11:00:00Z"), change("2026-11-21T12:00:01Z"), change("2026-11-21T12:00:00Z")];
    expect(countRecent(changes, fromApi("2026-11-22T12:00:00Z"))).toBe(2);
    expect(countRecent([], fromApi("2026-11-22T12:00:00Z"))).toBe(0);
  });
});

describe("windowAround", () => {
  it("is half an hour with the change in the middle", () => {
    const { start, end } = windowAround("2026-11-22T01:00:00Z");
    expect(end - start).toBe(1_800_000);
    expect((start + end) / 2).toBe(Date.parse("2026-11-22T01:00:00Z"));
  });
});
