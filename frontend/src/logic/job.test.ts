import { describe, expect, it } from "vitest";
import type { Reparse } from "./api";
import {
  describeProgress,
  describeReparse,
  describeTarget,
  findReparse,
  isActive,
  isSameRequest,
  percentDone,
  progressInBytes,
} from "./job";

function reparse(change: Partial<Reparse>): Reparse {
  return {
    id: 1,
    job_id: 1,
    host: null,
    stream_id: null,
    spec: null,
    is_outdated_only: false,
    state: "running",
    message: "",
    n_streams: 1,
    n_streams_done: 0,
    n_bytes: 4_000_000,
    n_bytes_done: 1_000_000,
    n_samples_before: 10,
    n_samples_after: 0,
    n_rejected_after: 0,
    created_at: "2026-11-21T10:00:00Z",
    created_by: "admin",
    finished_at: null,
    ...change,
  };
}

describe("a background job", () => {
  it("is active until it ends", () => {
    const states = (["queued", "running", "done", "failed", "stopped"] as const).filter((state) => isActive({ state }));
    expect(states).toEqual(["queued", "running"]);
  });

  it("shows a percentage, and 100 only when it is done", () => {
    expect(percentDone(progressInBytes(reparse({})))).toBe(25);
    expect(percentDone(progressInBytes(reparse({ n_bytes: 1000, n_bytes_done: 999 })))).toBe(99);
    expect(percentDone(progressInBytes(reparse({ n_bytes: 0, n_bytes_done: 5 })))).toBeNull();
    expect(percentDone(progressInBytes(reparse({ n_bytes: 10, n_bytes_done: 11 })))).toBe(100);
    expect(describeProgress(progressInBytes(reparse({})))).toBe("1 MB of 4 MB");
    expect(describeProgress(progressInBytes(reparse({ n_bytes: 0 })))).toBe("1 MB");
  });
});

describe("a reparse", () => {
  it("belongs to its own request, and to no wider one", () => {
    expect(isSameRequest(reparse({ stream_id: 7 }), { stream_id: 7, is_outdated_only: false })).toBe(true);
    expect(isSameRequest(reparse({ host: "web1" }), { host: "web1", is_outdated_only: false })).toBe(true);
    expect(isSameRequest(reparse({ host: "web1" }), { host: "web1", is_outdated_only: true })).toBe(false);
    expect(isSameRequest(reparse({ host: "web1", spec: "a" }), { host: "web1", is_outdated_only: false })).toBe(false);
    expect(isSameRequest(reparse({}), { stream_id: 7, is_outdated_only: false })).toBe(false);
  });

  it("that is running is shown to everyone; one that has ended only where it was started", () => {
    const old = reparse({ id: 1, stream_id: 7, state: "done" });
    const now = reparse({ id: 2, stream_id: 7 });
    expect(findReparse([old, now], { stream_id: 7, is_outdated_only: false }, null)).toBe(now);
    expect(findReparse([old], { stream_id: 7, is_outdated_only: false }, null)).toBeNull();
    expect(findReparse([old], { stream_id: 7, is_outdated_only: false }, 1)).toBe(old);
    expect(findReparse([old], { stream_id: 8, is_outdated_only: false }, 1)).toBeNull();
  });

  it("describes its progress and its result", () => {
    expect(describeReparse(reparse({ state: "queued" }))).toBe("queued");
    expect(describeReparse(reparse({}))).toBe("reading, 1 MB of 4 MB");
    expect(describeReparse(reparse({ n_streams: 12, n_streams_done: 2 }))).toBe("reading stream 3 of 12, 1 MB of 4 MB");
    expect(describeReparse(reparse({ n_streams: 12, n_streams_done: 12 }))).toContain("stream 12 of 12");
    expect(describeReparse(reparse({ state: "done", n_samples_after: 12 }))).toBe("12 samples now, 10 before; no line rejected");
    expect(describeReparse(reparse({ state: "done", n_samples_after: 10, n_rejected_after: 1 }))).toBe(
      "10 samples, as before; 1 line still rejected",
    );
    expect(describeReparse(reparse({ state: "failed", message: "the disk is full" }))).toBe("the disk is full");
    expect(describeReparse(reparse({ state: "failed" }))).toContain("old samples are kept");
    expect(describeReparse(reparse({ state: "stopped" }))).toContain("unchanged");
  });
});

describe("a job of any kind", () => {
  it("shows its target and its progress", () => {
    expect(describeTarget({ baseline: "quiet", host: "web1", target: "" })).toBe("quiet, web1");
    expect(describeProgress({ n_done: 3, n_total: 7, unit: "pieces" })).toBe("3 of 7 pieces");
    expect(describeProgress({ n_done: 1200, n_total: null, unit: "samples" })).toBe("1,200 samples");
    expect(describeProgress({ n_done: 0, n_total: null, unit: "samples" })).toBe("");
    expect(percentDone({ n_done: 1, n_total: 3, unit: "pieces" })).toBe(33);
    expect(percentDone({ n_done: 1, n_total: null, unit: "pieces" })).toBeNull();
  });
});
