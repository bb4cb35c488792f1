/**
 * Find and change the fields in a spec's TOML text line by line, so that comments and order are preserved.
 * Supports the usual form of specs (`[[stats]]`, `[[stats.fields]]`, `key = value` on one line); the server supports all of TOML.
 */

export interface FieldBlock {
  /** The index, counted over all stats of the text. */
  readonly index: number;
  readonly stat: string;
  /** The strings and numbers on one line; other values are omitted. */
  readonly values: Readonly<Record<string, string>>;
}

interface Block {
  readonly header: string;
  /** The first line, which is the header. */
  readonly start: number;
  /** The line after the last one. */
  readonly end: number;
}

const HEADER = /^\s*(\[\[?)\s*([\w.-]+)\s*\]\]?\s*(?:#.*)?$/;
const ASSIGNMENT = /^(\s*)([\w-]+)(\s*=\s*)(.*)$/;

/**
 * Return the blocks of the text, including the one before the first header (with header ""). Lines inside
 * multi-line strings are not headers.
 */
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

/** Parse a value on one line; return null for lists, tables and multi-line strings. */
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

/** Return a text as a TOML basic string. */
export function formatText(text: string): string {
  // JSON escapes what TOML requires, except for the control character 127.
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

/** Return all fields of a spec, in the order of the text. */
export function readFields(toml: string): readonly FieldBlock[] {
  const lines = toml.split("\n");
  return fieldBlocks(lines).map(({ block, stat }, index) => ({ index, stat, values: valuesOf(lines, block) }));
}

/** Return the text with a new value of a field; add the line if it is missing. */
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
    // After the last non-blank line of the block.
    const last = own.findLastIndex((line) => line.trim() !== "");
    own.splice(last + 1, 0, `${name} = ${text}`);
  }
  const next = [...lines.slice(0, block.start + 1), ...own, ...lines.slice(block.end)];
  return next.join("\n");
}

/** Return the text with a field renamed, also in its stat's lists (panels, products). */
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

/** Return the name that a spec's text gives; `unnamed` without any, which the server refuses with its reason. */
export function readNameOfSpec(toml: string): string {
  const lines = toml.split("\n");
  const [first] = blocksOf(lines);
  const top = first === undefined ? [] : lines.slice(first.start, first.end);
  const raw = top.map((line) => ASSIGNMENT.exec(line)).find((found) => found?.[2] === "name")?.[4];
  return (raw === undefined ? null : parseValue(raw)) ?? "unnamed";
}
