/**
 * What the build does with the words of the page: each page's file gets the English words of that page, as if they stood in its code. So
 * English is no file of its own and no page loads the words of all others. Another language is one file, which public/first.js loads.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import type { Plugin } from "vite";

const IMPORT = /^import \{ ([^}]*\bwords\b[^}]*) \} from "((?:\.{1,2}\/)+words)";$/m;
/** The words of a file, or the common ones. */
const USE = /\bwords\s*\.\s*(?:(common)\b|(\w+)\s*\.\s*(\w+))/g;
/** A folder without a file, which no part is; the build would leave a name that nobody defines. */
const WHOLE = /\bwords\.(?!common\b)\w+\b(?!\s*\.)/;
const PART = /\/src\/words\/en\.ts\?part=([\w-]+)$/;

/** Return the members of an object in source code, in the order in which they are written. */
function membersOf(object: ts.Expression | undefined): readonly (readonly [string, ts.Expression])[] {
  return object !== undefined && ts.isObjectLiteralExpression(object)
    ? object.properties.filter(ts.isPropertyAssignment).map((member) => [member.name.getText(), member.initializer] as const)
    : [];
}

/** Return the source of the parts of a catalogue: `common`, and `hosts-addHost` for each file of each folder. */
export function partsOf(catalogue: string): ReadonlyMap<string, string> {
  const file = ts.createSourceFile("en.ts", catalogue, ts.ScriptTarget.ES2022, true);
  const folders = file.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations.flatMap(({ initializer }) => membersOf(initializer)));
  return new Map(
    folders.flatMap(([folder, words]): readonly (readonly [string, string])[] =>
      folder === "common"
        ? [[folder, words.getText()]]
        : membersOf(words).map(([name, part]) => [`${folder}-${name}`, part.getText()]),
    ),
  );
}

/** Return a module that imports the parts of the catalogue that it uses instead of the whole; null if it uses none. */
export function withParts(code: string, folder: string): string | null {
  const [line, names = ""] = IMPORT.exec(code) ?? [];
  if (line === undefined) {
    return null;
  }
  const partOf = (common: string | undefined, folder = "", name = ""): string => common ?? `${folder}-${name}`;
  const local = (part: string): string => `words_${part.replace("-", "_")}`;
  const used = new Set([...code.matchAll(USE)].map(([, common, ofFolder, name]) => partOf(common, ofFolder, name)));
  const others = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "words" && name !== "");
  const imports = [
    ...(others.length === 0 ? [] : [`import { ${others.join(", ")} } from "${folder}";`]),
    ...[...used].map((part) => `import { words as ${local(part)} } from "${folder}/en.ts?part=${part}";`),
  ];
  const whole = WHOLE.exec(code)?.[0];
  if (whole !== undefined) {
    throw new Error(`${whole} is a whole folder of words: say words.<folder>.<file>`);
  }
  // On one line, so that all others keep their numbers.
  return code
    .replace(USE, (_, ...names: [string | undefined, string | undefined, string | undefined]) =>
      local(partOf(names[0], names[1], names[2])),
    )
    .replace(line, imports.join(" "));
}

/** Gives each module only the English words that it shows. */
export function splitWords(): Plugin {
  let folder = "";
  let parts: ReadonlyMap<string, string> = new Map();
  return {
    name: "normstat-split-words",
    apply: "build",
    enforce: "pre",
    configResolved({ root }) {
      folder = join(root, "src/words").replaceAll("\\", "/");
    },
    buildStart() {
      this.emitFile({ type: "chunk", id: `${folder}/german.ts`, name: "german" });
      parts = partsOf(readFileSync(join(folder, "en.ts"), "utf8"));
    },
    resolveId: (id) => (PART.test(id) ? id : null),
    load(id) {
      const [, part] = PART.exec(id) ?? [];
      if (part === undefined) {
        return null;
      }
      const source = parts.get(part);
      if (source === undefined) {
        throw new Error(`src/words/en.ts has no ${part}`);
      }
      return `import { translated } from "${folder}/index.ts";
import { counted, nodes } from "${folder}/say.ts";
import type { ReactNode } from "react";
export const words = translated === null ? ${source} : translated.${part.replace("-", ".")};`;
    },
    transform(code, id) {
      return /\/src\/(?!words\/).*\.tsx?$/.test(id) ? withParts(code, folder) : null;
    },
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const chunks = Object.values(bundle ?? {}).filter((output) => output.type === "chunk");
        const isWhole = ([id, { renderedLength }]: readonly [string, { readonly renderedLength: number }]): boolean =>
          id.endsWith("/src/words/en.ts") && renderedLength > 0;
        if (chunks.some(({ modules }) => Object.entries(modules).some(isWhole))) {
          throw new Error("the whole of src/words/en.ts is in the build: import { words } and use words.<part>.… only");
        }
        const german = chunks.find(({ facadeModuleId }) => facadeModuleId === `${folder}/german.ts`);
        if (german === undefined) {
          throw new Error("the build has no file of its own for src/words/german.ts");
        }
        return [{ tag: "meta", attrs: { name: "normstat-words-de", content: `/${german.fileName}` }, injectTo: "head-prepend" }];
      },
    },
  };
}
