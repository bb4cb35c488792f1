/** Bundles: a host and a window as one file, for another normstat. */

import type { Window } from "../logic/time";
import { addressOf } from "./client";
import { span } from "./endpoints";

/** Return the URL of a bundle of a host and a window; `reports` go into it besides those of the window. */
export function bundleAddress(host: string, window: Window, reports: readonly number[] = []): string {
  return addressOf("/bundle", { host, ...span(window), report: reports.map(String) });
}
