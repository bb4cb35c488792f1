import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { dropMapStyles, nameHostPage, packFiles } from "./build_page";

// Where `npm run dev` sends what the page asks of the API; `make dev` sets it.
const server = process.env.NORMSTAT_SERVER ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react(), dropMapStyles(), nameHostPage(), packFiles()],
  // Plotly's modules ask for `global`, which only Node has.
  define: { global: "globalThis" },
  server: { proxy: { "/api": { target: server } } },
  build: {
    target: "es2022",
    // Plotly alone is about 1.1 MB; it is a file of its own, loaded with the first graph.
    chunkSizeWarningLimit: 1300,
  },
  // Other stages of `make test` run beside these; a busy machine is no failure.
  test: { include: ["src/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
