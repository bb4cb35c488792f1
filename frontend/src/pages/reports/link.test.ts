import { describe, expect, it } from "vitest";
import { parseLink } from "./link";

describe("a pasted link of normstat", () => {
  it("to a saved comparison is that comparison", () => {
    expect(parseLink("http://server:8080/comparison?v=1&saved=7")).toMatchObject({ kind: "comparison", comparison: 7 });
  });

  it("to a new comparison is its inputs", () => {
    const window = "2026-11-21T10:00:00Z/2026-11-21T10:10:00Z";
    expect(parseLink(`/comparison?v=1&host=web1&incident=${window}&baseline=3`)).toMatchObject({
      kind: "comparison",
      inputs: { host: ["web1"], start: "2026-11-21T10:00:00Z", end: "2026-11-21T10:10:00Z", baseline: 3 },
    });
    expect(typeof parseLink("/comparison?host=web1")).toBe("string");
  });

  it("to an artefact is the artefact", () => {
    expect(parseLink("https://server/artefacts/12?part=1")).toMatchObject({ kind: "artefact", artefact: 12 });
  });

  it("to an experiment is what its page analyses", () => {
    expect(parseLink("https://server/experiments/5?v=1&by=threads&work=grows")).toMatchObject({
      kind: "experiment",
      experiment: 5,
      factor: "threads",
      work: "grows",
      result: null,
    });
  });

  it("to anything else says what can be pasted", () => {
    for (const text of [
      "javascript:alert(1)",
      "/artefacts/0",
      "/experiments/x",
      "/artefacts/../x",
      "/hosts/web1",
      "",
      "https://example.org/",
    ]) {
      expect(typeof parseLink(text), text).toBe("string");
    }
  });
});
