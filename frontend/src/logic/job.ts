/** Work that the server does in the background: imports and reparses, their state and progress in words. */

import type { JobState, Reparse, ReparseCreate } from "./api";
import { formatBytes, formatCount, plural } from "./number";

export interface Job {
  readonly state: JobState;
  readonly n_bytes: number;
  readonly n_bytes_done: number;
}

/** Still to come to an end. */
export function isActive(job: Pick<Job, "state">): boolean {
  return job.state === "waiting" || job.state === "running";
}

export const JOB_WORDS: Readonly<Record<JobState, string>> = {
  waiting: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
  stopped: "stopped",
};

/** Percent of the bytes that are done, 0 to 100; what is done is 100, however many bytes it had. */
export function percentDone(job: Job): number {
  if (job.state === "done") {
    return 100;
  }
  return job.n_bytes <= 0 ? 0 : Math.min(100, Math.max(0, Math.floor((100 * job.n_bytes_done) / job.n_bytes)));
}

/** `1.2 MB of 4 MB`; without a known size only what is done. */
export function describeBytesDone(job: Job): string {
  return job.n_bytes <= 0 ? formatBytes(job.n_bytes_done) : `${formatBytes(job.n_bytes_done)} of ${formatBytes(job.n_bytes)}`;
}

/** Whether a reparse was asked for by exactly this wish. */
export function isForWish(reparse: Reparse, wish: ReparseCreate): boolean {
  return (
    reparse.host === (wish.host ?? null) &&
    reparse.spec === (wish.spec ?? null) &&
    reparse.stream_id === (wish.stream_id ?? null) &&
    reparse.is_outdated_only === wish.is_outdated_only
  );
}

/** The reparse to speak of: one that is on its way for this wish, else the one that was started here. */
export function findReparse(reparses: readonly Reparse[], wish: ReparseCreate, startedId: number | null): Reparse | null {
  const ours = reparses.filter((reparse) => isForWish(reparse, wish));
  return ours.find(isActive) ?? ours.find(({ id }) => id === startedId) ?? null;
}

/** What a reparse does, or what came of it. */
export function describeReparse(reparse: Reparse): string {
  switch (reparse.state) {
    case "waiting":
      return "waiting for its turn";
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
