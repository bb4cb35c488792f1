import type { Import } from "../../logic/api";
import { expect, openPage, screen, test, waitFor, within } from "../../testing";

test("without imports the page says what to do first", async ({ server }) => {
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /specs", { specs: [] });
  server.on("GET /imports", { imports: [] });
  openPage("/imports");
  await screen.findByText("No imports yet");
});

const LOADED: Import = {
  ...{ id: 7, job_id: 1, host: "web1", name: "sar.txt", state: "done", message: "", n_bytes: 10, n_bytes_done: 10, n_files: 1 },
  ...{ created_at: "2026-11-22T10:00:00Z", created_by: "anna", finished_at: null, can_retry: false, is_undo: false },
  ...{ is_change: false, label: "night batch", shift_s: -86_400, earlier: { label: "", host: "web1", shift_s: 0 } },
  files: [
    {
      ...{ path: "sar.txt", spec: "sar_linux", stats: ["sar_cpu"], n_reports: 3, n_samples: 3, n_samples_new: 3, n_rejected: 0 },
      ...{ reasons: [], note: "", missing: [], n_since_boot: 0, position: 0, stream_id: 4, is_undone: false, shift_s: -86_400 },
      ...{ first_sample_at: "2026-11-20T10:00:00Z", last_sample_at: "2026-11-20T10:00:02Z" },
    },
  ],
};

test("an import gets another host and date, and its last change is undone", async ({ server }) => {
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /specs", { specs: [] });
  server.on("GET /imports", { imports: [LOADED] });
  server.on("PUT /imports/{id}", { ...LOADED, state: "queued" });
  server.on("POST /imports/{id}/undo-change", { ...LOADED, state: "queued" });
  const user = openPage("/imports?tz=utc");
  await screen.findByText("1 d earlier than in the files");
  await user.click(screen.getByRole("button", { name: "Change sar.txt" }));
  await screen.findByText("Before the last change: sar.txt, web1");
  const dialog = within(screen.getByRole("dialog"));
  const start = dialog.getByLabelText("First sample at (UTC)");
  await user.clear(start);
  await user.type(start, "2026-11-21 09:00:00");
  await user.clear(dialog.getByLabelText("Host"));
  await user.type(dialog.getByLabelText("Host"), "db2");
  await user.click(dialog.getByRole("button", { name: "Save" }));
  await waitFor(() => {
    expect(server.asked("PUT /imports/{id}").map(({ body }) => body)).toEqual([
      { label: null, host: "db2", shift_s: null, start: "2026-11-21T09:00:00Z" },
    ]);
  });
  await user.click(screen.getByRole("button", { name: "Change sar.txt" }));
  await user.click(await screen.findByRole("button", { name: "Undo the last change" }));
  await waitFor(() => {
    expect(server.asked("POST /imports/{id}/undo-change")).toHaveLength(1);
  });
});

test("files without times are completed in their rows, or all at once by the times of the files", async ({ server }) => {
  const lacking = (id: number, name: string): Import => ({
    ...LOADED,
    ...{ id, name, label: "", shift_s: 0, earlier: null, can_retry: true },
    files: LOADED.files.map((file) => ({
      ...file,
      ...{ path: name, stats: [], n_reports: 0, n_samples: 0, n_samples_new: 0, first_sample_at: null, last_sample_at: null },
      ...{ note: "not loaded: it prints no times: give --start and --interval", missing: ["start", "interval_s"] },
      ...{ modified_at: "2026-11-21T10:00:10Z", span_s: 2 },
    })),
  });
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /specs", { specs: [] });
  server.on("GET /imports", { imports: [lacking(7, "a.txt"), lacking(8, "b.txt")] });
  server.on("POST /imports/{id}/retry", { ...LOADED, state: "queued" });
  const user = openPage("/imports?tz=utc");
  const row = await screen.findByRole("row", { name: /a\.txt/ });
  within(row).getByText("it prints no times");
  const own = within(within(row).getByRole("form", { name: "Complete a.txt" }));
  await user.type(own.getByLabelText("First report at (UTC)"), "2026-11-21 09:00:00");
  await user.click(own.getByRole("button", { name: "Retry a.txt" }));
  own.getByText("needed");
  await user.type(own.getByLabelText("Seconds between reports"), "5");
  await user.click(own.getByRole("button", { name: "Retry a.txt" }));
  const all = within(screen.getByRole("region", { name: "Files to complete" }));
  await user.click(all.getByRole("checkbox", { name: "Use the files' times for all" }));
  await user.type(all.getByLabelText("Seconds between reports"), "5");
  await user.click(all.getByRole("button", { name: "Retry 2 files" }));
  await waitFor(() => {
    const starts = server.asked("POST /imports/{id}/retry").map(({ path, body }) => [path, (body as { start: string }).start]);
    expect(starts).toEqual([
      ["/api/v1/imports/7/retry", "2026-11-21T09:00:00Z"],
      ["/api/v1/imports/7/retry", "2026-11-21T10:00:00Z"],
      ["/api/v1/imports/8/retry", "2026-11-21T10:00:00Z"],
    ]);
  });
});
