/** Values that are the same although they are other objects. Pure. */

/** Return `next` with the members of `before` in place of those that have the same value: what depends on them need not be computed again. */
export function keepSame<T extends object>(before: T, next: T): T {
  const same = (Object.keys(next) as (keyof T)[]).filter(
    (key) => before[key] !== next[key] && textOf(before[key]) === textOf(next[key]),
  );
  return same.length === 0 ? next : { ...next, ...Object.fromEntries(same.map((key) => [key, before[key]])) };
}

/** Maps and sets are lists of their entries; JSON would leave them empty. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) => (part instanceof Map || part instanceof Set ? [...part] : part));
}
