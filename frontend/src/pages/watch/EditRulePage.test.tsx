import { formatRule, NEW_CONDITION, NEW_RULE } from "../../logic/rule_form";
import { madeField, madeStat } from "../../logic/stat_fixture";
import { expect, openPage, screen, test, waitFor, within } from "../../testing";

test("a rule is written by a form, with its text beside it, and either changes the other", async ({ server }) => {
  const steal = madeField("steal_pct", "%", { meanings: ["cpu.steal"], help: "CPU time stolen." });
  server.on("GET /stats", { stats: [madeStat("mpstat_linux", { fields: [steal] })] });
  server.on("GET /rules", { rules: [] });
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /backtests", { backtests: [] });
  server.fail("PUT /rules/{rule}", 400, "bad_request", "no such limit");
  const user = openPage("/watch/new-rule");
  await user.click(await screen.findByRole("button", { name: "Save" }));
  expect(server.asked("PUT /rules/{rule}")).toEqual([]);
  screen.getByText("say what to do");
  await user.type(screen.getByRole("textbox", { name: "Title" }), "Stolen");
  await user.click(screen.getByRole("combobox", { name: "Field" }));
  await user.click(await screen.findByRole("option", { name: "cpu.steal: CPU time stolen." }));
  await user.type(screen.getByRole("textbox", { name: "Level" }), "5");
  await user.type(screen.getByRole("textbox", { name: "What to do" }), "Ask.");
  await user.type(screen.getByRole("textbox", { name: "What it means" }), "Others run.");
  await user.click(screen.getByRole("button", { name: "Text (TOML)" }));
  const text = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Rule, in TOML" });
  const expected = formatRule({
    ...{ ...NEW_RULE, title: "Stolen", input: "meaning:cpu.steal", unit: "%", about: "Others run." },
    conditions: [{ ...NEW_CONDITION, level: "5", action: "Ask." }],
  });
  expect(text.value).toBe(expected);
  await user.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("no such limit");
  expect(server.asked("PUT /rules/{rule}").map(({ path, body }) => [path, body])).toEqual([
    ["/api/v1/rules/my-rule", { toml: expected }],
  ]);

  await user.clear(text);
  await user.paste(expected.replace("value = 5,", "value = 7,"));
  await waitFor(() => {
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Level" }).value).toBe("7");
  });
  expect(text.value).toContain("value = 7,");
  await user.clear(text);
  await user.paste(expected.replace("limit.warning", "limit.warning and value > 0"));
  await screen.findByText(/that the form cannot show/);
  expect(within(document.body).queryByRole("textbox", { name: "Level" })).toBeNull();
});
