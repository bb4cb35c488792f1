/** Background jobs: their state and progress in words. */

import type { Job, JobState, Reparse, ReparseCreate } from "./api";
import { formatBytes, formatCount } from "./number";
import { counted } from "./counted";

/** A job whose progress is counted in bytes. */
export interface ByteJob {
  readonly state: JobState;
  readonly n_bytes: number;
  readonly n_bytes_done: number;
}

/** Return whether the job is queued or running. */
export function isActive(job: Pick<ByteJob, "state">): boolean {
  return job.state === "queued" || job.state === "running";
}

export const JOB_WORDS: Readonly<Record<JobState, string>> = {
  queued: "queued",
  running: "running",
  done: "done",
  failed: "failed",
  stopped: "stopped",
};

/** The progress of a job: done and total in a unit; the total is null while unknown. */
export type JobProgress = Pick<Job, "n_done" | "n_total" | "unit">;

/** The progress of an import or a reparse. */
export function progressInBytes(job: ByteJob): JobProgress {
  return { n_done: job.n_bytes_done, n_total: job.n_bytes <= 0 ? null : job.n_bytes, unit: "bytes" };
}

/** Percent done, 0 to 100; null while the total is unknown. */
export function percentDone({ n_done, n_total }: JobProgress): number | null {
  return n_total === null ? null : Math.min(100, Math.max(0, Math.floor((100 * n_done) / Math.max(1, n_total))));
}

/** `3 of 7 pieces`, `1.2 MB of 4 MB`, `12,000 samples`; "" when nothing is done yet. */
export function describeProgress({ n_done, n_total, unit }: JobProgress): string {
  if (n_done === 0 && n_total === null) {
    return "";
  }
  const format = unit === "bytes" ? formatBytes : formatCount;
  const terms = unit === "bytes" ? "" : ` ${unit}`;
  return n_total === null ? `${format(n_done)}${terms}` : `${format(n_done)} of ${format(n_total)}${terms}`;
}

/** Return whether a reparse was started by exactly this request. */
export function isSameRequest(reparse: Reparse, request: ReparseCreate): boolean {
  return (
    reparse.host === (request.host ?? null) &&
    reparse.spec === (request.spec ?? null) &&
    reparse.stream_id === (request.stream_id ?? null) &&
    reparse.is_outdated_only === request.is_outdated_only
  );
}

/** The reparse to show: the active one of this request, else the one that was started here. */
export function findReparse(reparses: readonly Reparse[], request: ReparseCreate, startedId: number | null): Reparse | null {
  const ours = reparses.filter((reparse) => isSameRequest(reparse, request));
  return ours.find(isActive) ?? ours.find(({ id }) => id === startedId) ?? null;
}

/** Describe what a reparse does, or its result. */
export function describeReparse(reparse: Reparse): string {
  switch (reparse.state) {
    case "queued":
      return "queued";
    case "running":
      return reparse.n_streams > 1
        ? `reading stream ${formatCount(Math.min(reparse.n_streams, reparse.n_streams_done + 1))} of ${formatCount(reparse.n_streams)}, ${describeProgress(progressInBytes(reparse))}`
        : `reading, ${describeProgress(progressInBytes(reparse))}`;
    case "done":
      return [
        reparse.n_samples_after === reparse.n_samples_before
          ? `${counted(reparse.n_samples_after, "sample")}, as before`
          : `${counted(reparse.n_samples_after, "sample")} now, ${formatCount(reparse.n_samples_before)} before`,
        reparse.n_rejected_after === 0 ? "no line rejected" : `${counted(reparse.n_rejected_after, "line")} still rejected`,
      ].join("; ");
    case "failed":
      return reparse.message === "" ? "failed; the old samples are kept" : reparse.message;
    case "stopped":
      return "stopped; streams not yet reparsed are unchanged";
  }
}

export const JOB_KINDS: Readonly<Record<Job["kind"], string>> = {
  import: "Import",
  reparse: "Reparse",
  profile: "Profile",
  rollup: "Rollups",
  sealing: "Sealing",
  retention: "Retention",
  deletion: "Host deletion",
  backtest: "Backtest",
  packing: "Packing raw bytes",
};

/** Return the target of a job: `quiet, web1`. */
export function describeTarget(job: Pick<Job, "baseline" | "host" | "target">): string {
  return [job.baseline, job.host, job.target].filter((part) => part !== null && part !== "").join(", ");
}
