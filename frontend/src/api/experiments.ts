/** Queries of experiments and their runs. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { addressOf, api } from "./client";

const REFRESH_MS = 15_000;

/** The keys of everything that shows experiments. */
export const EXPERIMENT_KEYS = [["experiments"], ["experiment"], ["experiment-analysis"]] as const;

export function experimentsQuery(search: string) {
  return queryOptions({
    queryKey: ["experiments", search],
    queryFn: ({ signal }) => api.GET("/experiments", { signal, params: { query: { search, limit: 500 } } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

export function experimentQuery(id: number) {
  return queryOptions({
    queryKey: ["experiment", id],
    queryFn: ({ signal }) => api.GET("/experiments/{id}", { signal, params: { path: { id } } }),
    refetchInterval: REFRESH_MS,
  });
}

export interface AnalysisChoice {
  readonly result: string | null;
  readonly factor: string | null;
  readonly variant: string | null;
  readonly reference: string | null;
  readonly base: string | null;
  readonly work: "fixed" | "grows";
  readonly cpu: string | null;
}

export function experimentAnalysisQuery(id: number, choice: AnalysisChoice) {
  const { result, factor, variant, reference, base, work, cpu } = choice;
  const given = { result, factor, variant, reference, base, cpu };
  const query = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return queryOptions({
    queryKey: ["experiment-analysis", id, given, work],
    queryFn: ({ signal }) =>
      api.GET("/experiments/{id}/analysis", { signal, params: { path: { id }, query: { ...query, work } } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Return the URL of the runs as CSV. */
export function runsCsvAddress(id: number): string {
  return addressOf(`/experiments/${String(id)}/runs.csv`, {});
}
