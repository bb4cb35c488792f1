import type { EpisodeInfo, FleetUseRow } from "../../logic/api";
import { expect, openPage, screen, test, within } from "../../testing";
import { madeWatch } from "../../testing/watch";

const RESOURCES = ["cpu", "memory", "disk", "network", "swap", "filesystem", "locks", "files"];

function useOf(host: string, states: Readonly<Record<string, FleetUseRow["state"]>>, state: FleetUseRow["state"]): FleetUseRow {
  const cells = RESOURCES.map((resource): FleetUseRow["cells"][number] => {
    const own = states[resource];
    return {
      resource,
      state: own ?? "not_recorded",
      kind: own === undefined ? null : "utilisation",
      text: own === undefined ? "" : "97 %",
      n_recorded: own === undefined ? 0 : 2,
      n_questions: 3,
    };
  });
  return { host, state, cells };
}

test("the use of all hosts shows the worst cell of each resource, and leads to the host", async ({ server }) => {
  server.on("GET /watch", madeWatch());
  server.on("GET /use", {
    start: "2026-11-23T06:59:00Z",
    end: "2026-11-23T07:00:00Z",
    resources: Object.fromEntries(RESOURCES.map((resource) => [resource, resource])),
    hosts: [
      useOf("db1", { cpu: "critical", disk: "warning", memory: "fine" }, "critical"),
      useOf("web1", { cpu: "fine", filesystem: "no_limit" }, "fine"),
    ],
  });
  const user = openPage("/rules?tab=use");
  const table = await screen.findByRole("table", { name: "Utilisation, saturation and errors of all hosts" });
  screen.getByText(/1 of 2 hosts critical, 0 with a warning/);
  const cells = within(within(table).getByRole("row", { name: /^db1/ })).getAllByRole("cell");
  expect(cells[0]?.textContent).toContain("97 %critical · utilisation · 2 of 3 recorded");
  expect(cells[3]?.textContent).toBe("not recorded");
  // Green is for what was measured.
  expect(table.querySelectorAll('[data-state="fine"]')).toHaveLength(2);
  expect(table.querySelectorAll('[data-state="not_recorded"]')).toHaveLength(11);
  await user.type(screen.getByRole("textbox", { name: "Filter hosts" }), "WEB1");
  expect(within(table).getAllByRole("row")).toHaveLength(2);
  expect(within(table).getByRole("link", { name: "web1" }).getAttribute("href")).toMatch(/\/hosts\/web1\?.*tab=use/);
});

const EPISODE: EpisodeInfo = {
  id: 999_999,
  source: "comparison",
  source_version: 1,
  title: "Unusual: disk I/O",
  host: "web1",
  instance: "disk",
  start: "2026-11-23T06:30:00Z",
  last: "2026-11-23T06:40:00Z",
  ended_at: null,
  ended_by: null,
  colour: "red",
  sentence: "sdb was busy 98 % of the time (normally 0 to 6 %).",
  action: "Open the host at this time.",
  saw: [{ name: "iostat_linux util_pct sdb", value: 98, unit: "%", text: "98 %", at: "2026-11-23T06:30:00Z" }],
  acknowledged_at: null,
  acknowledged_by: "",
  note: "",
  exclusion_id: null,
  evidence: [
    { id: 41, command: "ss -s", tool: "" },
    { id: 42, command: "perf stat -a sleep 10", tool: "perf" },
  ],
};

test("an unusual time leads to the host with its series as a panel, and has no rule", async ({ server }) => {
  const { source, title, host, colour, start, last, sentence, action } = EPISODE;
  const entry = { source, title, of: "", host, colour, since: start, last, n_instances: 1, sentence, action };
  server.on("GET /watch", madeWatch([{ ...entry, episodes: [EPISODE], is_acknowledged: false, mute: null }]));
  server.on("GET /incidents", { n_total: 0, incidents: [] });
  server.on("GET /hosts", { hosts: [] });
  openPage("/watch");
  const row = (await screen.findByRole("link", { name: "web1" })).closest("tr");
  expect(row?.textContent).toContain("sdb was busy 98 % of the time");
  const link = screen.getByRole("link", { name: "Unusual: disk I/O" }).getAttribute("href");
  expect(link).toMatch(/^\/hosts\/web1\?.*mark=2026-11-23T06:30/);
  expect(link).toMatch(/panel=iostat_linux\.util_pct/);
  expect(row?.textContent).toContain("Taken as it began: ss -s, perf stat -a sleep 10");
  expect(screen.getByRole("link", { name: "perf stat -a sleep 10" }).getAttribute("href")).toBe("/artefacts/42");
});
