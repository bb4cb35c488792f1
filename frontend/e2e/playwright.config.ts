import { defineConfig } from "@playwright/test";
import { IS_PUSH } from "./selection";
import { BASE_URL, STATE } from "./story";

// How many times the usual time a test may take: the whole matrix runs all its stages beside each other.
const patience = Number(process.env.NORMSTAT_TEST_PATIENCE ?? "1");

/** Tests the page in the installed Chromium, against a server that backend/tests/e2e/page.py starts and fills. */
export default defineConfig({
  testDir: ".",
  outputDir: "../test-results",
  // The tests use each other's baselines and accounts, and must run on two cores.
  workers: 1,
  fullyParallel: false,
  forbidOnly: true,
  ...(IS_PUSH ? { grepInvert: /@matrix/ } : {}),
  // Other stages of `make test` run at the same time.
  timeout: 60_000 * patience,
  expect: { timeout: 15_000 * patience },
  reporter: [["list"]],
  use: {
    baseURL: BASE_URL,
    viewport: { width: 1280, height: 900 },
    timezoneId: "Europe/Berlin",
    locale: "en-GB",
    actionTimeout: 15_000,
    screenshot: "only-on-failure",
    // Contrast is looked at when colours have changed, not while they do.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-background-networking",
        // A page is open for seconds: code would be optimised for longer than it runs.
        "--js-flags=--no-turbofan --no-maglev --single-threaded-gc",
      ],
    },
  },
  projects: [
    { name: "login", testMatch: "login.setup.ts" },
    { name: "page", testMatch: "*.spec.ts", dependencies: ["login"], use: { storageState: STATE } },
  ],
});
