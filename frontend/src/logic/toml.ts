/**
 * Fields of a spec's TOML text, found and changed line by line, so that comments and order stay as somebody wrote them.
 * Knows the form that specs have (`[[stats]]`, `[[stats.fields]]`, `key = value` on one line); the server reads the whole of TOML.
 */

export interface FieldBlock {
  /** Counted over all stats of the text. */
  readonly index: number;
  readonly stat: string;
  /** Texts and numbers that stand on one line each; other values are left out. */
  readonly values: Readonly<Record<string, string>>;
}

interface Block {
  readonly header: string;
  /** First line, the header. */
  readonly start: number;
  /** Behind the last line. */
  readonly end: number;
}

const HEADER = /^\s*(\[\[?)\s*([\w.-]+)\s*\]\]?\s*(?:#.*)?$/;
const ASSIGNMENT = /^(\s*)([\w-]+)(\s*=\s*)(.*)$/;

/** The blocks of the text, that before the first header too (its header is ""). What is inside of long texts is no header. */
function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let header = "";
  let start = 0;
  let quote: string | null = null;
  for (const [number, line] of lines.entries()) {
    const found = quote === null ? HEADER.exec(line) : null;
    if (found) {
      blocks.push({ header, start, end: number });
      header = `${found[1] ?? ""}${found[2] ?? ""}`;
      start = number;
    }
    for (const mark of line.match(/"""|'''/g) ?? []) {
      quote = quote === null ? mark : quote === mark ? null : quote;
    }
  }
  return [...blocks, { header, start, end: lines.length }];
}

/** What a value on one line says; null for lists, tables and texts over several lines. */
export function parseValue(text: string): string | null {
  const trimmed = text.trim();
  const basic = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(trimmed);
  if (basic) {
    try {
      return JSON.parse(`"${basic[1] ?? ""}"`) as string;
    } catch {
      return null;
    }
  }
  const literal = /^'([^']*)'\s*(?:#.*)?$/.exec(trimmed);
  if (literal) {
    return literal[1] ?? "";
  }
  const plain = /^([+-]?\d[\d_.eE+-]*|true|false)\s*(?:#.*)?$/.exec(trimmed);
  return plain ? (plain[1] ?? null) : null;
}

/** A text as TOML's basic string. */
export function formatText(text: string): string {
  // JSON escapes what TOML must have escaped; TOML also wants the control character 127 so.
  return JSON.stringify(text).replaceAll("\u007f", "\\u007F");
}

function valuesOf(lines: readonly string[], block: Block): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of lines.slice(block.start + 1, block.end)) {
    const [, , name, , raw] = ASSIGNMENT.exec(line) ?? [];
    const value = raw === undefined ? null : parseValue(raw);
    if (name !== undefined && value !== null) {
      values[name] = value;
    }
  }
  return values;
}

function fieldBlocks(lines: readonly string[]): readonly { readonly block: Block; readonly stat: string }[] {
  let stat = "";
  return blocksOf(lines).flatMap((block) => {
    if (block.header === "[[stats") {
      stat = valuesOf(lines, block)["name"] ?? "";
    }
    return block.header === "[[stats.fields" ? [{ block, stat }] : [];
  });
}

/** All fields of a spec, in the order of the text. */
export function readFields(toml: string): readonly FieldBlock[] {
  const lines = toml.split("\n");
  return fieldBlocks(lines).map(({ block, stat }, index) => ({ index, stat, values: valuesOf(lines, block) }));
}

/** The text with another value of a field; a field that has no such line gets one. */
export function setFieldValue(toml: string, index: number, name: string, value: string): string {
  const lines = toml.split("\n");
  const found = fieldBlocks(lines)[index];
  if (found === undefined) {
    return toml;
  }
  const { block } = found;
  const own = lines.slice(block.start + 1, block.end);
  const place = own.findIndex((line) => ASSIGNMENT.exec(line)?.[2] === name);
  const text = formatText(value);
  if (place >= 0) {
    own[place] = (own[place] ?? "").replace(
      ASSIGNMENT,
      (_, indent: string, key: string, equals: string) => `${indent}${key}${equals}${text}`,
    );
  } else {
    // Behind the last line that says something, before the blank lines that part it from the next block.
    const last = own.findLastIndex((line) => line.trim() !== "");
    own.splice(last + 1, 0, `${name} = ${text}`);
  }
  const next = [...lines.slice(0, block.start + 1), ...own, ...lines.slice(block.end)];
  return next.join("\n");
}

/** The text with another key of a field, in the lists of its stat too (panels, products). */
export function renameField(toml: string, index: number, key: string): string {
  const fields = readFields(toml);
  const field = fields[index];
  const old = field?.values["key"];
  if (field === undefined || old === undefined || old === key) {
    return toml;
  }
  const lines = setFieldValue(toml, index, "key", key).split("\n");
  let stat = "";
  for (const block of blocksOf(lines)) {
    if (block.header === "[[stats") {
      stat = valuesOf(lines, block)["name"] ?? "";
    }
    if (stat === field.stat && block.header.startsWith("[[stats.")) {
      for (let number = block.start; number < block.end; number += 1) {
        const line = lines[number] ?? "";
        if (/^\s*(fields|derived)\s*=\s*\[.*\]\s*(#.*)?$/.test(line)) {
          lines[number] = line.replaceAll(formatText(old), formatText(key));
        }
      }
    }
  }
  return lines.join("\n");
}
