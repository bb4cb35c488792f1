import { describe, expect, it } from "vitest";
import { passwordProblem } from "./account";

describe("passwordProblem", () => {
  it("counts characters as people do, ignoring blanks at the ends", () => {
    expect(passwordProblem("")).toBeNull();
    expect(passwordProblem("ninechars")).toBe("at least 10 characters");
    expect(passwordProblem("ten  chars")).toBeNull();
    expect(passwordProblem(" ".repeat(12))).toBe("at least 10 characters");
    expect(passwordProblem("  ninechars  ")).toBe("at least 10 characters");
    expect(passwordProblem("🚋".repeat(9))).toBe("at least 10 characters");
    expect(passwordProblem("🚋".repeat(10))).toBeNull();
  });
});
