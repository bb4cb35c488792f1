import { openPage, screen, test } from "../../testing";
import { madeHost } from "../../testing/host";

test("a host whose agent reports no facts says how to get them", async ({ server }) => {
  server.on("GET /stats", { stats: [] });
  server.on("GET /hosts/{host}", { host: madeHost("web1"), streams: [], n_old_streams: 0 });
  server.on("GET /hosts/{host}/facts", { facts: [], changes: [], n_changes_left_out: 0, known_since: null, read_at: null });
  openPage("/hosts/web1?tab=facts");
  await screen.findByText("No facts about this host");
});
