import type { Comparison, PastIncident } from "../../logic/api";
import { madeComparison, madeLedgerLine, madeLedgerPart, madeStory } from "../../logic/comparison_fixture";
import { madeStat } from "../../logic/stat_fixture";
import { address, expect, openPage, screen, test, waitFor, within } from "../../testing";
import type { FakeServer } from "../../testing/server";

const ASKED = "/comparison?host=web1&ago=day&incident=2026-11-21T09:35:00Z/2026-11-21T09:45:00Z&tz=utc";
const START = Date.UTC(2026, 10, 21, 9, 35);

/** Answer what the page asks for besides the comparison. */
function answerSeries(server: FakeServer): void {
  const counts = { unusual: 0, likely: 0, unchanged: 0, appeared: 0, disappeared: 0, insufficient_data: 0, muted: 0 };
  server.on("GET /stats", {
    stats: [madeStat("mpstat_linux", { instance_title: "CPU" }), madeStat("linux_process", { instance_title: "process" })],
  });
  server.on("GET /hosts/{host}/facts", { facts: [], changes: [], known_since: null, read_at: null, n_changes_left_out: 0 });
  server.on("GET /baselines", { baselines: [] });
  server.on("GET /comparison/series", { series: [], n_matched: 0, n_series: 0, offset: 0, counts });
  server.on("GET /comparison/past", { own: null, alike: [], n_looked_at: 0 });
  server.on("GET /comparisons/{id}/past", { own: null, alike: [], n_looked_at: 0 });
}

function answer(server: FakeServer, result: Comparison): void {
  answerSeries(server);
  const lines = [{ progress: { done: 1, total: 2, what: "mpstat_linux of web1" } }, { result }];
  server.send("GET /comparison/stream", lines.map((line) => `${JSON.stringify(line)}\n`).join(""), "application/x-ndjson");
}

const all = (selector: string): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];
const nth = (selector: string, index: number): HTMLElement => {
  const found = all(selector).at(index);
  if (found === undefined) {
    throw new Error(`there is no ${selector} ${String(index)}`);
  }
  return found;
};

async function expectCount(selector: string, n: number): Promise<void> {
  await waitFor(() => {
    expect(all(selector)).toHaveLength(n);
  });
}

const CPU = {
  topic: "cpu",
  title: "CPU",
  sentence: "CPUs waited 34 % of the time (normally 0 to 1 %).",
  processes: [],
  onset_ms: null,
};
const RANKS = [...Array(12).keys()].map((index) => index + 1);
const TWO = madeComparison(14, {
  stories: [madeStory(1, RANKS), madeStory(2, [13, 14], CPU)],
  notes: ["The baseline has only 4 minutes of data; use at least 10."],
  circumstances: [
    {
      kind: "event",
      is_likely_cause: true,
      host: "web1",
      sentence: "Likely cause: deployment “1.4”, 15 s before it began",
      start_ms: START + 12_000 - 15_000,
      end_ms: null,
    },
    {
      kind: "observer",
      is_likely_cause: false,
      host: "web1",
      sentence: "Observer: truss (7) ran for 20 s, from 10 s into the incident on; it slows what it watches",
      start_ms: START + 10_000,
      end_ms: START + 30_000,
      command: "truss",
    },
    {
      kind: "rejected_lines",
      is_likely_cause: false,
      host: "web1",
      sentence: "3 lines of iostat were rejected in this window",
      start_ms: START,
      end_ms: START + 60_000,
      stream_id: 7,
    },
  ],
});

test("the answer is a sentence and cards; a card opens its graph, its processes and the changes behind it", async ({
  server,
}) => {
  answer(server, TWO);
  const user = openPage(ASKED);
  await expectCount(".answer-card", 2);
  expect(nth(".lead", 0).textContent).toBe(TWO.stories?.[0]?.sentence);
  expect(nth(".headline-subject", 0).textContent).toBe("Disk I/Osure");
  expect(screen.getByRole("list", { name: "Notes" }).textContent).toContain("only 4 minutes of data");
  const around = screen.getByRole("list", { name: "Around the incident" });
  const [event, observer] = within(around).getAllByRole("listitem");
  expect(event?.textContent).toBe("09:34:57Likely cause: deployment “1.4”, 15 s before it began");
  expect(observer?.textContent).toContain("09:35:10 to 09:35:30");
  const rejected = within(around)
    .getByRole("link", { name: /^3 lines of iostat/ })
    .getAttribute("href");
  expect(rejected).toMatch(/tab=rejected.*&stream=7/);
  expect(nth(".answer-card", 0).textContent).toContain("since 09:35:12, 12 s into the incident");
  expect(nth(".answer-card", 1).textContent).not.toContain("since");

  // The first card is open.
  const details = screen.getByRole("region", { name: "Disk I/O in detail" });
  within(details).getByRole("link", { name: "dd (29206) new, since 09:35:12" });
  expect(within(details).getByRole("list", { name: "Also seen by" }).textContent).toContain("bo (vmstat)");
  expect(details.querySelector(".sketch-incident")?.getAttribute("d")).toMatch(/^M/);

  // A line of the evidence leads to its group, whatever the filters hide.
  await user.click(screen.getByRole("button", { name: "sure 14" }));
  await user.type(screen.getByLabelText("Filter"), "nothing-like-it");
  await expectCount(".finding", 0);
  await user.click(within(details).getByText("Evidence: 12 changes"));
  await user.click(within(details).getByRole("button", { name: "detail 2" }));
  await expectCount(".finding", 14);
  await waitFor(() => {
    expect(document.activeElement).toBe(nth(".finding", 1));
  });
  expect(nth(".finding", 1).dataset["open"]).toBe("true");

  // By keyboard, another card takes its place.
  nth(".answer-card", 1).focus();
  await user.keyboard("{Enter}");
  expect(nth(".answer-card", 1).getAttribute("aria-expanded")).toBe("true");
  screen.getByRole("region", { name: "CPU in detail" });
  await user.keyboard(" ");
  expect(document.querySelector(".answer-details")).toBeNull();
});

test("a unit opens to its processes, and is open where one of them did it", async ({ server }) => {
  const unit = (name: string) =>
    madeLedgerPart({ name, kind: "unit", command: "", pids: [], is_culprit: false, stat: "linux_unit" });
  const parts = [
    madeLedgerPart({ of_unit: "build.service" }),
    madeLedgerPart({ name: "sh (9)", pids: [9], instance: "9/sh", command: "sh", of_unit: "cron.service", is_culprit: false }),
  ];
  const line = madeLedgerLine({ parts, units: [unit("build.service"), unit("cron.service")] });
  answer(server, { ...TWO, ledger: [line], stories: [madeStory(1, [1], { resource: "cpu", topic: "cpu" })] });
  const user = openPage(ASKED);
  await user.click(await screen.findByText("Who took what"));
  const table = screen.getByRole("table", { name: "Parts of CPU" });
  const names = (): readonly (string | undefined)[] =>
    within(table)
      .getAllByRole("rowheader")
      .map((header) => header.textContent.replace("new", ""));
  const [closed, others] = ["cron.service", "Not seen: processes too short to be sampled, the kernel"];
  expect(names()).toEqual(["build.service", "yes (812)", closed, others]);
  await user.click(within(table).getByRole("button", { name: "build.service", expanded: true }));
  await user.click(within(table).getByRole("button", { name: closed, expanded: false }));
  expect(names()).toEqual(["build.service", closed, "sh (9)", others]);
});

test("chips narrow the list of all changes, and the link says which", async ({ server }) => {
  const groups = TWO.groups.map((group) => (group.rank < 3 ? { ...group, certainty: "likely" as const } : group));
  answer(server, { ...TWO, groups, counts: { ...TWO.counts, insufficient_data: 3 } });
  const user = openPage(ASKED);
  await expectCount(".finding", 14);
  const chips = screen.getByRole("group", { name: "Which series" });
  await user.click(within(chips).getByRole("button", { name: "likely 2" }));
  await expectCount(".finding", 2);
  expect(address()).toContain("show=likely");
  await user.click(within(chips).getByRole("button", { name: "not enough data 3" }));
  expect((await screen.findByRole("heading", { name: "Series without enough data" })).tagName).toBe("H2");
  await user.click(within(chips).getByRole("button", { name: "not enough data 3" }));
  await user.click(within(chips).getByRole("button", { name: "likely 2" }));
  await expectCount(".finding", 14);
  expect(address()).not.toContain("show=");
});

test("the facts of the host that differ are said in the fold of both sides", async ({ server }) => {
  answer(server, TWO);
  const fact = { key: "memory_kb", item: "", label: "Memory", section: "Memory" };
  server.on("GET /hosts/{host}/facts", {
    known_since: "2026-11-20T00:00:00Z",
    read_at: "2026-11-21T10:00:00Z",
    n_changes_left_out: 0,
    facts: [{ ...fact, value: "8388608", text: "8 GiB", since: "2026-11-21T09:30:00Z" }],
    changes: [
      {
        key: fact.key,
        item: fact.item,
        label: fact.label,
        kind: "setting",
        at: "2026-11-21T09:30:00Z",
        not_before: "2026-11-21T09:29:00Z",
        before: "16777216",
        before_text: "16 GiB",
        after: "8388608",
        after_text: "8 GiB",
        text: "Memory: 16 GiB to 8 GiB",
      },
    ],
  });
  const user = openPage(ASKED);
  await user.click(await screen.findByText("1 fact differs"));
  const [, row] = within(screen.getByRole("table", { name: "Facts that differ" })).getAllByRole("row");
  expect(row?.textContent).toBe("Memory16 GiB8 GiB");
});

test("without a clear difference nothing is ticked while series were not judged", async ({ server }) => {
  const verdict = "Nothing stands out: none of 1,310 series changed more than it usually does by an amount that matters.";
  const few = {
    host: "web1",
    stat: "iostat_linux",
    field: "util_pct",
    instance: "sda",
    n_baseline: 1,
    n_incident: 1,
    reason: "few",
  };
  const counts = { appeared: 0, disappeared: 0, insufficient_data: 1, muted: 0 };
  answer(server, madeComparison(0, { verdict, counts, insufficient_data: [few] }));
  openPage(ASKED);
  const region = await screen.findByRole("region", { name: "Verdict" });
  expect(region.textContent).toContain(verdict);
  expect(region.textContent).toContain("Series without enough data were not judged");
  expect(region.dataset["clear"]).toBe("false");
});

test("fifty groups need no request each; filter, order and pins are in the link", async ({ server }) => {
  answer(server, madeComparison(50));
  const user = openPage(ASKED);
  await expectCount(".finding", 50);
  expect(all(".finding .sketch-during")).toHaveLength(50);
  expect(server.asked("GET /comparison/stream")).toHaveLength(1);
  expect(server.asked("GET /comparison/series").length).toBeLessThan(3);

  await user.click(screen.getByText("More filters, and how the graphs are drawn"));
  await user.click(within(screen.getByRole("group", { name: "Subsystems" })).getByRole("button", { name: /^Disk/ }));
  await expectCount(".finding", 7);
  expect(address()).toContain("sub=disk");
  const spikes = within(screen.getByRole("group", { name: "Kinds of change" })).getByRole("button", { name: /^spikes/ });
  await user.click(spikes);
  await screen.findByText(/No finding matches the filters/);
  await user.click(spikes);
  await expectCount(".finding", 7);

  // Pinned by keyboard alone: it is first, whatever the order.
  const last = nth(".finding", -1);
  expect(last.textContent).toContain("usr_44");
  within(last).getByRole("button", { name: /^Pin/ }).focus();
  await user.keyboard("{Enter}");
  await waitFor(() => {
    expect(nth(".finding", 0).textContent).toContain("usr_44");
  });
  await user.click(screen.getByRole("combobox", { name: "Order" }));
  await user.click(await screen.findByRole("option", { name: "by impact" }));
  await waitFor(() => {
    expect(nth(".finding", 1).textContent).toContain("usr_2");
  });
  expect(nth(".finding", 0).textContent).toContain("usr_44");
  expect(address()).toContain("sort=impact");
  expect(address()).toMatch(/pin=/);
});

test("a group opens its instances, its next questions and its numbers", async ({ server }) => {
  answer(server, madeComparison(3));
  const user = openPage(ASKED);
  await expectCount(".finding", 3);
  const [first, second, third] = [nth(".finding", 0), nth(".finding", 1), nth(".finding", 2)];
  for (const one of [first, second, third]) {
    await user.click(within(one).getByRole("button", { name: /^Details of / }));
  }
  await user.click(within(first).getByRole("button", { name: "61 of 64 CPUs" }));
  expect(within(within(first).getByRole("list", { name: "Strongest instances" })).getAllByRole("listitem")).toHaveLength(20);
  within(first).getByRole("link", { name: "60" });
  await user.click(within(second).getByRole("button", { name: "Next questions (1)" }));
  expect(second.textContent).toContain("needs root");
  within(second).getByRole("button", { name: "Copy the command perf top -a" });
  await user.click(within(third).getByRole("button", { name: "Numbers and meaning" }));
  expect(third.textContent).toContain("p95");
});

test("without progress the comparison is made all the same", async ({ server }) => {
  answerSeries(server);
  server.fail("GET /comparison/stream", 503, "database_away", "away");
  server.on("GET /comparison", madeComparison(0));
  openPage(ASKED);
  expect((await screen.findByRole("region", { name: "Verdict" })).textContent).toContain("No unusual change in 1,310 series");
});

const NETWORK = madeLedgerLine({
  resource: "network",
  name: "eth0",
  instance: "eth0",
  unit: "KiB/s",
  capacity: null,
  incident: 12,
  low: 3,
  high: 20,
  outside: 0,
  ratio: 0,
  certainty: "nothing",
  parts: [],
  remainder: null,
});

test("a card says who took what, and opens to all parts, with links and the reason", async ({ server }) => {
  answer(server, madeComparison(1, { ledger: [NETWORK, madeLedgerLine()] }));
  const user = openPage(ASKED);
  await expectCount(".answer-card", 2);
  const [cpu, network] = [nth(".answer-card", 0), nth(".answer-card", 1)];
  expect(cpu.textContent).toBe("CPUsure98 % normally 12 to 19 %yes (812) 170 % of a CPU, 97 % of the risenew");
  expect(network.textContent).toBe("Network eth0as normal12 KiB/s normally 3 to 20 KiB/s");
  expect(nth(".lead", 0).textContent).toContain("yes (812), which is new, used 170 % of a CPU");

  const details = screen.getByRole("region", { name: "CPU in detail" });
  await user.click(within(details).getByText("Who took what"));
  const parts = within(details).getByRole("table", { name: "Parts of CPU" });
  const [, first, rest] = within(parts).getAllByRole("row");
  expect(first?.textContent).toBe("yes (812)new170 % of a CPU0 %+170 %97 % of the rise812");
  expect(rest?.textContent).toBe("Not seen: processes too short to be sampled, the kernel4 % of a CPU1 to 5 %+1 %");
  expect(within(parts).getByRole("link", { name: "812" }).getAttribute("href")).toMatch(
    /^\/hosts\/web1\?.*tab=processes.*command=yes&pid=812/,
  );
  expect(details.textContent).toContain("3 windows of the baseline, 45 s each, and the incident; farthest from their middle: ");
  expect(
    within(details)
      .getByRole("link", { name: /^19 % at / })
      .getAttribute("href"),
  ).toMatch(/^\/hosts\/web1\?/);
  expect(details.textContent).toContain("sure: 3.1 times as far outside its normal range as a normal window goes");

  await user.click(network);
  expect(screen.getByRole("region", { name: "Network eth0 in detail" }).textContent).toContain("No recorded tool shows who");
});

test("cards of several hosts name the host; what is gone is marked", async ({ server }) => {
  const gone = madeLedgerPart({ name: "tar (7)", is_new: false, is_gone: true, baseline: 50, incident: 0, change: -50 });
  const ledger = [madeLedgerLine(), madeLedgerLine({ host: "web2", outside: -20, parts: [gone] })];
  answer(server, madeComparison(1, { ledger, hosts: ["web1", "web2"] }));
  openPage(ASKED);
  await expectCount(".answer-card", 2);
  expect(nth(".answer-card", 0).textContent).toContain("CPU on web1");
  expect(nth(".answer-card", 1).textContent).toContain("CPU on web2");
  expect(nth(".answer-card", 1).textContent).toContain("tar (7) 50 % of a CPU in the baseline, 97 % of the fallgone");
});

const PAST: PastIncident = {
  id: 4,
  hosts: ["db1"],
  start: "2026-03-12T07:00:00Z",
  end: "2026-03-12T07:10:00Z",
  title: "Slow",
  sentence: "dd wrote 80 MiB/s.",
  note: "",
  cause: "backup ran late",
  remedy: "moved to 03:00",
  named_by: "kim",
  named_at: "2026-03-12T08:00:00Z",
  is_off: false,
  origin: "",
  comparison: 9,
};

test("below the sentence stands what the incident looks like, and its own cause can be named", async ({ server }) => {
  answer(server, TWO);
  const unnamed = { ...PAST, id: 5, title: "Slower", cause: "", remedy: "", comparison: null };
  const own = { ...PAST, id: 6, cause: "", remedy: "", comparison: null };
  const alike = [
    { likeness: 0.957, incident: unnamed },
    { likeness: 0.913, incident: PAST },
  ];
  server.on("GET /comparison/past", { own, alike, n_looked_at: 12 });
  const sent: unknown[] = [];
  server.on("PATCH /past-incidents/{id}", ({ path, body }) => {
    sent.push([path, body]);
    return { ...own, cause: "a leak" };
  });
  const user = openPage(ASKED);
  const past = await screen.findByRole("region", { name: "Past incidents" });
  const line = await within(past).findByText(/^Looks like/);
  // One with a cause says what to do, though another is nearer.
  expect(line.textContent).toBe("Looks like 2026-03-12 on db1 (91 % alike): cause “backup ran late”, helped “moved to 03:00”");
  await user.click(line);
  const items = within(past).getAllByRole("listitem");
  expect(items.map((item) => item.textContent)).toEqual([
    "2026-03-12 on db1 (96 % alike): Slower; no cause is nameddd wrote 80 MiB/s.",
    "2026-03-12 on db1 (91 % alike): cause “backup ran late”, helped “moved to 03:00”dd wrote 80 MiB/s.",
  ]);
  const links = within(past).getAllByRole("link");
  expect(links[0]?.getAttribute("href")).toMatch(/^\/hosts\/db1\?/);
  expect(links[1]?.getAttribute("href")).toMatch(/^\/comparison\?.*9/);

  await user.click(within(past).getByRole("button", { name: "Name the cause…" }));
  const dialog = await screen.findByRole("dialog", { name: "Cause of this incident" });
  await user.type(within(dialog).getByLabelText("Cause"), "a leak");
  await user.click(within(dialog).getByRole("button", { name: "Save" }));
  await waitFor(() => {
    expect(sent).toEqual([["/api/v1/past-incidents/6", { cause: "a leak", remedy: "" }]]);
  });
});

test("an incident that is like no other says so; without any past one nothing is said", async ({ server }) => {
  answer(server, TWO);
  server.on("GET /comparison/past", { own: null, alike: [], n_looked_at: 12 });
  openPage(ASKED);
  const past = await screen.findByRole("region", { name: "Past incidents" });
  expect(past.textContent).toBe("Unlike all 12 past incidents.");
});

test("the cause of an incident stands instead of what it is unlike", async ({ server }) => {
  answer(server, TWO);
  server.on("GET /comparison/past", { own: PAST, alike: [], n_looked_at: 12 });
  openPage(ASKED);
  const past = await screen.findByRole("region", { name: "Past incidents" });
  expect(past.textContent).toBe("Cause: backup ran late · What helped: moved to 03:00Change…");
});
