/** Uploads chosen files one after another, whichever page is open. */

import { useSyncExternalStore } from "react";
import type { Import } from "../logic/api";
import { afterEvent, isSending, nextUpload, type Upload, type UploadEvent } from "../logic/upload";
import { ApiError } from "./client";
import { createImport, type ImportSettings } from "./imports";

export interface ChosenFile {
  readonly name: string;
  readonly file: Blob;
}

type Send = (
  settings: ImportSettings,
  chosen: ChosenFile,
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
) => Promise<Pick<Import, "id">>;

function warnOfLoss(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

export class UploadQueue {
  private uploads: readonly Upload[] = [];
  private readonly files = new Map<number, ChosenFile>();
  private readonly settings = new Map<number, ImportSettings>();
  private readonly listeners = new Set<() => void>();
  private running: { readonly id: number; readonly abort: AbortController } | null = null;

  constructor(private readonly send: Send) {}

  readonly get = (): readonly Upload[] => this.uploads;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  choose(chosen: readonly ChosenFile[]): void {
    for (const each of chosen) {
      const known = new Set(this.uploads.map(({ id }) => id));
      this.apply({ kind: "chosen", files: [{ name: each.name, n_bytes: each.file.size }] });
      const added = this.uploads.find(({ id }) => !known.has(id));
      if (added !== undefined) {
        this.files.set(added.id, each);
      }
    }
  }

  /** Send all chosen files. */
  start(settings: ImportSettings): void {
    for (const { id, state } of this.uploads) {
      if (state === "chosen") {
        this.settings.set(id, settings);
      }
    }
    this.apply({ kind: "started" });
    this.proceed();
  }

  retry(id: number): void {
    this.apply({ kind: "retried", id });
    this.proceed();
  }

  /** Remove a file; abort its upload if it is being sent. */
  remove(id: number): void {
    if (this.running?.id === id) {
      this.running.abort.abort();
    }
    this.files.delete(id);
    this.settings.delete(id);
    this.apply({ kind: "removed", id });
  }

  private apply(event: UploadEvent): void {
    this.uploads = afterEvent(this.uploads, event);
    if (typeof window !== "undefined") {
      window.removeEventListener("beforeunload", warnOfLoss);
      if (isSending(this.uploads)) {
        window.addEventListener("beforeunload", warnOfLoss);
      }
    }
    for (const listener of this.listeners) {
      listener();
    }
  }

  private proceed(): void {
    const next = nextUpload(this.uploads);
    const chosen = next === null ? undefined : this.files.get(next.id);
    const settings = next === null ? undefined : this.settings.get(next.id);
    if (this.running !== null || next === null || chosen === undefined || settings === undefined) {
      return;
    }
    const { id } = next;
    const abort = new AbortController();
    this.running = { id, abort };
    this.apply({ kind: "sending", id });
    const onProgress = (n_sent: number): void => {
      this.apply({ kind: "progress", id, n_sent });
    };
    this.send(settings, chosen, onProgress, abort.signal)
      .then(
        (made) => {
          this.files.delete(id);
          this.apply({ kind: "sent", id, importId: made.id });
        },
        (error: unknown) => {
          this.apply({ kind: "failed", id, problem: problemOf(error) });
        },
      )
      .finally(() => {
        this.running = null;
        this.proceed();
      });
  }
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError) {
    return error.requestId === "" ? error.message : `${error.message} (${error.code}, request ${error.requestId})`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** The app's only queue, which continues while other pages are open. */
export const uploadQueue = new UploadQueue(createImport);

export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(uploadQueue.subscribe, uploadQueue.get);
}
