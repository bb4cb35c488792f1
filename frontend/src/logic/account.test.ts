import { describe, expect, it } from "vitest";
import { newPasswordProblem } from "./account";

describe("newPasswordProblem", () => {
  it("counts characters as people do, ignoring blanks at the ends", () => {
    expect(newPasswordProblem("ninechars", "ninechars").next).toBe("at least 10 characters");
    expect(newPasswordProblem("ten  chars", "ten  chars").next).toBeNull();
    expect(newPasswordProblem(" ".repeat(12), " ".repeat(12)).next).toBe("at least 10 characters");
    expect(newPasswordProblem("  ninechars  ", "").next).toBe("at least 10 characters");
    expect(newPasswordProblem("🚋".repeat(9), "").next).toBe("at least 10 characters");
    expect(newPasswordProblem("🚋".repeat(10), "").next).toBeNull();
  });

  it("compares both passwords", () => {
    expect(newPasswordProblem("seven yellow trams", "seven yellow tram").again).toBe("passwords do not match");
    expect(newPasswordProblem("seven yellow trams", "seven yellow trams").again).toBeNull();
  });
});
