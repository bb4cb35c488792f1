import type { ChangedSeries } from "../../logic/api";
import { expect, openPage, screen, test, within } from "../../testing";
import { answerHost } from "../../testing/host";

const AT = "2026-11-16T10:00:00Z";
const AWAIT: ChangedSeries = {
  stat: "iostat_linux",
  field: "r_await_ms",
  instance: "sda",
  title: "sda r_await (iostat)",
  unit: "ms",
  kind: "level",
  score: 21.3,
  before: 4.1,
  after: 8.3,
  sentence: "sda r_await (iostat): 4.1 → 8.3 ms",
};

test("a change of the last weeks stands above the graphs, with what happened before it and its series", async ({ server }) => {
  answerHost(server);
  const change = {
    at: AT,
    n_series: 3,
    n_compared: 900,
    sentence: `3 series changed, led by ${AWAIT.sentence}`,
    series: [AWAIT, { ...AWAIT, field: "util", sentence: "sda %util (iostat): 10 → 21 %" }],
    events: [
      {
        event: {
          at: "2026-11-16T07:00:00Z",
          not_before: null,
          kind: "deployment" as const,
          text: "kernel 6.6",
          end: null,
          tags: [],
          hosts: ["web1"],
          source: "user" as const,
          author: "anna",
          id: 4,
          artefact: null,
          effect: null,
          verdict: null,
        },
        sentence: "3 h before: kernel 6.6",
      },
    ],
  };
  server.on("GET /hosts/{host}/changes-of-normal", { host: "web1", searched_until: "2026-11-21T00:00:00Z", changes: [change] });
  const user = openPage("/hosts/web1?tz=utc");
  const region = within(await screen.findByRole("region", { name: "Normal changed" }));
  expect(region.getByText("Normal changed 2026-11-16")).toBeTruthy();
  expect(region.getByText("3 h before: kernel 6.6")).toBeTruthy();
  const link = decodeURIComponent(region.getByRole("link", { name: change.sentence }).getAttribute("href") ?? "");
  expect(link).toContain("r_await_ms");
  expect(link).toContain("2026-10-19T10:00:00");
  await user.click(region.getByRole("button", { name: "1 more series" }));
  const list = within(region.getByRole("list", { name: "Changed series" }));
  expect(list.getByRole("link", { name: "sda %util (iostat): 10 → 21 %" })).toBeTruthy();
  expect(list.getByText("1 further series")).toBeTruthy();
});
