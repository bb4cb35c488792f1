import type { HostStatus, SubsystemStatus } from "../../logic/api";
import { expect, openPage, screen, test, within } from "../../testing";
import { madeCell } from "../../logic/use_fixture";
import { madeHost } from "../../testing/host";

function row(subsystem: string, changes: Partial<SubsystemStatus>): SubsystemStatus {
  const none = {
    colour: null,
    rule: null,
    title: "",
    explanation: "",
    action: "",
    instances: [],
    n_rules: 0,
    needs: "",
    se: null,
  };
  return { subsystem, ...none, ...changes };
}

const STATUS: HostStatus = {
  host: "sun1",
  at: "2026-11-21T10:01:00Z",
  colour: "red",
  se: { colour: "amber", text: "" },
  rows: [
    row("disk", {
      colour: "white",
      rule: "disk-slow",
      title: "Slow disks",
      explanation: "The disk is hardly used.",
      action: "Nothing to do.",
      n_rules: 2,
    }),
    row("mutex", {
      colour: "red",
      rule: "mutex",
      title: "Kernel mutexes",
      explanation: "The CPU finds more mutexes taken.",
      action: "Find the lock.",
      n_rules: 1,
      instances: [
        { name: "9", colour: "red" },
        { name: "16", colour: "green" },
      ],
      se: { colour: "red", text: "MP Kernel overloaded" },
    }),
    row("dnlc", { needs: "kstat_solaris.value" }),
  ],
};

test("the worst cell of the matrix decides where it is worse than all rules", async ({ server }) => {
  server.on("GET /stats", { stats: [] });
  server.on("GET /hosts/{host}", { host: madeHost("sun1"), streams: [], n_old_streams: 0 });
  server.on("GET /hosts/{host}/use", {
    host: "sun1",
    start: "2026-11-21T09:56:00Z",
    end: "2026-11-21T10:01:00Z",
    rows: [
      {
        resource: "cpu",
        title: "CPUs",
        limits: "",
        cells: [madeCell("utilisation", "warning"), madeCell("saturation", "critical")],
      },
    ],
    n_units: 0,
  });
  server.on("GET /hosts/{host}/status", {
    ...STATUS,
    colour: "green",
    se: null,
    rows: [row("cpu", { colour: "green", rule: "cpu" })],
  });
  openPage("/hosts/sun1?tab=use");
  const table = await screen.findByRole("table", { name: "Status by subsystem" });
  expect(await within(table).findByText("CPUs: saturation is critical, in the table below")).toBeDefined();
  expect(within(table).getByRole("row", { name: /^Overall/ }).textContent).toContain("critical");
});

test("each subsystem says its state, and what to do where it needs attention", async ({ server }) => {
  server.on("GET /stats", { stats: [] });
  server.on("GET /hosts/{host}", { host: madeHost("sun1"), streams: [], n_old_streams: 0 });
  server.on("GET /hosts/{host}/use", {
    host: "sun1",
    start: "2026-11-21T09:56:00Z",
    end: "2026-11-21T10:01:00Z",
    rows: [],
    n_units: 0,
  });
  server.on("GET /hosts/{host}/status", STATUS);
  openPage("/hosts/sun1?tab=use");
  const table = await screen.findByRole("table", { name: "Status by subsystem" });
  expect(within(table).getByRole("row", { name: /^Overall/ }).textContent).toMatch(/critical.*live_test\.se.*amber/);
  const mutex = within(table).getByRole("row", { name: /^Kernel mutexes/ });
  expect(mutex.textContent).toContain("Find the lock.");
  expect(mutex.textContent).toContain("red MP Kernel overloaded");
  // The CPU that is fine is only counted.
  expect(mutex.textContent).toMatch(/9of 2/);
  expect(within(mutex).getByRole("link", { name: "Kernel mutexes" }).getAttribute("href")).toContain("/watch/rules/mutex");
  const disk = within(table).getByRole("row", { name: /^Disks/ });
  expect(disk.textContent).toContain("hardly used");
  expect(disk.textContent).not.toContain("Nothing to do");
  expect(within(table).getByRole("row", { name: /DNLC/ }).textContent).toContain("a rule needs kstat_solaris.value");
});
