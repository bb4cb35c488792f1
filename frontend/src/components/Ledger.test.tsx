import type { LedgerLine } from "../logic/api";
import { madeComparison, madeLedgerLine, madeLedgerPart } from "../logic/comparison_fixture";
import { madeStat } from "../logic/stat_fixture";
import { expect, openPage, screen, test, within } from "../testing";
import type { FakeServer } from "../testing/server";

const ASKED = "/comparison?host=web1&ago=day&incident=2026-11-21T09:35:00Z/2026-11-21T09:45:00Z&tz=utc";
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

function answer(server: FakeServer, ledger: LedgerLine[], hosts = ["web1"]): void {
  const counts = { unusual: 0, likely: 0, unchanged: 0, appeared: 0, disappeared: 0 };
  server.on("GET /stats", { stats: [madeStat("linux_process", { instance_title: "process" })] });
  server.on("GET /baselines", { baselines: [] });
  server.on("GET /comparison/series", {
    series: [],
    n_matched: 0,
    n_series: 0,
    offset: 0,
    counts: { ...counts, insufficient_data: 0, muted: 0 },
  });
  const result = madeComparison(1, { ledger, hosts });
  server.send("GET /comparison/stream", `${JSON.stringify({ result })}\n`, "application/x-ndjson");
}

test("a row says who took what; by keyboard it opens to all parts, with links and the reason", async ({ server }) => {
  answer(server, [NETWORK, madeLedgerLine()]);
  const user = openPage(ASKED);
  const table = await screen.findByRole("table", { name: "Who took what" });
  const [, cpu, network] = within(table).getAllByRole("row");
  expect(cpu?.textContent).toBe("CPU 98 %12 to 19 %yes (812) 170 % of a CPU, 97 % of the risenew sure");
  expect(network?.textContent).toBe("Network eth012 KiB/s3 to 20 KiB/sas normal");
  expect(network?.dataset["certainty"]).toBe("nothing");

  const toggle = within(table).getByRole("button", { name: "CPU" });
  expect(toggle.getAttribute("aria-expanded")).toBe("false");
  toggle.focus();
  await user.keyboard("{Enter}");
  expect(toggle.getAttribute("aria-expanded")).toBe("true");
  const parts = within(table).getByRole("table", { name: "Parts of CPU" });
  const [, first, rest] = within(parts).getAllByRole("row");
  expect(first?.textContent).toBe("yes (812)new170 % of a CPU0 %+170 %97 % of the rise812");
  expect(rest?.textContent).toBe("Not seen: processes too short to be sampled, the kernel4 % of a CPU1 to 5 %+1 %");
  expect(within(parts).getByRole("link", { name: "812" }).getAttribute("href")).toMatch(
    /^\/hosts\/web1\?.*tab=processes.*command=yes&pid=812/,
  );
  expect(table.textContent).toContain("3 windows of the baseline, 45 s each, and the incident; farthest from their middle: ");
  expect(
    within(table)
      .getByRole("link", { name: /^19 % at / })
      .getAttribute("href"),
  ).toMatch(/^\/hosts\/web1\?/);
  expect(table.textContent).toContain("sure: 3.1 times as far outside its normal range as a normal window goes");
  await user.keyboard(" ");
  expect(within(table).queryByRole("table")).toBeNull();

  await user.click(within(table).getByRole("button", { name: "Network eth0" }));
  expect(table.textContent).toContain("No recorded tool shows who");
});

test("each of several hosts has its table; what is gone is marked", async ({ server }) => {
  const gone = madeLedgerPart({ name: "tar (7)", is_new: false, is_gone: true, baseline: 50, incident: 0, change: -50 });
  answer(
    server,
    [madeLedgerLine(), madeLedgerLine({ host: "web2", outside: -20, parts: [gone], note: "whose I/O is unknown" })],
    ["web1", "web2"],
  );
  openPage(ASKED);
  await screen.findByRole("table", { name: "Who took what on web1" });
  const second = screen.getByRole("table", { name: "Who took what on web2" });
  expect(within(second).getAllByRole("row")[1]?.textContent).toContain(
    "tar (7) 50 % of a CPU in the baseline, 97 % of the fallgone whose I/O is unknown",
  );
});

test("a comparison without a ledger shows none", async ({ server }) => {
  answer(server, []);
  openPage(ASKED);
  await screen.findByRole("heading", { name: "Changes on web1" });
  expect(document.querySelector(".ledger")).toBeNull();
});
