/** Endpoints and queries of experiments and their runs. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  ArtefactRunsCreate,
  Experiment,
  ExperimentAnalysis,
  ExperimentDetails,
  ExperimentPage,
  ExperimentRun,
  ExperimentUpdate,
  RunCreate,
  RunUpdate,
} from "../logic/api";
import { addressOf, answered, client } from "./client";

const REFRESH_MS = 15_000;

/** The keys of everything that shows experiments. */
export const EXPERIMENT_KEYS = [["experiments"], ["experiment"], ["experiment-analysis"]] as const;

export function experimentsQuery(search: string) {
  return queryOptions({
    queryKey: ["experiments", search],
    queryFn: ({ signal }): Promise<ExperimentPage> =>
      answered(client.GET("/api/v1/experiments", { signal, params: { query: { search, limit: 500 } } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

export function experimentQuery(id: number) {
  return queryOptions({
    queryKey: ["experiment", id],
    queryFn: ({ signal }): Promise<ExperimentDetails> =>
      answered(client.GET("/api/v1/experiments/{id}", { signal, params: { path: { id } } })),
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
    queryFn: ({ signal }): Promise<ExperimentAnalysis> =>
      answered(client.GET("/api/v1/experiments/{id}/analysis", { signal, params: { path: { id }, query: { ...query, work } } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Return the URL of the runs as CSV. */
export function runsCsvAddress(id: number): string {
  return addressOf(`/experiments/${String(id)}/runs.csv`, {});
}

export function createRun(body: RunCreate): Promise<ExperimentRun> {
  return answered(client.POST("/api/v1/experiments/runs", { body }));
}

export function createArtefactRuns(body: ArtefactRunsCreate): Promise<Experiment> {
  return answered(client.POST("/api/v1/experiments/artefact-runs", { body }));
}

export function updateExperiment(id: number, body: ExperimentUpdate): Promise<Experiment> {
  return answered(client.PUT("/api/v1/experiments/{id}", { body, params: { path: { id } } }));
}

export function deleteExperiment(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/experiments/{id}", { params: { path: { id } } }));
}

export function restoreExperiment(id: number): Promise<unknown> {
  return answered(client.POST("/api/v1/experiments/{id}/restore", { params: { path: { id } } }));
}

export function updateRun(id: number, body: RunUpdate): Promise<ExperimentRun> {
  return answered(client.PUT("/api/v1/experiments/runs/{id}", { body, params: { path: { id } } }));
}

export function deleteRun(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/experiments/runs/{id}", { params: { path: { id } } }));
}

export function restoreRun(id: number): Promise<unknown> {
  return answered(client.POST("/api/v1/experiments/runs/{id}/restore", { params: { path: { id } } }));
}
