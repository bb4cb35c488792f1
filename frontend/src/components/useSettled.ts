import { useDebouncedValue } from "@mantine/hooks";

const SETTLED_MS = 120;

/**
 * Return the value debounced: the first change at once, then only the last of a burst, so that a drag draws
 * twice, not fifty times.
 */
export function useSettled<T>(value: T): T {
  return useDebouncedValue(value, SETTLED_MS, { leading: true })[0];
}
