import { expect, test } from "vitest";
import { partsOf, withParts } from "./build_words";

test("a catalogue is taken apart by the files that show its texts", () => {
  const catalogue = `export const en = { common: { save: "Save" }, hosts: { row: { n: (n: number) => \`\${String(n)} hosts, }\` }, bar: { a: "A" } } };`;
  expect([...partsOf(catalogue)]).toEqual([
    ["common", `{ save: "Save" }`],
    ["hosts-row", "{ n: (n: number) => `${String(n)} hosts, }` }"],
    ["hosts-bar", `{ a: "A" }`],
  ]);
});

test("a module imports the parts that it uses", () => {
  const code = `import { language, words } from "../../words";\nconst a = [words.common.save, words.hosts.row.n(2), words.common.close];\n`;
  expect(withParts(code, "/src/words")).toBe(
    `import { language } from "/src/words"; import { words as words_common } from "/src/words/en.ts?part=common"; ` +
      `import { words as words_hosts_row } from "/src/words/en.ts?part=hosts-row";\n` +
      `const a = [words_common.save, words_hosts_row.n(2), words_common.close];\n`,
  );
  expect(withParts(`import { word } from "./words_of_logic";`, "/src/words")).toBeNull();
});

test("a whole folder of words is refused, in code but not in a sentence", () => {
  const code = (line: string) => `import { words } from "../words";\n${line}\n`;
  expect(() => withParts(code("const say = words.traceLog;"), "/src/words")).toThrow("words.traceLog is a whole folder");
  expect(withParts(code("// In words. Missing: null."), "/src/words")).not.toBeNull();
});
