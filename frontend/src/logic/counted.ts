/** Return a count with its noun: `1 sample`, `86,400 samples`. Thousands are separated the same way for every reader. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US", { maximumFractionDigits: 0 })} ${count === 1 ? one : many}`;
}
