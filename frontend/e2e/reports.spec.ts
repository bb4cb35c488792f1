import { readFileSync } from "node:fs";
import { OURS } from "./agent";
import { expect, expectAccessible, showIn, test } from "./fixture";
import { HOST, INCIDENT as WINDOW, iso } from "./story";

const INCIDENT = { start: iso(WINDOW.start), end: iso(WINDOW.end) };

const LOCKS = `Mutex block

Count     nsec Lock                         Caller
-------------------------------------------------------------------------------
  218    69427 libc.so.1\`libc_malloc_lock   libzip.so\`deflate+0x29c
`;

test("a report of text, graph, artefact and experiment is written, shown and saved", async ({ page, request }) => {
  const made = await request.post("/api/v1/artefacts", {
    headers: { ...OURS, "content-type": "application/octet-stream" },
    params: { host: HOST, command: "plockstat -A -e 10 -p 1", start: INCIDENT.start },
    data: Buffer.from(LOCKS),
  });
  const artefact = ((await made.json()) as { id: number }).id;
  let experiment = 0;
  for (const [place, real] of [8, 4.04, 4.01].entries()) {
    const run = await request.post("/api/v1/experiments/runs", {
      headers: OURS,
      data: {
        experiment: "report",
        host: HOST,
        start: INCIDENT.start,
        factors: { threads: String(2 ** place) },
        results: [{ name: "real", value: real, unit: "s" }],
      },
    });
    experiment = ((await run.json()) as { experiment: number }).experiment;
  }
  const started = await request.post("/api/v1/reports", {
    headers: OURS,
    data: { title: "Web shop slow", hosts: [HOST], start: INCIDENT.start, end: INCIDENT.end },
  });
  const report = ((await started.json()) as { report: { id: number } }).report.id;
  const graph = { kind: "graph", host: HOST, stat: "vmstat_linux", fields: ["cpu_us"], ...INCIDENT };
  const added = await request.post(`/api/v1/reports/${String(report)}/notes`, { headers: OURS, data: { note: graph } });
  expect(added.status(), await added.text()).toBe(201);

  await page.goto(`/reports/${String(report)}`);
  const add = page.getByRole("button", { name: "Add a note" });
  const dialog = page.getByRole("dialog");
  await add.click();
  await dialog.getByLabel("Title").fill("What happened");
  await dialog.getByLabel("Markdown").fill("**Orders** took 12 s <script>alert(1)</script>");
  await expectAccessible(dialog);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog).toBeHidden();
  for (const path of [`/artefacts/${String(artefact)}`, `/experiments/${String(experiment)}`]) {
    await add.click();
    await dialog.getByLabel("Or paste a link of normstat").fill(path);
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await expect(dialog).toBeHidden();
  }
  await expect(page.getByRole("article")).toHaveCount(4);
  await expectAccessible(page);
  await showIn(page, "dark");
  await expectAccessible(page);
  await showIn(page, "light");

  await page.locator("label", { hasText: /^Preview$/ }).click();
  const preview = page.frameLocator(".report-preview");
  await expect(preview.getByText("Full at threads=2: 1.98 times as fast as the reference")).toBeVisible();
  await expect(preview.getByText("deflate+0x29c")).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "HTML" }).click();
  const file = readFileSync(await (await downloading).path(), "utf8");
  expect(file).toContain("<strong>Orders</strong> took 12 s &lt;script&gt;");
  const pdf = await request.get(`/api/v1/reports/${String(report)}/export.pdf`);
  expect((await pdf.body()).subarray(0, 5).toString()).toBe("%PDF-");
});

test.describe("two editors", () => {
  test.use({ expectedErrors: /409/ });

  test("who comes second to a change is told so, and loads again", { tag: "@matrix" }, async ({ page, request }) => {
    const started = await request.post("/api/v1/reports", { headers: OURS, data: { title: "Two editors", hosts: [HOST] } });
    const { id, revision } = ((await started.json()) as { report: { id: number; revision: number } }).report;
    await page.goto(`/reports/${String(id)}`);
    await page.getByRole("button", { name: "Title, hosts, window" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Title").fill("Mine");
    const theirs = { title: "Theirs", hosts: [HOST], start: null, end: null, revision };
    expect((await request.put(`/api/v1/reports/${String(id)}`, { headers: OURS, data: theirs })).status()).toBe(200);
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog.getByText("Changed by another user: load again")).toBeVisible();
    await dialog.getByRole("button", { name: /^Reload and/ }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Theirs");
  });
});

test("a bundle of an incident is opened as another host", async ({ page, request }) => {
  const params = { host: HOST, start: INCIDENT.start, end: INCIDENT.end };
  const bundle = await (await request.get("/api/v1/bundle", { params })).body();
  await page.goto("/imports?tz=utc");
  await page.getByRole("combobox", { name: "Host" }).fill("travelled");
  await page.keyboard.press("Escape");
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: "x.normstat.zip", mimeType: "application/zip", buffer: bundle });
  await page.getByRole("button", { name: /^Load \d/ }).click();
  const row = page.getByRole("table", { name: "Imports" }).getByRole("row").filter({ hasText: "x.normstat.zip" }).first();
  await expect(row.getByText("done")).toBeVisible();
  const csv = async (host: string) =>
    (await request.get("/api/v1/export.csv", { params: { ...params, host, stat: "vmstat_linux" } })).text();
  const samples = await csv("travelled");
  expect(samples.split("\n").length).toBeGreaterThan(10);
  expect(samples).toBe(await csv(HOST));
});
