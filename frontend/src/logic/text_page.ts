/** Pages of a raw text, by the bytes where they begin. */

const PAGE_BYTES = 64 * 1024;

/** Return a byte about a page before another one; the page that begins there overlaps with the one that ends here. */
export function previousPage(offset: number): number {
  return Math.max(0, offset - PAGE_BYTES);
}
