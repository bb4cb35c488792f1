import type { Fleet, FleetHost } from "../../logic/api";
import { address, expect, openPage, screen, test, waitFor, within } from "../../testing";
import { madeBaseline } from "../../testing/baseline";
import { madeFleetHost } from "../../testing/host";
import type { FakeServer } from "../../testing/server";

const END = Date.UTC(2026, 10, 23, 7, 0);

function hostOf(name: string, level = 0, change: Partial<FleetHost> = {}): FleetHost {
  const isJudged = change.verdict === undefined;
  return madeFleetHost(name, {
    last_seen_ms: END,
    last_sample_ms: END,
    n_streams_live: 4,
    n_streams: 4,
    change_ratio: isJudged ? level * 5 : null,
    level,
    sentence: level > 0 ? "disk vda busy 98 %, normally 0 to 6 %" : "as in quiet",
    baseline_id: isJudged ? 1 : null,
    baseline_name: isJudged ? "quiet" : "",
    ribbon: (isJudged ? "0" : "?").repeat(50) + (isJudged ? String(level) : "?").repeat(10),
    lines: [
      {
        resource: "disk",
        label: "vda busy",
        unit: "%",
        now: level > 0 ? 98 : 3,
        low: isJudged ? 0 : null,
        high: isJudged ? 6 : null,
        top: 100,
        heights: "2".repeat(50) + (level > 0 ? "y" : "2").repeat(10),
        level,
      },
    ],
    ...change,
  });
}

function fleetOf(hosts: FleetHost[]): Fleet {
  return { end_ms: END, n_minutes: 60, n_minutes_read: 60, n_recent_minutes: 5, hosts };
}

const SOME = fleetOf([
  hostOf("calm1"),
  hostOf("culprit", 3, { groups: ["Web servers"] }),
  hostOf("unknown", 0, { verdict: "no_baseline" }),
  hostOf("odd", 1),
  hostOf("tape", 0, { state: "recorded", verdict: "no_baseline" }),
]);

const names = (): readonly string[] => [...document.querySelectorAll(".fleet-host a")].map(({ textContent }) => textContent);
const rowOf = (name: string): HTMLElement => {
  const row = screen.getByRole("link", { name }).closest<HTMLElement>('[role="row"]');
  if (row === null) {
    throw new Error(`${name} has no row`);
  }
  return row;
};

async function openFleet(server: FakeServer, search = "") {
  server.on("GET /fleet", SOME);
  const user = openPage(`/hosts${search}`);
  await screen.findByRole("link", { name: "culprit" });
  return user;
}

test("the culprit comes first, and no host without a baseline looks normal", async ({ server }) => {
  const user = await openFleet(server);
  expect(names()).toEqual(["culprit", "odd", "unknown", "calm1"]);
  const culprit = rowOf("culprit");
  expect(culprit.textContent).toContain("disk vda busy 98 %, normally 0 to 6 %");
  within(culprit).getByRole("img", { name: /10 min very unusual/ });
  const unknown = rowOf("unknown");
  expect(unknown.textContent).toContain("no baseline");
  expect(unknown.querySelector('[data-cell="0"]')).toBeNull();
  server.on("GET /baselines", { baselines: [] });
  await user.click(within(unknown).getByRole("button", { name: "Save a normal hour as baseline of unknown" }));
  const dialog = await screen.findByRole("dialog", { name: "Save as baseline" });
  expect(dialog.textContent).toContain("unknown");
  // A user in a hurry saves at once, and the page confirms it.
  const name = within(dialog).getByRole<HTMLInputElement>("textbox", { name: "Name" }).value;
  expect(name).toMatch(/^Normal of unknown, 20\d\d-/);
  server.on("POST /baselines", madeBaseline({ name }));
  await user.click(within(dialog).getByRole("button", { name: "Save" }));
  expect((await screen.findByRole("status")).textContent).toContain(`Saved the baseline ${name}`);
});

test("a host with a red rule stands before all others, and its mark leads to what the rule says", async ({ server }) => {
  server.on("GET /watch/open", {
    n_waiting: 2,
    worst: "red",
    hosts: [
      { host: "calm1", colour: "red", n: 2 },
      { host: "unknown", colour: "amber", n: 1 },
    ],
    behind: "judged 640 of 1,000 hosts in the last minute",
  });
  const user = await openFleet(server);
  await waitFor(() => {
    expect(names()).toEqual(["calm1", "culprit", "odd", "unknown"]);
  });
  expect([...document.querySelectorAll('.fleet-row[data-on="red"]')]).toEqual([rowOf("calm1")]);
  screen.getByText(/rules are behind: judged 640 of 1,000 hosts in the last minute$/);
  const mark = within(rowOf("calm1")).getByRole("link", { name: /^critical on calm1:/ });
  expect(mark.getAttribute("href")).toMatch(/\/incidents\?.*host=calm1/);
  await user.click(screen.getByRole("button", { name: "State" }));
  expect(names()).toEqual(["calm1", "unknown", "culprit", "odd"]);
});

test("hosts are searched, sorted and unfolded, and the link keeps it", async ({ server }) => {
  const user = await openFleet(server);
  await user.click(screen.getByRole("button", { name: "Host" }));
  expect(names()).toEqual(["calm1", "culprit", "odd", "unknown"]);
  await user.click(screen.getByRole("button", { name: /Recorded hosts \(1\)/ }));
  expect(names()).toEqual(["calm1", "culprit", "odd", "unknown", "tape"]);
  expect(address()).toMatch(/sort=name&recorded=1/);
  rowOf("calm1").focus();
  await user.keyboard("/group:web");
  await waitFor(() => {
    expect(names()).toEqual(["culprit"]);
  });
  await user.keyboard("{Escape}");
  await waitFor(() => {
    expect(names()).toHaveLength(5);
  });
});

test("rows are selected and opened by keyboard, and lead to an overlay, a comparison and a baseline", async ({ server }) => {
  const user = await openFleet(server);
  rowOf("culprit").focus();
  await user.keyboard(" {ArrowDown} ");
  expect(document.activeElement).toBe(rowOf("odd"));
  const bar = screen.getByRole("region", { name: "Selected hosts" });
  expect(bar.textContent).toContain("2 hosts selected");
  expect(within(bar).getByRole("link", { name: "Overlay" }).getAttribute("href")).toBe("/graph?hosts=culprit,odd");
  expect(within(bar).getByRole("link", { name: "Compare" }).getAttribute("href")).toMatch(/host=culprit&host=odd.*incident=/);
  server.on("GET /baselines", { baselines: [] });
  await user.click(within(bar).getByRole("button", { name: /Save as baseline/ }));
  const dialog = await screen.findByRole("dialog");
  expect(dialog.textContent).toContain("culprit, odd");
  await user.keyboard("{Escape}");
  await waitFor(() => {
    expect(screen.queryByRole("dialog")).toBeNull();
  });
  server.on("GET /stats", { stats: [] });
  server.fail("GET /hosts/{host}", 404, "not_found", "no host 'odd'");
  rowOf("odd").focus();
  await user.keyboard("{Enter}");
  await waitFor(() => {
    expect(address()).toMatch(/^\/hosts\/odd/);
  });
});

test("a moment of the past is asked for once and stands in the link", async ({ server }) => {
  const user = await openFleet(server, "?at=2026-11-23T06:59:00Z&tz=utc");
  await screen.findByText(/at 2026-11-23 06:59 UTC/);
  const link = screen.getByRole("link", { name: "culprit" });
  expect(link.getAttribute("href")).toContain("from=2026-11-23T05:59:00Z&to=2026-11-23T06:59:00Z");
  expect(server.asked("GET /fleet").map(({ search }) => search.get("at"))).toEqual(["2026-11-23T06:59:00Z"]);
  await user.click(screen.getByRole("button", { name: "Now" }));
  expect(address()).not.toContain("at=");
});

test("the kiosk has no header and no tools, and Escape leaves it", async ({ server }) => {
  const user = await openFleet(server, "?kiosk");
  screen.getByRole("heading", { name: "5 hosts, 2 unusual" });
  expect(screen.queryByRole("navigation")).toBeNull();
  expect(screen.queryByRole("checkbox")).toBeNull();
  await user.keyboard("{Escape}");
  await screen.findByRole("navigation");
});

test("without a host the page says what to do next", async ({ server }) => {
  server.on("GET /fleet", fleetOf([]));
  openPage("/hosts");
  await screen.findByText("No hosts yet");
  screen.getByRole("button", { name: "Create install command" });
});

test("an error is shown with its request id, and the request can be repeated", async ({ server }) => {
  server.fail("GET /fleet", 503, "database_away", "The database does not answer");
  const user = openPage("/hosts");
  await within(await screen.findByRole("alert")).findByText("The database does not answer");
  screen.getByText("r-123");
  server.on("GET /fleet", SOME);
  await user.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByRole("link", { name: "culprit" });
});
