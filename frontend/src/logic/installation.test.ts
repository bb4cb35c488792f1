import { expect, it } from "vitest";
import type { InstallationCheck } from "./api";
import { worstFirst } from "./installation";

const check = (name: string, status: InstallationCheck["status"]): InstallationCheck => ({
  check: name,
  status,
  found: "",
  expected: "",
  advice: "",
});

it("what is wrong comes first, and the order of the server stays within a status", () => {
  const sent = [
    check("database", "ok"),
    check("disk", "warning"),
    check("clock", "not_checked"),
    check("jobs", "error"),
    check("agents", "warning"),
  ];
  expect(worstFirst(sent).map((each) => each.check)).toEqual(["jobs", "disk", "agents", "clock", "database"]);
});
