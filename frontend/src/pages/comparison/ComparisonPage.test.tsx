import type { Comparison } from "../../logic/api";
import { madeComparison, madeStory } from "../../logic/comparison_fixture";
import { madeStat } from "../../logic/stat_fixture";
import { address, expect, openPage, screen, test, waitFor, within } from "../../testing";
import type { FakeServer } from "../../testing/server";

const ASKED = "/comparison?host=web1&ago=day&incident=2026-11-21T09:35:00Z/2026-11-21T09:45:00Z&tz=utc";
const START = Date.UTC(2026, 10, 21, 9, 35);

/** Answer what the page asks for besides the comparison. */
function answerSeries(server: FakeServer): void {
  const counts = { unusual: 0, likely: 0, unchanged: 0, appeared: 0, disappeared: 0, insufficient_data: 0, muted: 0 };
  server.on("GET /stats", { stats: [madeStat("mpstat_linux", { instance_title: "CPU" })] });
  server.on("GET /baselines", { baselines: [] });
  server.on("GET /comparison/series", { series: [], n_matched: 0, n_series: 0, offset: 0, counts });
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
      host: "web1",
      sentence: "deployed 1.4, 15 s before it began",
      start_ms: START + 12_000 - 15_000,
      end_ms: null,
    },
    {
      kind: "observer",
      host: "web1",
      sentence: "Observer: truss (7) ran for 20 s, from 10 s into the incident on; it slows what it watches",
      start_ms: START + 10_000,
      end_ms: START + 30_000,
      command: "truss",
    },
    {
      kind: "rejected_lines",
      host: "web1",
      sentence: "3 lines of iostat were rejected in this window",
      start_ms: START,
      end_ms: START + 60_000,
      stream_id: 7,
    },
  ],
});

test("two stories are read and opened by keyboard alone", async ({ server }) => {
  answer(server, TWO);
  const user = openPage(ASKED);
  await expectCount(".story", 2);
  expect(nth(".lead", 0).textContent).toBe(TWO.stories?.[0]?.sentence);
  expect(screen.getByRole("list", { name: "Notes" }).textContent).toContain("only 4 minutes of data");
  const around = screen.getByRole("list", { name: "Around the incident" });
  const [event, observer] = within(around).getAllByRole("listitem");
  expect(event?.textContent).toBe("09:34:57deployed 1.4, 15 s before it began");
  expect(observer?.textContent).toContain("09:35:10 to 09:35:30");
  const rejected = within(around)
    .getByRole("link", { name: /^3 lines of iostat/ })
    .getAttribute("href");
  expect(rejected).toMatch(/tab=rejected.*&stream=7/);
  const [first, second] = [nth(".story", 0), nth(".story", 1)];
  expect(first.textContent).toContain("began 09:35:12, 12 s into the incident");
  within(first).getByRole("link", { name: "dd (29206) new, since 09:35:12" });
  expect(within(first).getByRole("list", { name: "Also seen by" }).textContent).toContain("bo (vmstat)");
  expect(first.querySelector(".sketch-incident")?.getAttribute("d")).toMatch(/^M/);
  expect(second.textContent).not.toContain("began");

  const head = within(first).getByRole("button", { name: "Disk I/O" });
  head.focus();
  await user.keyboard("{Enter}");
  expect(head.getAttribute("aria-expanded")).toBe("true");
  await expectCount(".finding", 10);
  // A line of the evidence leads to its group.
  within(within(first).getByRole("list", { name: "Evidence" }))
    .getByRole("link", { name: "detail 2" })
    .focus();
  await user.keyboard("{Enter}");
  expect(document.activeElement).toBe(nth(".finding", 1));
  within(first).getByRole("button", { name: "Show all 12 changes" }).focus();
  await user.keyboard("{Enter}");
  await expectCount(".finding", 12);
  head.focus();
  await user.keyboard(" ");
  await expectCount(".finding", 0);
});

test("all changes are the other list, and the link says which", async ({ server }) => {
  answer(server, TWO);
  const user = openPage(ASKED);
  await expectCount(".story", 2);
  await user.click(screen.getByRole("radio", { name: "All changes" }));
  await expectCount(".finding", 14);
  expect(address()).toContain("list=changes");
  await user.click(screen.getByRole("radio", { name: "Stories" }));
  await expectCount(".story", 2);
  expect(address()).not.toContain("list=");
});

test("an order in the link shows all changes", async ({ server }) => {
  answer(server, TWO);
  openPage(`${ASKED}&sort=name`);
  await expectCount(".finding", 14);
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
  expect(region.textContent).toContain("Series without enough samples were not judged");
  expect(region.dataset["clear"]).toBe("false");
});

test("fifty groups need no request each; filter, order and pins are in the link", async ({ server }) => {
  answer(server, madeComparison(50));
  const user = openPage(ASKED);
  await expectCount(".finding", 50);
  expect(all(".finding .sketch-incident")).toHaveLength(50);
  expect(server.asked("GET /comparison/stream")).toHaveLength(1);
  expect(server.asked("GET /comparison/series").length).toBeLessThan(3);

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
