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

/** Leaves the styles of maps out, which Plotly's registry names and no trace of ours uses: 65 kB. */
export function dropMapStyles(): Plugin {
  const empty = "\0no-map-styles.js";
  return {
    name: "normstat-drop-map-styles",
    enforce: "pre",
    resolveId: (id) => (id.endsWith("maplibre-gl.css") ? empty : null),
    load: (id) => (id === empty ? "export default {};" : null),
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
            chunks.set(output.fileName, output as unknown as Chunk);
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
