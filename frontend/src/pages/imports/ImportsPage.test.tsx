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
