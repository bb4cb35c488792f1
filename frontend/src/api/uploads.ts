/** Uploads chosen files one after another, whichever page is open. */

import { useSyncExternalStore } from "react";
import type { Artefact, FileLook } from "../logic/api";
import type { ArtefactEffect } from "../logic/artefact";
import { readNameOfSpec } from "../logic/toml";
import { type EpochMs, toEpochMs } from "../logic/time";
import { afterEvent, isSending, nextUpload, planOf, type Upload, type UploadEvent, type UploadResult } from "../logic/upload";
import { createArtefact } from "./artefacts";
import { api, ApiError } from "./client";
import { createImport, type ImportSettings, lookAtFile } from "./imports";

export interface ChosenFile {
  readonly name: string;
  readonly file: Blob;
}

/** What people say of the files: of their times and host, and of artefacts. */
export interface UploadSettings extends ImportSettings {
  readonly question?: string;
  readonly command?: string;
  readonly effect?: ArtefactEffect | null;
}

type Send = (
  settings: UploadSettings,
  chosen: ChosenFile,
  upload: Upload,
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
) => Promise<UploadResult>;

type LookAt = (chosen: ChosenFile, signal: AbortSignal) => Promise<FileLook>;

// A folder may have thousands of files; the result tells what the others are.
const MAX_LOOKS = 100;

function warnOfLoss(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function modifiedAt(file: Blob): EpochMs | null {
  return file instanceof File && file.lastModified > 0 ? toEpochMs(file.lastModified) : null;
}

export class UploadQueue {
  private uploads: readonly Upload[] = [];
  private readonly files = new Map<number, ChosenFile>();
  private readonly settings = new Map<number, UploadSettings>();
  private readonly listeners = new Set<() => void>();
  private running: { readonly id: number; readonly abort: AbortController } | null = null;
  private looking: { readonly id: number; readonly abort: AbortController } | null = null;
  private readonly looked = new Set<number>();

  constructor(
    private readonly send: Send,
    private readonly lookAt: LookAt | null = null,
  ) {}

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
      const size = { name: each.name, n_bytes: each.file.size, modifiedAt: modifiedAt(each.file) };
      this.apply({ kind: "chosen", files: [size] });
      const added = this.uploads.find(({ id }) => !known.has(id));
      if (added !== undefined) {
        this.files.set(added.id, each);
      }
    }
    this.look();
  }

  /** Keep the text of a file that no spec reads as an artefact, or do not. */
  keepText(id: number, keepsText: boolean): void {
    this.apply({ kind: "kept", id, keepsText });
  }

  /** Send all chosen files. */
  start(settings: UploadSettings): void {
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
    for (const busy of [this.running, this.looking]) {
      if (busy?.id === id) {
        busy.abort.abort();
      }
    }
    this.files.delete(id);
    this.settings.delete(id);
    this.looked.delete(id);
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

  /** Ask what the chosen files are, one after another. A file that could not be looked at is imported like an archive. */
  private look(): void {
    const next = this.uploads.find(({ id, state }) => state === "chosen" && !this.looked.has(id));
    const chosen = next === undefined ? undefined : this.files.get(next.id);
    if (this.lookAt === null || this.looking !== null || next === undefined || chosen === undefined) {
      return;
    }
    if (this.uploads.filter(({ state, look }) => state === "chosen" && look !== null).length >= MAX_LOOKS) {
      return;
    }
    const { id } = next;
    const abort = new AbortController();
    this.looking = { id, abort };
    this.looked.add(id);
    this.lookAt(chosen, abort.signal)
      .then(
        (look) => {
          this.apply({ kind: "looked", id, look });
        },
        () => undefined,
      )
      .finally(() => {
        this.looking = null;
        this.look();
      });
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
    this.send(settings, chosen, next, onProgress, abort.signal)
      .then(
        (result) => {
          this.files.delete(id);
          this.apply({ kind: "sent", id, result });
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

/** Send a file to where it belongs, by what it is. */
async function sendFile(
  settings: UploadSettings,
  chosen: ChosenFile,
  upload: Upload,
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
): Promise<UploadResult> {
  const { isSpec, isArtefact, isImport } = planOf(upload);
  if (isSpec) {
    const toml = await chosen.file.text();
    const { name } = await api.PUT("/specs/{name}", { body: { toml }, params: { path: { name: readNameOfSpec(toml) } }, signal });
    return { importId: null, artefactId: null, spec: name };
  }
  const { host, zone, title = "", question = "", command = "", effect = null, spec = null, start } = settings;
  let artefact: Artefact | null = null;
  if (isArtefact) {
    const said = { host, title, question, command, start: start ?? null, end: null, spec, effect, zone: zone ?? null };
    artefact = await createArtefact({ ...said, taken: upload.modifiedAt }, chosen, onProgress, signal);
  }
  const made = isImport ? await createImport({ ...settings, modifiedAt: upload.modifiedAt }, chosen, onProgress, signal) : null;
  return { importId: made?.id ?? null, artefactId: artefact?.id ?? null, spec: null };
}

/** The app's only queue, which continues while other pages are open. */
export const uploadQueue = new UploadQueue(sendFile, lookAtFile);

export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(uploadQueue.subscribe, uploadQueue.get);
}
