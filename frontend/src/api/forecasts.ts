/** How long until something of a host is full. */

import { queryOptions } from "@tanstack/react-query";
import { api } from "./client";

// Forecasts are made of hours.
const FRESH_MS = 10 * 60_000;

export function forecastsQuery(host: string) {
  return queryOptions({
    queryKey: ["forecasts", host],
    queryFn: ({ signal }) => api.GET("/hosts/{host}/forecasts", { signal, params: { path: { host } } }),
    staleTime: FRESH_MS,
    refetchOnWindowFocus: false,
  });
}
