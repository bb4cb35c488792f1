import type { LineCounts, StreamAccount, StreamInfo } from "../../logic/api";
import { expect, openPage, screen, test, within } from "../../testing";
import { madeHost } from "../../testing/host";
import type { FakeServer } from "../../testing/server";

const COUNTS: LineCounts = { sample: 60, header: 2, ignored: 0, rejected: 0, since_boot: 0, state_change: 0, timestamp: 0 };
const STREAM: StreamInfo = {
  id: 5,
  spec: "vmstat_linux",
  key: "vmstat_linux.1795255200.7-1",
  command: "vmstat -t 1",
  stats: ["vmstat_linux"],
  state: "live",
  created_at: "2026-11-21T10:00:00Z",
  last_received_at: "2026-11-21T10:01:00Z",
  last_sample_at: "2026-11-21T10:00:59Z",
  acked_offset: 5000,
  n_gap_bytes: 0,
  n_lines: COUNTS,
  ended: null,
};
function answer(server: FakeServer, change: Partial<StreamInfo> = {}): void {
  server.on("GET /stats", { stats: [] });
  server.on("GET /hosts/{host}", { host: madeHost("web1"), streams: [STREAM], n_old_streams: 0 });
  server.on("GET /hosts/{host}/accounts", ({ search }) => {
    const account: StreamAccount = {
      stream: { ...STREAM, ...change },
      bytes_by_kind: COUNTS,
      catalogue_version: 1,
      spec_version: 1,
      is_outdated: false,
      first_sample_at: "2026-11-21T10:00:00Z",
      n_gaps: 0,
      n_reasons: 0,
      reasons: [],
    };
    const streams = search.get("only") === "rejected" || search.has("stream_id") ? [] : [account];
    return {
      host: "web1",
      n_bytes: 5000,
      n_gap_bytes: 0,
      n_lines: COUNTS,
      bytes_by_kind: COUNTS,
      n_streams: 1,
      n_matching: streams.length,
      n_streams_outdated: 0,
      streams,
    };
  });
}

test("a silent stream says how its tool ended", async ({ server }) => {
  const text = "vmstat_linux ended with status 127: vmstat: not found; restarting in 300 s";
  answer(server, { state: "silent", ended: { at: "2026-11-21T10:01:00Z", text } });
  openPage("/hosts/web1?tab=streams&tz=utc");
  const rows = within(await screen.findByRole("table", { name: "Streams" })).getAllByRole("row");
  expect(rows[1]?.textContent).toContain("silent");
  expect(rows[2]?.textContent).toContain("2026-11-21 10:01:00: vmstat_linux ended with status 127: vmstat: not found");
});

test("streams are filtered by their problems", async ({ server }) => {
  answer(server);
  const user = openPage("/hosts/web1?tab=streams");
  await screen.findByRole("table", { name: "Streams" });
  await user.click(screen.getByRole("combobox", { name: "Filter streams" }));
  await user.click(await screen.findByRole("option", { name: "with rejected lines" }));
  await screen.findByText(/No streams match “with rejected lines”/);
  await user.click(screen.getByRole("button", { name: "Show all streams" }));
  await screen.findByRole("table", { name: "Streams" });
});

test("an unknown stream and a line in it are reported", async ({ server }) => {
  answer(server);
  server.fail("GET /streams/{id}/context", 404, "not_found", "There is no stream 999999");
  const user = openPage("/hosts/web1?tab=streams&stream=999999&line=999999:0");
  await screen.findByText(/There is no stream 999999/);
  await user.keyboard("{Escape}");
  await screen.findByText(/web1 has no stream 999999/);
});

test("an unknown host is reported", async ({ server }) => {
  server.on("GET /stats", { stats: [] });
  server.fail("GET /hosts/{host}", 404, "not_found", "Host web9 not found");
  openPage("/hosts/web9");
  await screen.findByText(/Host web9 not found/);
});
