/** URL search parameters: read one by one, recording those that cannot be read. Pure. */

export const VERSION = 1;

/** The raw search parameters: names with one or several values. */
export type RawSearch = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A decoded view, and the parts of the link that were ignored. */
export interface Decoded<V> {
  readonly view: V;
  readonly ignored: readonly string[];
}

/** Reads search parameters one by one and records those that it could not read. */
export class Reader {
  readonly ignored: string[] = [];
  private readonly left: Map<string, readonly string[]>;

  constructor(raw: RawSearch) {
    this.left = new Map(Object.entries(raw).map(([name, value]) => [name, typeof value === "string" ? [value] : (value ?? [])]));
    const version = this.one("v", (text) => (/^\d+$/.test(text) ? Number(text) : null));
    if (version !== null && version > VERSION) {
      this.ignored.push(`v=${String(version)}: the link is from a newer normstat; some of it may be missing`);
    }
  }

  all<T>(name: string, parse: (text: string) => T | null): readonly T[] {
    const texts = this.left.get(name) ?? [];
    this.left.delete(name);
    return texts.flatMap((text) => {
      const value = parse(text);
      if (value === null) {
        this.ignored.push(`${name}=${text}`);
        return [];
      }
      return [value];
    });
  }

  one<T>(name: string, parse: (text: string) => T | null): T | null {
    const [first, ...more] = this.all(name, parse);
    if (more.length > 0) {
      this.ignored.push(`${name}: given ${String(more.length + 1)} times`);
    }
    return first ?? null;
  }

  /** Return the parameters that were not read. */
  finish<V>(view: V): Decoded<V> {
    return {
      view,
      ignored: [...this.ignored, ...[...this.left].flatMap(([name, texts]) => texts.map((text) => `${name}=${text}`))],
    };
  }
}

// The server lists no deeper.
const MAX_PAGE = 999;

/** Parse the number of a page as the link has it, from 1; return it from 0. */
export function parsePage(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PAGE ? Number(text) - 1 : null;
}

export function oneOf<T extends string>(values: readonly T[]): (text: string) => T | null {
  return (text) => values.find((value) => value === text) ?? null;
}

export function parseId(text: string): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

/** Parse the search part of a URL for TanStack Router. */
export function parseSearch(text: string): RawSearch {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return Object.fromEntries([...found].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]));
}

/** Format search parameters. Colons, commas and slashes stay unescaped, which keeps links readable. */
export function formatSearch(raw: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(raw)) {
    for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof text === "string") {
        search.append(name, text);
      }
    }
  }
  const text = search.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}
