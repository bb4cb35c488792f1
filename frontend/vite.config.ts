import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { inlineFirst, nameHostPage, packFiles, trimStyles } from "./build_page.ts";
import { trimPlotly } from "./build_plotly.ts";

// Where `npm run dev` sends what the page asks of the API; `make dev` sets it.
const server = process.env.NORMSTAT_SERVER ?? "http://127.0.0.1:8080";

const PLOTLY = /[\\/]node_modules[\\/](?:plotly\.js|d3|@plotly)/;
// What only dialogs and forms show, which no page opens with.
const FORMS =
  /[\\/]node_modules[\\/](?:react-number-format|klona|fast-deep-equal|@mantine[\\/]form|@mantine[\\/]core[\\/]esm[\\/]components[\\/](?:Autocomplete|MultiSelect|NumberInput|PasswordInput|Switch|TagsInput|Textarea|Combobox[\\/]use-pills-reorder))[\\/]/;

const DIALOGS =
  /[\\/]src[\\/]components[\\/](?:(?!Confirm)\w+(?:Dialog|Editor|Filters|Form)|AgainstChoice|EventTable|NameAndNote|useServerForm)\.tsx?/;

// What neither the header nor a host's page shows before something is opened, and several other pages do.
const LATER =
  /[\\/]src[\\/](?:components[\\/](?:flame[\\/]|(?:SecondFactor|EventTableRow|ShareButton|ArtefactRow|LineContext|ReparseButton|AddToReport|DivisorChoice|DeleteButton|CopyBox|JobState|useArtefactDeletion)\.tsx?)|logic[\\/](?:experiment|flame\w*|picture|toml|specs|use_matrix|share_link)\.ts|state[\\/](?:flame|experiment|events)\.ts|api[\\/](?:artefacts|artefact_diff|flames|processes|reports|accounts|experiments|use)\.ts|plot[\\/]image\.ts)/;

export default defineConfig({
  plugins: [react(), trimPlotly(), trimStyles(), nameHostPage(), inlineFirst(), packFiles()],
  // Plotly's modules ask for `global`, which only Node has.
  define: { global: "globalThis" },
  server: { proxy: { "/api": { target: server } } },
  build: {
    target: "es2022",
    // All styles are one file of 30 kB: each page's own would be one to six requests more.
    cssCodeSplit: false,
    // Plotly alone is about 1.1 MB; it is a file of its own, loaded with the first graph.
    chunkSizeWarningLimit: 1300,
    rolldownOptions: {
      output: {
        // Few files: each is a request, and the server answers one after another. What several pages use is one file; what only one
        // page uses is in that page's.
        codeSplitting: {
          groups: [
            {
              name: "library",
              test: (id) => /[\\/]node_modules[\\/]/.test(id) && !PLOTLY.test(id) && !FORMS.test(id),
              minShareCount: 2,
              priority: 3,
            },
            { name: "forms", test: FORMS, minShareCount: 2, priority: 2, includeDependenciesRecursively: false },
            {
              name: "shared",
              test: (id) =>
                /[\\/]src[\\/](?:api|components|logic|plot|state)[\\/]/.test(id) && !DIALOGS.test(id) && !LATER.test(id),
              minShareCount: 2,
              priority: 1,
            },
            { name: "later", test: LATER, minShareCount: 2, priority: 0, includeDependenciesRecursively: false },
          ],
        },
      },
    },
  },
  test: {
    // Other stages of `make test` run beside these; a busy machine is no failure.
    testTimeout: 60_000,
    // One copy of the modules serves all files: a process with a copy for each cost three times as much.
    pool: "threads",
    isolate: false,
    unstubGlobals: true,
    projects: [
      { extends: true, test: { name: "functions", include: ["*.test.ts", "src/**/*.test.ts"], environment: "node" } },
      {
        extends: true,
        test: {
          name: "components",
          include: ["src/**/*.test.tsx"],
          environment: "happy-dom",
          environmentOptions: { happyDOM: { settings: { device: { prefersReducedMotion: "reduce" } } } },
          setupFiles: ["src/testing/setup.ts"],
        },
      },
    ],
  },
});
