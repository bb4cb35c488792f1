import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
// @ts-expect-error -- oxlint reads this configuration on Node 20, which cannot load TypeScript
import untyped from "./oxlint.config.js";

const config = untyped as { readonly rules: object; readonly overrides: readonly { readonly rules: object }[] };

const PROMISE = "declare function save(): Promise<void>;\n";
const ANY = "declare const given: any;\n";
const TEXT = "declare const text: string;\n";
const REACT = 'import { useCallback, useEffect, useMemo, useRef, useState } from "react";\n';

/** Code that each rule must refuse: an update of Oxlint could drop a rule or an option without an error. */
const REFUSED: Readonly<Record<string, string>> = {
  eqeqeq: "export const isSame = (a: string, b: string) => a == b;",
  "max-lines": "\n".repeat(401),
  "no-array-constructor": "export const made = new Array(1, 2);",
  "no-empty-function": "export function nothing() {}",
  "no-unused-expressions": `${TEXT}text === "a" ? 1 : 2;\nexport {};`,
  "no-unused-vars": "const left = 1;\nexport {};",
  "no-useless-constructor": "export class Made {\n  constructor() {}\n  a = 1;\n}",
  "no-var": "export var a = 1;",
  "prefer-const": "let a = 1;\nexport { a };",
  "prefer-rest-params": "export function first(): unknown {\n  return arguments[0];\n}",
  "prefer-spread": "export const most = (all: number[]) => Math.max.apply(Math, all);",

  "react/error-boundaries": "export function A() {\n  try {\n    return <b />;\n  } catch {\n    return null;\n  }\n}",
  "react/exhaustive-deps": `${REACT}export function useA(a: () => void) {\n  useEffect(() => {\n    a();\n  }, []);\n}`,
  "react/globals": "let n = 0;\nexport function A() {\n  n = 1;\n  return <b>{n}</b>;\n}",
  "react/immutability": "export function A(p: { a: { b: number } }) {\n  p.a.b = 1;\n  return <b>{p.a.b}</b>;\n}",
  "react/incompatible-library":
    'import { useVirtualizer } from "@tanstack/react-virtual";\nexport function A() {\n  const v = useVirtualizer({});\n  return <b>{v.x}</b>;\n}',
  "react/preserve-manual-memoization": `${REACT}export function useA(b: number) {\n  const all = [b];\n  useState(0);\n  all.push(1);\n  return useCallback(() => all, [all]);\n}`,
  "react/purity": "export function A() {\n  return <b>{Math.random()}</b>;\n}",
  "react/refs": `${REACT}export function A() {\n  const a = useRef(0);\n  return <b>{a.current}</b>;\n}`,
  "react/rules-of-hooks": `${REACT}export function A(p: { a: boolean }) {\n  if (p.a) {\n    useState(0);\n  }\n  return null;\n}`,
  "react/set-state-in-effect": `${REACT}export function A() {\n  const [a, setA] = useState(0);\n  useEffect(() => {\n    setA(1);\n  }, []);\n  return <b>{a}</b>;\n}`,
  "react/set-state-in-render": `${REACT}export function A() {\n  const [a, setA] = useState(0);\n  setA(1);\n  return <b>{a}</b>;\n}`,
  "react/static-components": "export function A() {\n  const B = () => <b />;\n  return <B />;\n}",
  "react/unsupported-syntax": 'export function A() {\n  eval("1");\n  return <b />;\n}',
  "react/use-memo": `${REACT}export function A(p: { a: number }) {\n  const x = useMemo(async () => p.a, [p.a]);\n  return <b>{String(x)}</b>;\n}`,
  "react/void-use-memo": `${REACT}export function A(p: { a: number }) {\n  useMemo(() => {\n    console.log(p.a);\n  }, [p.a]);\n  return null;\n}`,

  "typescript/adjacent-overload-signatures": "export interface A {\n  a(): void;\n  b(): void;\n  a(x: string): void;\n}",
  "typescript/array-type": "export const a: Array<string> = [];",
  "typescript/await-thenable": "export async function a() {\n  await 1;\n}",
  "typescript/ban-ts-comment": "// @ts-ignore\nexport const a: string = 1;",
  "typescript/ban-tslint-comment": "// tslint:disable\nexport {};",
  "typescript/class-literal-property-style": "export class A {\n  get a() {\n    return 1;\n  }\n}",
  "typescript/consistent-generic-constructors": "export const a: Set<string> = new Set();",
  "typescript/consistent-indexed-object-style": "export interface A {\n  [key: string]: number;\n}",
  "typescript/consistent-type-assertions": "export const a = <string>JSON.parse('1');",
  "typescript/consistent-type-imports": 'import { ReactNode } from "react";\nexport type A = ReactNode;',
  "typescript/dot-notation": 'export const a = { b: 1 }["b"];',
  "typescript/no-array-delete": "export function a(b: number[]) {\n  delete b[0];\n}",
  "typescript/no-base-to-string": "export const a = String({});",
  "typescript/no-confusing-non-null-assertion": "export const a = (b: number | null, c: number) => b! == c;",
  "typescript/no-confusing-void-expression": "export const a = (b: () => void) => [b()];",
  "typescript/no-deprecated": "/** @deprecated */\nconst a = 1;\nexport const b = a;",
  "typescript/no-duplicate-enum-values": "export enum A {\n  B = 1,\n  C = 1,\n}",
  "typescript/no-duplicate-type-constituents": "export type A = 'b' | 'b';",
  "typescript/no-dynamic-delete": "export function a(b: Record<string, number>, c: string) {\n  delete b[c];\n}",
  "typescript/no-empty-object-type": "export type A = {};",
  "typescript/no-explicit-any": "export type A = any;",
  "typescript/no-extra-non-null-assertion": "export const a = (b: number | null) => b!!;",
  "typescript/no-extraneous-class": "export class A {\n  static b = 1;\n}",
  "typescript/no-floating-promises": `${PROMISE}save();\nexport {};`,
  "typescript/no-for-in-array": "export function a(b: number[]) {\n  for (const c in b) {\n    console.log(c);\n  }\n}",
  "typescript/no-generated-empty-object-type": "export type A = Omit<{ b: 1 }, 'b'>;",
  "typescript/no-implied-eval": "setTimeout('1', 1);\nexport {};",
  "typescript/no-inferrable-types": "export const a: number = 1;",
  "typescript/no-invalid-void-type": "export type A = string | void;",
  "typescript/no-meaningless-void-operator": "declare function a(): void;\nvoid a();\nexport {};",
  "typescript/no-misused-new": "export interface A {\n  new (): A;\n}",
  "typescript/no-misused-promises": `${PROMISE}export const a = () => (save() ? 1 : 2);`,
  "typescript/no-misused-spread": `${TEXT}export const a = [...text];`,
  "typescript/no-mixed-enums": "export enum A {\n  B = 1,\n  C = 'c',\n}",
  "typescript/no-namespace": "export namespace A {\n  export const b = 1;\n}",
  "typescript/no-non-null-asserted-nullish-coalescing": "export const a = (b: number[]) => b[0]! ?? 1;",
  "typescript/no-non-null-asserted-optional-chain": "export const a = (b: { c: number } | null) => b?.c!;",
  "typescript/no-non-null-assertion": "export const a = (b: number | null) => b!;",
  "typescript/no-redundant-type-constituents": "export type A = unknown | string;",
  "typescript/no-require-imports": "export const a = require('node:fs');",
  "typescript/no-this-alias": "export class A {\n  b() {\n    const self = this;\n    return () => self;\n  }\n}",
  "typescript/no-unnecessary-boolean-literal-compare": "export const a = (b: boolean) => b === true;",
  "typescript/no-unnecessary-condition": "export const a = (b: { c: number }) => b?.c;",
  "typescript/no-unnecessary-template-expression": `${TEXT}export const a = \`\${text}\`;`,
  "typescript/no-unnecessary-type-arguments": "declare function f<T = string>(b?: T): T;\nexport const a = f<string>();",
  "typescript/no-unnecessary-type-assertion": `${TEXT}export const a = text as string;`,
  "typescript/no-unnecessary-type-constraint": "export const a = <T extends unknown>(b: T): T[] => [b];",
  "typescript/no-unnecessary-type-conversion": `${TEXT}export const a = String(text);`,
  "typescript/no-unnecessary-type-parameters": "export function a<T>(b: T): void {\n  console.log(b);\n}",
  "typescript/no-unsafe-argument": `${ANY}${TEXT}export const a = text.startsWith(given);`,
  "typescript/no-unsafe-assignment": `${ANY}export const a = given;`,
  "typescript/no-unsafe-call": `${ANY}given();\nexport {};`,
  "typescript/no-unsafe-declaration-merging": "export interface A {\n  b: number;\n}\nexport class A {}",
  "typescript/no-unsafe-enum-assignment": "enum A {\n  B = 1,\n}\nexport const a: A = 1;",
  "typescript/no-unsafe-enum-comparison": "enum A {\n  B = 1,\n}\nexport const a = (b: A) => b === 1;",
  "typescript/no-unsafe-function-type": "export type A = Function;",
  "typescript/no-unsafe-member-access": `${ANY}given.b;\nexport {};`,
  "typescript/no-unsafe-return": `${ANY}export const a = () => given;`,
  "typescript/no-unsafe-unary-minus": `${TEXT}export const a = -text;`,
  "typescript/no-useless-default-assignment": "export const a = [1].map((b = 2) => b);",
  "typescript/no-wrapper-object-types": "export type A = String;",
  "typescript/non-nullable-type-assertion-style": "export const a = (b: string | undefined) => b as string;",
  "typescript/only-throw-error": "export function a() {\n  throw 'b';\n}",
  "typescript/prefer-as-const": "export const a = 'b' as 'b';",
  "typescript/prefer-find": "export const a = (b: number[]) => b.filter((c) => c > 1)[0];",
  "typescript/prefer-for-of":
    "export function a(b: number[]) {\n  for (let i = 0; i < b.length; i++) {\n    console.log(b[i]);\n  }\n}",
  "typescript/prefer-function-type": "export interface A {\n  (): string;\n}",
  "typescript/prefer-includes": `${TEXT}export const a = text.indexOf('b') !== -1;`,
  "typescript/prefer-literal-enum-member": "const b = 'b';\nexport enum A {\n  B = `${b}c`,\n}",
  "typescript/prefer-namespace-keyword": "export declare module A {}",
  "typescript/prefer-nullish-coalescing": "export const a = (b: string | null) => b || 'c';",
  "typescript/prefer-optional-chain": "export const a = (b: { c: string } | null) => b && b.c;",
  "typescript/prefer-promise-reject-errors": "export const a = () => Promise.reject('b');",
  "typescript/prefer-reduce-type-parameter": "export const a = [1].reduce((b, c) => b.concat(c), [] as number[]);",
  "typescript/prefer-regexp-exec": `${TEXT}export const a = text.match(/b/);`,
  "typescript/prefer-return-this-type": "export class A {\n  b(): A {\n    return this;\n  }\n}",
  "typescript/prefer-string-starts-ends-with": `${TEXT}export const a = text[0] === 'b';`,
  "typescript/related-getter-setter-pairs": "export interface A {\n  get b(): string;\n  set b(c: number);\n}",
  "typescript/require-await": "export async function a() {\n  return 1;\n}",
  "typescript/restrict-plus-operands": `${TEXT}export const a = text + 1;`,
  "typescript/restrict-template-expressions": "export const a = (b: number) => `${b}`;",
  "typescript/return-await": `${PROMISE}export async function a() {\n  try {\n    return save();\n  } catch {\n    return 1;\n  }\n}`,
  "typescript/switch-exhaustiveness-check":
    "export function a(b: 1 | 2) {\n  switch (b) {\n    case 1:\n      return 1;\n  }\n  return 2;\n}",
  "typescript/triple-slash-reference": '/// <reference path="./b.d.ts" />\nexport {};',
  "typescript/unbound-method": "class B {\n  c() {\n    return this;\n  }\n}\ndeclare const b: B;\nexport const a = b.c;",
  "typescript/unified-signatures": "export declare function a(b: string): void;\nexport declare function a(b: number): void;",
  "typescript/use-unknown-in-catch-callback-variable": `${PROMISE}void save().catch((error) => {\n  console.log(error);\n});\nexport {};`,
  TS2322: 'export const a: number = "b";',
};

/** Code that must be refused in certain files. */
const REFUSED_IN: readonly (readonly [rule: string, path: string, code: string])[] = [
  ["no-restricted-globals", "src/pages/a/Fetch.ts", 'export const a = () => fetch("/api");'],
  ["no-restricted-globals", "src/state/url.ts", 'export const a = () => fetch("/api");'],
  ["no-restricted-globals", "src/api/client.ts", "export const a = () => location.href;"],
  ["tree/syntax", "src/main.ts", "export const a = () => window.location.href;"],
  ["tree/syntax", "src/main_document.ts", "export const a = () => document.location.href;"],
  ["tree/syntax", "src/logic/now.ts", "export const a = () => Date.now();"],
  ["tree/syntax", "src/logic/date.ts", "export const a = () => new Date();"],
  ["tree/syntax", "src/components/Math.tsx", "export const a = Math.max(1, 2);"],
  ["tree/syntax", "src/pages/a/Sum.tsx", "export const a = (b: number[]) => b.reduce((c, d) => c + d);"],
  ["tree/imports", "src/state/plotly.ts", 'export * from "plotly.js";'],
  ["tree/imports", "src/api/shown.ts", 'import "../pages/a/Sum";'],
  ["tree/imports", "src/logic/react.ts", 'import "react";'],
  ["tree/imports", "src/plot/state.ts", 'import "../state/url";'],
  ["tree/imports", "src/components/Page.tsx", 'import "../pages/a/Sum";'],
  ["tree/imports", "src/pages/b/Other.tsx", 'export { a } from "../a/Sum";'],
];

const root = mkdtempSync(join(tmpdir(), "normstat-oxlint-"));
/** What Oxlint reports: a file and a rule. */
const reported = new Set<string>();

function fileOf(rule: string): string {
  return `${rule.replace("/", "_")}.${rule.startsWith("react/") ? "tsx" : "ts"}`;
}

function write(path: string, code: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), code);
}

beforeAll(() => {
  for (const name of ["oxlint.config.js", "oxlint.tree.js", "package.json"]) {
    copyFileSync(new URL(name, import.meta.url), join(root, name));
  }
  symlinkSync(new URL("node_modules", import.meta.url), join(root, "node_modules"));
  write("tsconfig.json", JSON.stringify({ extends: new URL("tsconfig.app.json", import.meta.url).pathname, include: ["."] }));
  for (const [rule, code] of Object.entries(REFUSED)) {
    write(fileOf(rule), code);
  }
  for (const [, path, code] of REFUSED_IN) {
    write(path, code);
  }
  const { stdout } = spawnSync("node_modules/.bin/oxlint", ["-c", "oxlint.config.js", "-f", "json"], {
    cwd: root,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { filename: string; code?: string }[] };
  for (const { filename, code = "" } of diagnostics) {
    reported.add(`${filename} ${code.replace(/^.*\(|\)$/g, "")}`);
  }
}, 60_000);

afterAll(() => {
  rmSync(root, { recursive: true });
});

it("every rule of the configuration has an example here", () => {
  const inFolders = config.overrides.flatMap(({ rules }) => Object.keys(rules));
  const examples = new Set([...Object.keys(REFUSED), ...REFUSED_IN.map(([rule]) => rule)]);
  expect([...Object.keys(config.rules), ...inFolders].filter((rule) => !examples.has(rule))).toEqual([]);
});

it("every rule refuses its example", () => {
  const expected = [...Object.keys(REFUSED).map((rule) => [rule, fileOf(rule)] as const), ...REFUSED_IN];
  const passed = expected.filter(([rule, path]) => !reported.has(`${path} ${rule.replace(/^.*\//, "")}`));
  expect(passed).toEqual([]);
});
