/** How close the rows and graphs of every page stand, kept in this browser. Not part of the link: it is about the screen. */

import { useSyncExternalStore } from "react";

export type Density = "comfortable" | "compact";

/** public/first.js uses the same key. */
const KEY = "normstat-density";
const listeners = new Set<() => void>();

/** Return the density that is shown. */
export function readDensity(): Density {
  return document.documentElement.dataset["density"] === "compact" ? "compact" : "comfortable";
}

/** Show another density, now and in this browser's next pages. */
export function setDensity(density: Density): void {
  document.documentElement.dataset["density"] = density;
  try {
    window.localStorage.setItem(KEY, density);
  } catch {
    // A browser that keeps nothing shows the usual density next time.
  }
  for (const listener of listeners) {
    listener();
  }
}

export function toggleDensity(): void {
  setDensity(readDensity() === "compact" ? "comfortable" : "compact");
}

export function useDensity(): Density {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readDensity);
}
