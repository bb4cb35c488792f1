import { describe, expect, it } from "vitest";
import type { FileLook } from "../logic/api";
import {
  afterEvent,
  describeLook,
  isSending,
  nextUpload,
  percentSent,
  planOf,
  type Upload,
  type UploadResult,
} from "../logic/upload";
import { ApiError } from "./client";
import { type ChosenFile, UploadQueue, type UploadSettings } from "./uploads";

const SETTINGS: UploadSettings = { host: "web1" };

function chosen(...names: string[]): ChosenFile[] {
  return names.map((name) => ({ name, file: new Blob([name.repeat(10)]) }));
}

/** A server whose answers are controlled by the test. */
class Server {
  readonly asked: { readonly name: string; readonly settings: UploadSettings; readonly signal: AbortSignal }[] = [];
  private readonly answers: { readonly resolve: (result: UploadResult) => void; readonly reject: (error: Error) => void }[] = [];
  progress: (n: number) => void = () => undefined;

  readonly send = (
    settings: UploadSettings,
    file: ChosenFile,
    _: Upload,
    onProgress: (n: number) => void,
    signal: AbortSignal,
  ) => {
    this.asked.push({ name: file.name, settings, signal });
    this.progress = onProgress;
    return new Promise<UploadResult>((resolve, reject) => {
      this.answers.push({ resolve, reject });
      signal.addEventListener("abort", () => {
        reject(new ApiError(0, "aborted", "stopped", ""));
      });
    });
  };

  async accept(id: number): Promise<void> {
    this.answers.at(-1)?.resolve({ importId: id, artefactId: null, spec: null });
    await settled();
  }

  async refuse(error: Error): Promise<void> {
    this.answers.at(-1)?.reject(error);
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await Promise.resolve();
  }
}

function states(queue: UploadQueue): Record<string, string> {
  return Object.fromEntries(queue.get().map(({ name, state }) => [name, state]));
}

describe("the upload queue", () => {
  it("sends one file after another, each with the settings it was started with", async () => {
    const server = new Server();
    const queue = new UploadQueue(server.send);
    let nChanges = 0;
    const leave = queue.subscribe(() => {
      nChanges += 1;
    });
    queue.choose(chosen("a", "b"));
    expect(server.asked).toEqual([]);
    queue.start(SETTINGS);
    queue.choose(chosen("c"));
    expect(states(queue)).toEqual({ a: "sending", b: "queued", c: "chosen" });
    server.progress(5);
    expect(queue.get()[0]?.n_sent).toBe(5);
    await server.accept(7);
    expect(queue.get()[0]).toMatchObject({ state: "sent", result: { importId: 7 } });
    expect(states(queue)).toEqual({ a: "sent", b: "sending", c: "chosen" });
    await server.accept(8);
    queue.start({ host: "web2" });
    expect(server.asked.map(({ name, settings }) => [name, settings.host])).toEqual([
      ["a", "web1"],
      ["b", "web1"],
      ["c", "web2"],
    ]);
    expect(nChanges).toBeGreaterThan(5);
    leave();
  });

  it("shows why a file was refused, continues with the next, and can retry it", async () => {
    const server = new Server();
    const queue = new UploadQueue(server.send);
    queue.choose(chosen("a", "b"));
    queue.start(SETTINGS);
    await server.refuse(new ApiError(413, "too_large", "The file is larger than 2 GB", "r1"));
    expect(queue.get()[0]).toMatchObject({ state: "failed", problem: "The file is larger than 2 GB (too_large, request r1)" });
    expect(states(queue)).toEqual({ a: "failed", b: "sending" });
    queue.retry(1);
    expect(states(queue)).toEqual({ a: "queued", b: "sending" });
    await server.accept(1);
    expect(states(queue)).toEqual({ a: "sending", b: "sent" });
  });

  it("stops an upload when it is removed, and continues", async () => {
    const server = new Server();
    const queue = new UploadQueue(server.send);
    queue.choose(chosen("a", "b"));
    queue.start(SETTINGS);
    queue.remove(1);
    expect(server.asked[0]?.signal.aborted).toBe(true);
    await settled();
    expect(states(queue)).toEqual({ b: "sending" });
  });

  it("does not choose the same file twice, but sends it again on request", async () => {
    const server = new Server();
    const queue = new UploadQueue(server.send);
    queue.choose(chosen("a"));
    queue.choose(chosen("a"));
    expect(queue.get()).toHaveLength(1);
    queue.start(SETTINGS);
    await server.accept(1);
    queue.choose(chosen("a"));
    queue.start(SETTINGS);
    expect(server.asked).toHaveLength(2);
  });
});

const look = (change: Partial<FileLook>): FileLook => ({
  ...{ kind: "samples", spec: "vmstat_linux", has_samples: true, note: "", missing: [] },
  ...change,
});

describe("a chosen file", () => {
  it("is looked at once, one after another", async () => {
    const asked: string[] = [];
    const queue = new UploadQueue(new Server().send, ({ name }) => {
      asked.push(name);
      return name === "a" ? Promise.reject(new Error("away")) : Promise.resolve(look({ spec: name }));
    });
    queue.choose(chosen("a", "b"));
    await settled();
    await settled();
    expect(asked).toEqual(["a", "b"]);
    expect(queue.get().map(({ look: found }) => found?.spec ?? null)).toEqual([null, "b"]);
  });

  it("goes where it belongs", () => {
    const plan = (change: Partial<FileLook> | null, keepsText = false) => {
      const { isSpec, isArtefact, isImport } = planOf({ look: change === null ? null : look(change), keepsText });
      return [isSpec && "spec", isArtefact && "artefact", isImport && "import"].filter(Boolean);
    };
    expect(plan(null)).toEqual(["import"]);
    expect(plan({})).toEqual(["import"]);
    expect(plan({ kind: "artefact", has_samples: false })).toEqual(["artefact"]);
    expect(plan({ kind: "artefact" })).toEqual(["artefact", "import"]);
    expect(plan({ kind: "unknown", has_samples: false })).toEqual(["import"]);
    expect(plan({ kind: "unknown", has_samples: false }, true)).toEqual(["artefact"]);
    expect(plan({ kind: "spec", has_samples: false })).toEqual(["spec"]);
    expect(describeLook({ look: look({}), keepsText: false })).toBe("Samples (vmstat_linux)");
  });
});

describe("an upload", () => {
  const upload = (change: Partial<Upload>): Upload => ({
    id: 1,
    name: "a",
    n_bytes: 100,
    n_sent: 0,
    state: "queued",
    problem: "",
    modifiedAt: null,
    look: null,
    keepsText: false,
    result: null,
    ...change,
  });

  it("shows the percentage sent; an empty file is sent at once", () => {
    expect(percentSent(upload({ n_sent: 33 }))).toBe(33);
    expect(percentSent(upload({ n_sent: 120 }))).toBe(100);
    expect(percentSent(upload({ n_bytes: 0 }))).toBe(100);
  });

  it("waits while another one is being sent", () => {
    expect(nextUpload([upload({}), upload({ id: 2, state: "sending" })])).toBeNull();
    expect(nextUpload([upload({ state: "sent" }), upload({ id: 2 }), upload({ id: 3 })])?.id).toBe(2);
    expect(nextUpload([upload({ state: "chosen" }), upload({ state: "failed" })])).toBeNull();
    expect(isSending([upload({})])).toBe(true);
    expect(isSending([upload({ state: "chosen" }), upload({ state: "sent" }), upload({ state: "failed" })])).toBe(false);
  });

  it("keeps its id when others are removed", () => {
    const two = afterEvent([], {
      kind: "chosen",
      files: [
        { name: "a", n_bytes: 1, modifiedAt: null },
        { name: "b", n_bytes: 1, modifiedAt: null },
      ],
    });
    const one = afterEvent(two, { kind: "removed", id: 1 });
    const more = afterEvent(one, { kind: "chosen", files: [{ name: "c", n_bytes: 1, modifiedAt: null }] });
    expect(more.map(({ id, name }) => [id, name])).toEqual([
      [2, "b"],
      [3, "c"],
    ]);
  });
});
