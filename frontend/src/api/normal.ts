/** When normal changed on a host. */

import { queryOptions } from "@tanstack/react-query";
import { type EpochMs, toIso } from "../logic/time";
import { api } from "./client";

// A server looks for them once a day.
const FRESH_MS = 10 * 60_000;

/** The changes from a moment on. */
export function normalChangesQuery(host: string, start: EpochMs) {
  return queryOptions({
    queryKey: ["normal-changes", host, start],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/changes-of-normal", { signal, params: { path: { host }, query: { start: toIso(start) } } }),
    staleTime: FRESH_MS,
    refetchOnWindowFocus: false,
  });
}
