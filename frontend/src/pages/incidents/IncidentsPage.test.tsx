import type { EpisodeInfo, IncidentInfo } from "../../logic/api";
import { expect, openPage, screen, test, waitFor, within } from "../../testing";
import { madeWatch } from "../../testing/watch";

const NONE = { episode: null, comparison: null, event: null, report: null } as const;
const EPISODE: EpisodeInfo = {
  id: 7,
  source: "mutex",
  source_version: 1,
  title: "Kernel mutexes",
  host: "db1",
  instance: "1",
  start: "2026-11-23T06:30:00Z",
  last: "2026-11-23T06:40:00Z",
  ended_at: "2026-11-23T06:41:00Z",
  ended_by: "fine",
  colour: "red",
  sentence: "The CPU spins.",
  action: "Find the lock.",
  saw: [],
  acknowledged_at: null,
  acknowledged_by: "",
  note: "",
  exclusion_id: null,
  evidence: [],
};
const INCIDENTS: readonly IncidentInfo[] = [
  {
    ...NONE,
    kind: "report",
    at: "2026-11-23T08:00:00Z",
    report: {
      id: 3,
      title: "Web shop slow",
      is_template: false,
      hosts: ["web1", "db1", "db2", "db3"],
      start: "2026-11-23T06:30:00Z",
      end: "2026-11-23T07:00:00Z",
      author: "anna",
      revision: 1,
      created_at: "2026-11-23T08:00:00Z",
      updated_at: "2026-11-23T08:00:00Z",
      updated_by: "anna",
      n_notes: 2,
    },
  },
  {
    ...NONE,
    kind: "event",
    at: "2026-11-23T07:00:00Z",
    event: {
      at: "2026-11-23T07:00:00Z",
      not_before: null,
      kind: "deployment",
      text: "deployed 1.4",
      end: null,
      tags: ["shop"],
      hosts: null,
      source: "user",
      author: "kim",
      id: 5,
      artefact: null,
      effect: null,
      verdict: { verdict: "worse", sentence: "dd wrote 80 MiB/s.", judged_at: "2026-11-23T07:15:20Z" },
    },
  },
  { ...NONE, kind: "alert", at: EPISODE.start, episode: EPISODE },
];

test("everything about incidents is one list, narrowed by kind and host", async ({ server }) => {
  const asked: string[] = [];
  server.on("GET /watch", madeWatch());
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /rules", { rules: [] });
  server.on("GET /incidents", ({ search }) => {
    asked.push(search.toString());
    return { n_total: 120, incidents: [...INCIDENTS] };
  });
  const user = openPage("/incidents?tz=utc");
  const table = await screen.findByRole("table", { name: "Incidents by time" });
  const rows = within(table).getAllByRole("row").slice(1);
  expect(rows.map((row) => row.textContent)).toEqual([
    expect.stringContaining("Web shop slow2 notes · about 30 min"),
    expect.stringContaining("deployed 1.4 #shopWorse dd wrote 80 MiB/s."),
    expect.stringContaining("10 min, recovered"),
  ]);
  expect(rows[0]?.textContent).toContain("web1, db1, db2 and 1 more");
  expect(rows[1]?.textContent).toContain("all hosts");
  expect(within(table).getByRole("link", { name: "Web shop slow" }).getAttribute("href")).toMatch(/^\/reports\/3/);
  await user.click(screen.getByRole("button", { name: "Older" }));
  await user.click(screen.getByRole("radio", { name: "Alerts" }));
  await screen.findByRole("combobox", { name: "Rule" });
  expect(asked).toEqual([
    "offset=0&limit=50&lasting=false",
    "offset=50&limit=50&lasting=false",
    "offset=0&limit=50&lasting=false&kind=alert",
  ]);
});

test("links to the pages that were there before lead to the list", async ({ server }) => {
  server.on("GET /watch", madeWatch());
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /rules", { rules: [] });
  server.on("GET /incidents", { n_total: 0, incidents: [] });
  openPage("/watch?tab=history&host=db1&rule=mutex");
  expect(await screen.findByRole<HTMLInputElement>("radio", { name: "Alerts" })).toHaveProperty("checked", true);
  expect(screen.getByRole<HTMLInputElement>("combobox", { name: "Rule" }).value).toBe("mutex");
});

test("patterns are listed, and can be switched off", async ({ server }) => {
  server.on("GET /watch", madeWatch());
  server.on("GET /hosts", { hosts: [] });
  const pattern = {
    id: 4,
    hosts: ["db1"],
    start: "2026-03-12T07:00:00Z",
    end: "2026-03-12T07:10:00Z",
    title: "Slow",
    sentence: "",
    note: "",
    cause: "backup ran late",
    remedy: "moved to 03:00",
    named_by: "kim",
    named_at: "2026-03-12T08:00:00Z",
    is_off: false,
    origin: "from bundle 12345678 of lab",
    comparison: 9,
  };
  const sent: unknown[] = [];
  server.on("GET /past-incidents", () => ({ n_total: 1, incidents: [{ ...pattern, is_off: sent.length > 0 }] }));
  server.on("PATCH /past-incidents/{id}", ({ path, body }) => {
    sent.push([path, body]);
    return { ...pattern, is_off: true };
  });
  const user = openPage("/incidents?tz=utc&show=pattern");
  const table = await screen.findByRole("table", { name: "Patterns" });
  const [, row] = within(table).getAllByRole("row");
  expect(row?.textContent).toContain("db1backup ran latefrom bundle 12345678 of labmoved to 03:00kim");
  const use = within(table).getByRole<HTMLInputElement>("switch", { name: "Use “backup ran late”" });
  expect(use.checked).toBe(true);
  await user.click(use);
  await waitFor(() => {
    expect(within(table).getByRole<HTMLInputElement>("switch").checked).toBe(false);
  });
  expect(sent).toEqual([["/api/v1/past-incidents/4", { is_off: true }]]);
});

test("without patterns the page says how one is made", async ({ server }) => {
  server.on("GET /watch", madeWatch());
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /past-incidents", { n_total: 0, incidents: [] });
  openPage("/incidents?tz=utc&show=pattern");
  await screen.findByText("No patterns yet");
  screen.getByText(/Save a comparison and name its cause/);
});
