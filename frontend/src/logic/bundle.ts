/** Bundles of another normstat: told from other files by their names; the server looks at their first bytes. */

// A browser that already has a file of that name writes " (1)" into the next one's.
const BUNDLE_NAME = /\.normstat(?: ?\(\d+\))?\.zip$/i;
const USUAL_NAME = /^(?:.*[/\\])?(.+)-\d{8}T\d{6}Z-\d{8}T\d{6}Z\.normstat(?: ?\(\d+\))?\.zip$/i;

/** Return whether a file of this name is a bundle. */
export function isBundleName(name: string): boolean {
  return BUNDLE_NAME.test(name);
}

/** Return the host that a bundle's usual name tells; null for other names. */
export function hostOfBundle(name: string): string | null {
  return USUAL_NAME.exec(name)?.[1] ?? null;
}
