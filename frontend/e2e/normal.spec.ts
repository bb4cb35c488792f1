import { sendStream, VMSTAT_HEAD } from "./agent";
import { expect, expectAccessible, test } from "./fixture";

const HOST = "moved1";
const HOUR_MS = 3_600_000;
const N_HOURS = 60 * 24;

/** Hours of `vmstat -t` until now, by whose last 16 days programs take twice the time and make twice the switches. */
function moved(now: number): { readonly text: string; readonly from: Date; readonly to: Date } {
  const first = Math.floor(now / HOUR_MS) * HOUR_MS - N_HOURS * HOUR_MS;
  const rows = Array.from({ length: N_HOURS }, (_, at) => {
    const time = new Date(first + at * HOUR_MS).toISOString();
    const factor = (at >= N_HOURS - 16 * 24 ? 2 : 1) * (1 + 0.4 * Math.sin((at % 24) / 4)) * (1 + ((at * 7919) % 100) / 500);
    const [cs, us, sy] = [1200, 10, 4].map((usual) => Math.round(usual * factor));
    const cpu = `${String(us)}  ${String(sy)} ${String(100 - (us ?? 0) - (sy ?? 0))}  0  0`;
    return ` 2  0      0 402312 267968 846360    0    0  1444  4554  647 ${String(cs)} ${cpu} ${time.slice(0, 10)} ${time.slice(11, 19)}`;
  });
  return { text: `${[...VMSTAT_HEAD, ...rows].join("\n")}\n`, from: new Date(first), to: new Date(now) };
}

test(
  "normal that changed stands above the graphs with its series, and is marked in the graph of months",
  { tag: "@matrix" },
  async ({ page, request }) => {
    // The server rolls up and searches each minute.
    test.setTimeout(300_000);
    const { text, from, to } = moved(Date.now());
    await sendStream(request, { host: HOST, spec: "vmstat_linux", key: `vmstat.${HOST}.1`, command: "vmstat -n -t 3600", text });
    await expect
      .poll(
        async () => {
          const answer = await request.get(`/api/v1/hosts/${HOST}/changes-of-normal`);
          return ((await answer.json()) as { changes: readonly unknown[] }).changes.length;
        },
        { timeout: 200_000, intervals: [2000] },
      )
      .toBe(1);
    await page.goto(`/hosts/${HOST}?from=${from.toISOString()}&to=${to.toISOString()}&tz=utc`);
    const region = page.getByRole("region", { name: "Normal changed" });
    await expect(region).toContainText(/series changed, led by vmstat/, { timeout: 60_000 });
    await region.getByRole("button", { name: /more series/ }).click();
    await expect(region.getByRole("list", { name: "Changed series" })).toContainText("vmstat");
    await expectAccessible(region);
    await expect(page.locator('.event-flag[data-kind="normal"]')).toHaveCount(1);
    await region
      .getByRole("link", { name: /led by vmstat/ })
      .first()
      .click();
    await expect(page.locator('[data-panel] .event-line[data-kind="normal"]').first()).toBeVisible();
  },
);
