import type { Forecast } from "../../logic/api";
import { expect, openPage, screen, test, within } from "../../testing";
import { answerHost } from "../../testing/host";
import type { FakeServer } from "../../testing/server";

const VAR: Forecast = {
  kind: "space",
  stat: "df_linux",
  field: "avail",
  instance: "/var",
  state: "filling",
  sentence: "/var is full in 9 days (6 to 20)",
  level: 61e9,
  limit: 0,
  unit: "bytes",
  rate_per_day: -6.8e9,
  full_at: "2026-11-30T10:00:00Z",
  soonest_at: "2026-11-27T10:00:00Z",
  latest_at: "2026-12-11T10:00:00Z",
  span_hours: 336,
  is_rhythm_known: true,
};
const STEADY: Forecast = {
  ...VAR,
  instance: "/",
  state: "steady",
  sentence: "/ does not come nearer to its limit",
  full_at: null,
};

function answer(server: FakeServer, forecasts: readonly Forecast[]): void {
  answerHost(server);
  server.on("GET /hosts/{host}/forecasts", {
    host: "web1",
    at: "2026-11-21T10:00:00Z",
    n_filling: forecasts.filter(({ state }) => state === "filling").length,
    forecasts: [...forecasts],
  });
}

test("what fills up stands above the graphs, the soonest first, and leads to its last four weeks", async ({ server }) => {
  const others = ["/srv", "/home", "/opt"].map((instance) => ({
    ...VAR,
    instance,
    sentence: `${instance} is full in 20 days (9 to 40)`,
  }));
  answer(server, [VAR, ...others, STEADY]);
  const user = openPage("/hosts/web1?tz=utc");
  const line = within(await screen.findByRole("region", { name: "Filling up" }));
  const link = line.getByRole("link", { name: VAR.sentence });
  expect(link.getAttribute("href")).toContain("df_linux");
  expect(decodeURIComponent(link.getAttribute("href") ?? "")).toContain("2026-10-24T10:00:00");
  expect(line.queryByText(STEADY.sentence)).toBeNull();
  expect(line.getAllByRole("link")).toHaveLength(3);
  await user.click(line.getByRole("button", { name: "1 more" }));
  expect(line.getAllByRole("link")).toHaveLength(4);
});
