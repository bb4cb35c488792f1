import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { isValidElement, type ReactNode } from "react";
import { describe, expect, test } from "vitest";
import { de } from "./de";
import { en } from "./en";
import { counted } from "./say";

type Text = string | ((...parts: readonly string[]) => ReactNode);

/** Return all texts of a catalogue by their path. */
function textsOf(catalogue: object, path: readonly string[] = []): ReadonlyMap<string, Text> {
  return new Map(
    Object.entries(catalogue).flatMap(([key, value]: [string, Text | object]): readonly (readonly [string, Text])[] =>
      typeof value === "object" ? [...textsOf(value, [...path, key])] : [[[...path, key].join("."), value]],
    ),
  );
}

/** Return what a node shows. */
function shown(node: ReactNode): string {
  if (Array.isArray(node)) {
    return node.map(shown).join("");
  }
  if (isValidElement<{ readonly children?: ReactNode }>(node)) {
    return shown(node.props.children);
  }
  return typeof node === "string" ? node : "";
}

/** Return a text with a mark in place of each of its parts, such as `‹0›`. */
function filled(text: Text): string {
  return typeof text === "string"
    ? text
    : shown(text(...Array.from({ length: text.length }, (_, index) => `‹${String(index)}›`)));
}

function partsOf(text: Text): readonly string[] {
  return [...new Set(filled(text).match(/‹\d›/g))].sort();
}

const english = textsOf(en);
const german = textsOf(de);

describe("the catalogues", () => {
  test("have the same keys", () => {
    expect([...german.keys()].sort()).toEqual([...english.keys()].sort());
  });

  test("have no empty text", () => {
    for (const [path, text] of [...english, ...german]) {
      expect(filled(text).trim(), path).not.toBe("");
    }
  });

  test("have the same parts in each text", () => {
    for (const [path, text] of english) {
      expect({ path, parts: partsOf(german.get(path) ?? "") }).toEqual({ path, parts: partsOf(text) });
    }
  });

  test("begin and end texts with the same blanks, because they stand beside other texts", () => {
    const edges = (text: Text): string => filled(text).replace(/^(\s*)[\s\S]*?(\s*)$/, "$1|$2");
    for (const [path, text] of english) {
      expect({ path, edges: edges(german.get(path) ?? "") }).toEqual({ path, edges: edges(text) });
    }
  });

  test("have no English sentence in the German one", () => {
    const words = /\p{L}{2,}/gu;
    const same = [...english].filter(
      ([path, text]) => filled(text) === filled(german.get(path) ?? "") && (filled(text).match(words)?.length ?? 0) >= 3,
    );
    expect(same.map(([path, text]) => `${path}: ${filled(text)}`)).toEqual([]);
  });
});

/** Run public/first.js in a browser of these languages; return the language of the page and the script that it loads. */
function runFirst(saved: string | null, languages: readonly string[]): { lang: string; loaded: string } {
  const html = { lang: "en", setAttribute: () => undefined };
  const seen: string[] = [];
  const document = { documentElement: html, querySelector: () => null, write: (text: string) => seen.push(text) };
  const window = {
    localStorage: { getItem: (key: string) => (key === "normstat-language" ? saved : null) },
    matchMedia: () => ({ matches: false }),
    navigator: { languages },
    location: { pathname: "/login", search: "" },
  };
  runInNewContext(readFileSync(new URL("../../public/first.js", import.meta.url), "utf8"), { window, document });
  return { lang: html.lang, loaded: seen.join("") };
}

describe("the language", () => {
  test.each([
    [null, ["de-AT", "en"], "de"],
    [null, ["en-GB", "de"], "en"],
    [null, ["fr-FR", "de"], "de"],
    [null, ["fr"], "en"],
    [null, [], "en"],
    ["en", ["de"], "en"],
    ["de", ["en"], "de"],
    ["xx", ["de"], "de"],
  ] as const)("chosen %s in a browser of %j is %s", (saved, languages, lang) => {
    expect(runFirst(saved, languages)).toEqual({
      lang,
      loaded: lang === "de" ? '<script type="module" src="/src/words/german.ts"></script>' : "",
    });
  });
});

test("a count is shown with its noun", () => {
  expect([counted(0, "sample"), counted(1, "sample"), counted(86_400, "sample")]).toEqual([
    "0 samples",
    "1 sample",
    "86,400 samples",
  ]);
  expect([counted(1, "series", "series"), counted(2, "Messwert", "Messwerte")]).toEqual(["1 series", "2 Messwerte"]);
});
