/** The browser of these tests: any error on its console fails the test. */

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { type ConsoleMessage, test as base, expect, type Locator, type Page } from "@playwright/test";
import { IS_PUSH } from "./selection";

export { expect };

interface Options {
  /** Console messages that this test provokes. */
  readonly expectedErrors: RegExp | null;
}

export const test = base.extend<Options>({
  expectedErrors: [null, { option: true }],
  page: async ({ page, expectedErrors }, run) => {
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
    page.on("console", (message) => {
      // Includes violations of the server's Content-Security-Policy.
      if (message.type() === "error" && !isRefusedBatch(message) && expectedErrors?.test(message.text()) !== true) {
        complaints.push(message.text());
      }
    });
    await run(page);
    // A request that the page made last may still be on its way through a route of the test.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expect(complaints, "errors on the browser's console").toEqual([]);
  },
});

const BATCH = "/api/v1/batch";

/** A batch that a test has refused (askAlone); no server of ours does. */
function isRefusedBatch(message: ConsoleMessage): boolean {
  return message.location().url.endsWith(BATCH) && message.text().includes("404");
}

/** Let the page ask for everything alone, so that a test can route what it is about. */
export async function askAlone(page: Page): Promise<void> {
  await page.route(`**${BATCH}`, (route) => route.fulfill({ status: 404, json: {} }));
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** What a test looks at in each colour scheme. A push looks in light colours, and in dark ones where a test asks for them itself. */
export const SCHEMES = IS_PUSH ? (["light"] as const) : (["dark", "light"] as const);

/** Show the page as in the light or in the dark; returns when the page has taken notice. */
export async function showIn(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
}

/**
 * Expect no violation of WCAG 2.1 AA that axe can detect, including contrast, on the page or in a part of it.
 *
 * A run takes half a CPU second, and two on a page of graphs: once for each page, in dark colours too where contrast is at stake.
 */
export async function expectAccessible(of: Page | Locator): Promise<void> {
  const [page, part] = "goto" in of ? [of, null] : [of.page(), await of.elementHandle()];
  await page.evaluate(AXE);
  const violations = await page.evaluate(async (root) => {
    const { axe } = window as unknown as { axe: { run: (root: Node, options: object) => Promise<{ violations: Violation[] }> } };
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
    const { violations } = await axe.run(root ?? document, { runOnly, resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      where: nodes.map(({ html }) => html.slice(0, 160)).slice(0, 4),
    }));
  }, part);
  expect(violations).toEqual([]);
}

/** Answer what the comparison page asks beside the comparison itself: the server has no samples of a made-up one. */
export async function answerSeries(page: Page): Promise<void> {
  await askAlone(page);
  const counts = { unusual: 0, likely: 0, unchanged: 0, appeared: 0, disappeared: 0, insufficient_data: 0, muted: 0 };
  await page.route("**/api/v1/comparison/series?*", (route) =>
    route.fulfill({ json: { series: [], n_matched: 0, n_series: 0, offset: 0, counts } }),
  );
}

/** The margins of a panel's graph, in pixels; src/logic/surface.ts has them. */
const LEFT = 58;
const RIGHT = 12;

/** Drag over a panel's graph between two shares of its window. */
export async function dragOver(page: Page, surface: Locator, from: number, to: number, withShift = false): Promise<void> {
  await surface.scrollIntoViewIfNeeded();
  const box = await surface.boundingBox();
  if (box === null) {
    throw new Error("the graph is not on the screen");
  }
  const x = (share: number): number => box.x + LEFT + share * (box.width - LEFT - RIGHT);
  const y = box.y + box.height / 2;
  if (withShift) {
    await page.keyboard.down("Shift");
  }
  await page.mouse.move(x(from), y);
  await page.mouse.down();
  await page.mouse.move(x((from + to) / 2), y, { steps: 4 });
  await page.mouse.move(x(to), y, { steps: 4 });
  await page.mouse.up();
  if (withShift) {
    await page.keyboard.up("Shift");
  }
}

/** Return the position of an instant in a window as a share. */
export function shareOf(at: number, window: { readonly start: number; readonly end: number }): number {
  return (at - window.start) / (window.end - window.start);
}

/** Return a panel of the host page once its graph is drawn. */
export async function drawnPanel(page: Page, id: string): Promise<{ readonly panel: Locator; readonly surface: Locator }> {
  const panel = page.locator(`[data-panel="${id}"]`);
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.locator(".js-line").first()).toBeAttached();
  return { panel, surface: panel.locator(".time-surface") };
}
