import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { nameHostPage, packFiles, trimPlotly, trimStyles } from "./build_page";

// Where `npm run dev` sends what the page asks of the API; `make dev` sets it.
const server = process.env.NORMSTAT_SERVER ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react(), trimPlotly(), trimStyles(), nameHostPage(), packFiles()],
  // Plotly's modules ask for `global`, which only Node has.
  define: { global: "globalThis" },
  server: { proxy: { "/api": { target: server } } },
  build: {
    target: "es2022",
    // Plotly alone is about 1.1 MB; it is a file of its own, loaded with the first graph.
    chunkSizeWarningLimit: 1300,
    rolldownOptions: {
      output: {
        // Few files: each is a request, and the server answers one after another. What several pages use is one file; what only one
        // page uses is in that page's.
        codeSplitting: {
          groups: [
            { name: "library", test: /node_modules[\\/](?!plotly\.js|d3|@plotly)/, minShareCount: 2, priority: 2 },
            { name: "shared", test: /[\\/]src[\\/](api|components|logic|state)[\\/]/, minShareCount: 3, priority: 1 },
          ],
        },
      },
    },
  },
  // Other stages of `make test` run beside these; a busy machine is no failure.
  test: { include: ["src/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
