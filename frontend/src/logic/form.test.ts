import { expect, test } from "vitest";
import { fieldProblems } from "./form";

const has =
  (...fields: readonly string[]) =>
  (path: string): boolean =>
    fields.includes(path);

test("a conflict stands at the member that the server names", () => {
  expect(fieldProblems("Account 'ann' already exists", { name: "ann" }, has("name", "password"))).toEqual({
    fields: { name: "Account 'ann' already exists" },
    isAll: true,
  });
});

test("each problem of the shape stands at its field", () => {
  const problems = ["body.name: String should have at most 200 characters", "body.windows.0.start: Value error, no zone"];
  expect(fieldProblems("The request does not have the documented shape", { problems }, has("name", "windows"))).toEqual({
    fields: { name: "String should have at most 200 characters", windows: "no zone" },
    isAll: true,
  });
});

test("a form that is flat has the members of nested ones", () => {
  const problems = ["body.settings.email.recipients.0: String should have at least 3 characters"];
  const { fields } = fieldProblems("", { problems }, has("recipients", "server"));
  expect(fields).toEqual({ recipients: "String should have at least 3 characters" });
});

test("the longest path counts where a form is nested", () => {
  const problems = ["body.settings.match.hosts.2: too long"];
  const { fields } = fieldProblems("", { problems }, has("hosts", "settings.match.hosts"));
  expect(fields).toEqual({ "settings.match.hosts": "too long" });
  expect(fieldProblems("", { problems: ["body.note.graph.limit: too large"] }, has("note.limit")).fields).toEqual({
    "note.limit": "too large",
  });
});

test("what is about no field is left to the line of the form", () => {
  const problems = ["body.name: too long", "query.limit: too large"];
  expect(fieldProblems("", { problems }, has("name"))).toEqual({ fields: { name: "too long" }, isAll: false });
  expect(fieldProblems("no space", {}, has("name"))).toEqual({ fields: {}, isAll: false });
  expect(fieldProblems("changed", { report: 3, revision: 4 }, has("name"))).toEqual({ fields: {}, isAll: false });
});
