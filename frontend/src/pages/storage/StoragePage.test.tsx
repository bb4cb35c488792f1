import type { RetentionRule, StorageInfo } from "../../logic/api";
import { expect, openPage, screen, test, waitFor, within } from "../../testing";
import type { FakeServer } from "../../testing/server";

const STORAGE: StorageInfo = {
  kind: "timescaledb-community",
  measured_at: "2026-11-23T07:00:00Z",
  database_bytes: 9e9,
  disk: { free_bytes: 5e9, total_bytes: 2e10 },
  growth_bytes_per_day: 2e9,
  days_until_full: null,
  is_before_sealing: false,
  standby: null,
  parts: [],
  raw: { chunk_table_bytes: 1e8, n_bytes: 1e9, n_packed_bytes: 0, packed_table_bytes: 0 },
  stats: [
    {
      stat: "mpstat_linux",
      table_bytes: 5e8,
      index_bytes: 1e7,
      sealed_bytes: 0,
      n_samples: 18_000,
      n_sealed: 0,
      n_values: 180_000,
      bytes_per_day: 1e8,
      bytes_per_value: 1.9,
    },
  ],
  hosts: [
    {
      host: "old1",
      sample_bytes: 5e6,
      chunk_bytes: 1e6,
      n_samples: 3,
      bytes_per_day: null,
      first_sample_at: null,
      last_sample_at: null,
    },
  ],
};

function answer(server: FakeServer, days: number | null, rules: RetentionRule[] = []): void {
  server.on("GET /storage", { ...STORAGE, days_until_full: days });
  server.on("GET /retention", { rules, runs: [] });
  server.on("GET /host-deletions", { deletions: [] });
  server.on("GET /stats", { stats: [] });
}

test.for([
  [20, "20 days"],
  [3.5, "nearly full"],
] as const)("with %s days until the disk is full the page warns: %s", async ([days, warning], { server }) => {
  answer(server, days);
  openPage("/storage");
  expect((await screen.findByRole("alert")).textContent).toContain(warning);
});

test("a host is deleted only once its name is typed", async ({ server }) => {
  answer(server, null);
  server.on("DELETE /hosts/{host}", {
    job_id: 5,
    host: "old1",
    state: "queued",
    message: "",
    n_samples: 0,
    requested_at: "2026-11-23T07:00:00Z",
    requested_by: "admin",
    finished_at: null,
  });
  const user = openPage("/storage");
  await user.click(await screen.findByRole("button", { name: "Delete old1" }));
  const dialog = await screen.findByRole("dialog", { name: "Delete host old1" });
  const button = within(dialog).getByRole<HTMLButtonElement>("button", { name: "Delete host and all its data" });
  const field = within(dialog).getByLabelText(/Type old1 to confirm/);
  await user.type(field, "old");
  expect(button.disabled).toBe(true);
  expect(server.asked("DELETE /hosts/{host}")).toEqual([]);
  await user.type(field, "1");
  await user.click(button);
  await waitFor(() => {
    expect(server.asked("DELETE /hosts/{host}").map(({ path }) => path)).toEqual(["/api/v1/hosts/old1"]);
  });
});

test("a retention rule that deletes is explained and confirmed, days that are none are refused", async ({ server }) => {
  answer(server, null);
  server.on("PUT /retention", { rules: [], runs: [] });
  const user = openPage("/storage");
  await user.click(await screen.findByRole("button", { name: "Add rule for a stat" }));
  const rule = await screen.findByRole("group", { name: "Rule for mpstat_linux" });
  const days = within(rule).getByLabelText(/Keep samples \(days\)/);
  await user.type(days, "ten");
  await user.tab();
  await screen.findByText(/whole days/);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: /^Save/ }).disabled).toBe(true);
  await user.clear(days);
  await user.type(days, "400");
  await user.click(screen.getByRole("button", { name: "Save…" }));
  const dialog = await screen.findByRole("dialog", { name: "Delete old data automatically" });
  expect(dialog.textContent).toMatch(/samples of mpstat_linux before \d{4}-\d\d-\d\d \(UTC; currently kept forever\)/);
  const save = within(dialog).getByRole<HTMLButtonElement>("button", { name: "Save rules" });
  expect(save.disabled).toBe(true);
  await user.type(within(dialog).getByLabelText(/Type delete to confirm/), "delete");
  await user.click(save);
  await waitFor(() => {
    expect(server.asked("PUT /retention").map(({ body }) => body)).toEqual([
      { rules: [{ stat: "mpstat_linux", samples_days: 400, chunks_days: null }] },
    ]);
  });
});
