import { defineConfig } from "@playwright/test";

/** Measures the page in the installed Chromium; backend/bench/bench_page.py starts the servers and prints the figures. */
export default defineConfig({
  testDir: ".",
  testMatch: "*.bench.ts",
  outputDir: "../test-results",
  workers: 1,
  timeout: 900_000,
  reporter: [["line"]],
  use: {
    viewport: { width: 1280, height: 900 },
    timezoneId: "Europe/Berlin",
    locale: "en-GB",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-background-networking"],
    },
  },
});
