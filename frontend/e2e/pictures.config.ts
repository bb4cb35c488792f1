import { defineConfig } from "@playwright/test";

/** Makes the pictures of the documentation; backend/tests/e2e/pictures.py starts the demo that they show. */
export default defineConfig({
  testDir: ".",
  testMatch: "*.pictures.ts",
  outputDir: "../test-results",
  workers: 1,
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: [["line"]],
  use: {
    viewport: { width: 1280, height: 900 },
    timezoneId: "UTC",
    locale: "en-GB",
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-background-networking"],
    },
  },
});
