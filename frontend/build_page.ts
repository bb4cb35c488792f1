/** What the build does after Vite: packs the files, and tells index.html which ones a host's page needs. */

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const PACKED = /\.(js|css|html|svg)$/;
/** Smaller ones fit into a packet as they are. */
const MIN_BYTES = 1000;

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesOf(path) : [path];
  });
}

/**
 * Parts of Plotly that no graph of ours uses, by their path in its sources, and what stands in their place. Our figures are static:
 * nothing is dragged, selected, hovered or annotated in them (components/TimeSurface does that), and they have no menus, sliders, images
 * or legends.
 * Plotly looks components up by name and goes without those that are not registered; these stand for the few that it requires.
 */
const NOTHING = "function () {}";
const UNUSED_PARTS: ReadonlyMap<string, string> = new Map([
  ["components/annotations/index.js", component("annotations")],
  ["components/annotations3d/index.js", component("annotations3d")],
  ["components/images/index.js", component("images")],
  ["components/updatemenus/index.js", component("updatemenus")],
  ["components/sliders/index.js", component("sliders")],
  ["components/rangeslider/index.js", component("rangeslider")],
  ["components/rangeselector/index.js", component("rangeselector")],
  ["components/shapes/index.js", component("shapes")],
  ["components/shapes/draw.js", `module.exports = { eraseActiveShape: ${NOTHING} };`],
  ["components/shapes/handle_outline.js", `module.exports = { clearOutline: ${NOTHING}, clearOutlineControllers: ${NOTHING} };`],
  ["components/selections/index.js", component("selections", "clearOutline", "prepSelect", "selectOnClick")],
  [
    "components/modebar/index.js",
    `${component("modebar", "manage")}
    module.exports.supplyLayoutDefaults = function (_, full) { full.modebar = { orientation: "h" }; };`,
  ],
  ["components/legend/index.js", component("legend")],
  ["components/fx/hover.js", `module.exports = { hover: ${NOTHING}, loneHover: ${NOTHING} };`],
  ["components/fx/click.js", `module.exports = ${NOTHING};`],
  ["fonts/ploticon.js", "module.exports = {};"],
  ["plots/cartesian/dragbox.js", "module.exports = {};"],
  // A heatmap of ours has its cells; none is counted.
  ["traces/histogram2d/calc.js", `module.exports = ${NOTHING};`],
]);

/** Return a component that does nothing but these functions. */
function component(name: string, ...functions: readonly string[]): string {
  const members = functions.map((each) => `, ${each}: ${NOTHING}`).join("");
  return `module.exports = { moduleType: "component", name: "${name}"${members} };`;
}

/** Leaves out what no graph of ours uses of Plotly, and the styles of maps that its registry names: a third of its size. */
export function trimPlotly(): Plugin {
  const empty = "\0normstat-no-styles.js";
  return {
    name: "normstat-trim-plotly",
    apply: "build",
    enforce: "pre",
    resolveId: (id) => (id.endsWith("maplibre-gl.css") ? empty : null),
    load(id) {
      if (id === empty) {
        return "export default {};";
      }
      const [, part = ""] = /\/plotly\.js\/src\/(.+)$/.exec(id.replaceAll("\\", "/")) ?? [];
      return UNUSED_PARTS.get(part) ?? null;
    },
  };
}

/** Returns the components of Mantine that the sources import, and those that they are made of. */
function usedComponents(sources: string, mantine: string): ReadonlySet<string> {
  const imports = filesOf(sources)
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => [...readFileSync(path, "utf8").matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)])
    .flatMap(([, names = ""]) => names.split(",").map((name) => name.trim().split(" ")[0] ?? ""));
  const folder = join(mantine, "esm/components");
  const components = new Set(readdirSync(folder));
  const found = new Set<string>();
  const left = [...imports];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (components.has(name) && !found.has(name)) {
      found.add(name);
      const code = filesOf(join(folder, name))
        .filter((path) => path.endsWith(".mjs"))
        .map((path) => readFileSync(path, "utf8"))
        .join("");
      left.push(...[...code.matchAll(/from "(?:\.\.\/)+(\w+)\//g)].map(([, other = ""]) => other));
    }
  }
  return found;
}

/** Leaves out the styles of Mantine's components that the page does not use: two thirds. In development all are there. */
export function trimStyles(): Plugin {
  let root = ".";
  return {
    name: "normstat-trim-styles",
    apply: "build",
    enforce: "pre",
    configResolved(config) {
      root = config.root;
    },
    load(id) {
      if (!id.replaceAll("\\", "/").endsWith("/@mantine/core/styles.css")) {
        return null;
      }
      const all = readFileSync(id, "utf8");
      const folder = join(id, "../styles");
      const used = [...usedComponents(join(root, "src"), join(id, ".."))];
      const files = readdirSync(folder).filter(
        (name) => /^[a-z]/.test(name) || used.some((component) => name.startsWith(component)),
      );
      const styles = files
        .filter((name) => name.endsWith(".css") && !name.endsWith(".layer.css"))
        .map((name) => readFileSync(join(folder, name), "utf8"));
      // In the order of the whole file: some rules are meant to come after others.
      const place = (text: string): number => all.indexOf(text.slice(0, 60).trim());
      return styles.sort((a, b) => place(a) - place(b)).join("\n");
    },
  };
}

/** Writes `.br` and `.gz` beside each file where that is smaller; the server sends what the browser reads. */
export function packFiles(): Plugin {
  let folder = "dist";
  return {
    name: "normstat-pack-files",
    apply: "build",
    configResolved({ build }) {
      folder = build.outDir;
    },
    closeBundle() {
      for (const path of filesOf(folder).filter((path) => PACKED.test(path))) {
        const bytes = readFileSync(path);
        if (bytes.length < MIN_BYTES) {
          continue;
        }
        const brotli = brotliCompressSync(bytes, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
            [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
          },
        });
        writeFileSync(`${path}.br`, brotli);
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

interface Chunk {
  readonly type: "chunk";
  readonly fileName: string;
  readonly imports: readonly string[];
  readonly facadeModuleId: string | null;
  readonly isEntry: boolean;
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> };
}

/** Names the files of a host's page and of its graphs in index.html, from where public/first.js loads them in parallel. */
export function nameHostPage(): Plugin {
  return {
    name: "normstat-name-host-page",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const chunks = new Map<string, Chunk>();
        for (const output of Object.values(bundle ?? {})) {
          if (output.type === "chunk") {
            chunks.set(output.fileName, output);
          }
        }
        const all = [...chunks.values()];
        const reach = (from: Chunk | undefined, found: Set<string>): Set<string> => {
          if (from !== undefined && !found.has(from.fileName)) {
            found.add(from.fileName);
            for (const css of from.viteMetadata?.importedCss ?? []) {
              found.add(css);
            }
            for (const name of from.imports) {
              reach(chunks.get(name), found);
            }
          }
          return found;
        };
        const first = reach(
          all.find(({ isEntry }) => isEntry),
          new Set(),
        );
        const later = new Set<string>();
        for (const module of ["pages/host/HostPage.tsx", "plot/plotly.ts"]) {
          const chunk = all.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/src/${module}`) === true);
          if (chunk === undefined) {
            throw new Error(`the build has no chunk of its own for ${module}`);
          }
          reach(chunk, later);
        }
        const files = [...later].filter((name) => !first.has(name)).map((name) => `/${name}`);
        return [{ tag: "meta", attrs: { name: "normstat-host-page", content: files.join(" ") }, injectTo: "head-prepend" }];
      },
    },
  };
}
