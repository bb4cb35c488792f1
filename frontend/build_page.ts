/** What the build does after Vite: packs the files, and tells index.html which ones a host's page needs. */

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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
      const mantine = join(id, "..");
      const used = [...usedComponents(join(root, "src"), mantine)];
      const components = readdirSync(join(mantine, "esm/components"));
      const isPartOf = (name: string, some: readonly string[]): boolean => some.some((component) => name.startsWith(component));
      // InlineInput, which checkboxes and switches are made of, is no component of its own.
      const files = readdirSync(folder).filter(
        (name) => /^[a-z]/.test(name) || isPartOf(name, used) || !isPartOf(name, components),
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

const FIRST = '<script src="/first.js"></script>';

/**
 * Puts public/first.js into index.html, without its comments: what it asks for is then under way a round trip earlier. The server allows
 * the script by its hash (api/page_files.py).
 */
export function inlineFirst(): Plugin {
  let root = ".";
  let folder = "dist";
  return {
    name: "normstat-inline-first",
    apply: "build",
    configResolved(config) {
      root = config.root;
      folder = config.build.outDir;
    },
    transformIndexHtml: {
      order: "post",
      handler(html) {
        if (!html.includes(FIRST)) {
          throw new Error(`index.html has no ${FIRST}`);
        }
        const code = readFileSync(join(root, "public/first.js"), "utf8").replace(/^\s*\/\/.*\n/gm, "");
        return html.replace(FIRST, () => `<script>${code}</script>`);
      },
    },
    closeBundle() {
      rmSync(join(folder, "first.js"), { force: true });
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
          all.find(({ facadeModuleId }) => facadeModuleId?.endsWith("/index.html") === true),
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
