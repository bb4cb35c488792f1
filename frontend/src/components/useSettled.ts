import { useDebouncedValue } from "@mantine/hooks";

const SETTLED_MS = 120;

/** The value: the first change at once, and of many in a row only the last, so that a drag asks and draws twice, not fifty times. */
export function useSettled<T>(value: T): T {
  return useDebouncedValue(value, SETTLED_MS, { leading: true })[0];
}
