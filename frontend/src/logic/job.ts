/** Background jobs: their state and progress in words. */

import type { Job, JobState, Reparse, ReparseCreate } from "./api";
import { formatBytes, formatCount, plural } from "./number";

/** A job whose progress is counted in bytes. */
export interface ByteJob {
  readonly state: JobState;
  readonly n_bytes: number;
  readonly n_bytes_done: number;
}

/** Whether it is queued or runs. */
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

/** Percent of the bytes that are done, 0 to 100; what is done is 100, however many bytes it had. */
export function percentDone(job: ByteJob): number {
  if (job.state === "done") {
    return 100;
  }
  return job.n_bytes <= 0 ? 0 : Math.min(100, Math.max(0, Math.floor((100 * job.n_bytes_done) / job.n_bytes)));
}

/** `1.2 MB of 4 MB`; without a known size only what is done. */
export function describeBytesDone(job: ByteJob): string {
  return job.n_bytes <= 0 ? formatBytes(job.n_bytes_done) : `${formatBytes(job.n_bytes_done)} of ${formatBytes(job.n_bytes)}`;
}

/** Whether a reparse was asked for by exactly this request. */
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

/** What a reparse does, or its result. */
export function describeReparse(reparse: Reparse): string {
  switch (reparse.state) {
    case "queued":
      return "queued";
    case "running":
      return reparse.n_streams > 1
        ? `reading stream ${formatCount(Math.min(reparse.n_streams, reparse.n_streams_done + 1))} of ${formatCount(reparse.n_streams)}, ${describeBytesDone(reparse)}`
        : `reading, ${describeBytesDone(reparse)}`;
    case "done":
      return [
        reparse.n_samples_after === reparse.n_samples_before
          ? `${plural(reparse.n_samples_after, "sample")}, as before`
          : `${plural(reparse.n_samples_after, "sample")} now, ${formatCount(reparse.n_samples_before)} before`,
        reparse.n_rejected_after === 0 ? "no line rejected" : `${plural(reparse.n_rejected_after, "line")} still rejected`,
      ].join("; ");
    case "failed":
      return reparse.message === "" ? "it failed; the old samples are still there" : reparse.message;
    case "stopped":
      return "stopped; what was not read again is as it was";
  }
}

export const JOB_KINDS: Readonly<Record<Job["kind"], string>> = {
  import: "Import",
  reparse: "Reparse",
  profile: "Profile",
  rollup: "Rollups",
  retention: "Retention",
  deletion: "Host deletion",
};

/** What a job works on: `quiet, web1`. */
export function describeTarget(job: Pick<Job, "baseline" | "host" | "target">): string {
  return [job.baseline, job.host, job.target].filter((part) => part !== null && part !== "").join(", ");
}

/** Percent done, 0 to 100; null while the total is unknown. */
export function jobPercent(job: Pick<Job, "state" | "n_done" | "n_total">): number | null {
  if (job.n_total === null) {
    return null;
  }
  return Math.min(100, Math.max(0, Math.floor((100 * job.n_done) / Math.max(1, job.n_total))));
}

/** `3 of 7 pieces`, `1.2 MB of 4 MB`, `12,000 samples`; "" when nothing is done yet. */
export function describeJobProgress(job: Pick<Job, "n_done" | "n_total" | "unit">): string {
  if (job.n_done === 0 && job.n_total === null) {
    return "";
  }
  const [done, total] = [job.n_done, job.n_total].map((n) =>
    n === null ? "" : job.unit === "bytes" ? formatBytes(n) : formatCount(n),
  );
  const unit = job.unit === "bytes" ? "" : ` ${job.unit}`;
  return job.n_total === null ? `${done ?? ""}${unit}` : `${done ?? ""} of ${total ?? ""}${unit}`;
}

/** Whether the server would stop it. */
export function isStoppable(job: Pick<Job, "kind" | "state" | "next_try_at">): boolean {
  return job.kind !== "deletion" && job.kind !== "rollup" && (isActive(job) || job.next_try_at !== null);
}

/** Whether the server would queue it again. */
export function isRetriable(job: Pick<Job, "kind" | "state">): boolean {
  return job.kind !== "import" && job.kind !== "rollup" && (job.state === "failed" || job.state === "stopped");
}

/** Whether it removes data, which only administrators stop or retry. */
export function isOfAdministrators(job: Pick<Job, "kind">): boolean {
  return job.kind === "retention" || job.kind === "deletion";
}
