/** The upload queue: how each event changes it. Files are sent one after another. */

import type { FileLook } from "./api";
import type { EpochMs } from "./time";

/** `chosen` waits for the user to start it, `queued` for earlier files; `sent`: the server has created an import for it. */
export type UploadState = "chosen" | "queued" | "sending" | "sent" | "failed";

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly n_bytes: number;
  readonly n_sent: number;
  /** When the file was last changed. Missing: null where the browser does not know it. */
  readonly modifiedAt: EpochMs | null;
  readonly state: UploadState;
  /** What its first bytes tell. Missing: null until the server has looked at them. */
  readonly look: FileLook | null;
  /** Whether a text that no spec reads becomes an artefact. */
  readonly keepsText: boolean;
  readonly result: UploadResult | null;
  readonly problem: string;
}

/** What a sent file became: an import, an artefact or both, or a spec. */
export interface UploadResult {
  readonly importId: number | null;
  readonly artefactId: number | null;
  readonly spec: string | null;
}

/** Where a file is sent to. */
export interface UploadPlan {
  readonly isSpec: boolean;
  readonly isArtefact: boolean;
  readonly isImport: boolean;
}

/** Return where a file is sent to: samples are imported, answers of tools are kept as artefacts, tracers' with times as both. */
export function planOf({ look, keepsText }: Pick<Upload, "look" | "keepsText">): UploadPlan {
  const isArtefact = look?.kind === "artefact" || (look?.kind === "unknown" && keepsText);
  const isSpec = look?.kind === "spec";
  return { isSpec, isArtefact, isImport: !isSpec && (!isArtefact || look.has_samples) };
}

/** Say what a chosen file is: `vmstat_linux: samples`. Missing: "" until it is known. */
export function describeLook({ look, keepsText }: Pick<Upload, "look" | "keepsText">): string {
  switch (look?.kind) {
    case undefined:
      return "";
    case "samples":
      return `Samples (${look.spec ?? ""})`;
    case "artefact":
      return look.has_samples ? `Artefact and samples (${look.spec ?? ""})` : `Artefact (${look.spec ?? ""})`;
    case "bundle":
      return "Bundle of another normstat";
    case "spec":
      return "Spec";
    case "archive":
      return "Archive";
    case "unknown":
      return keepsText ? "Artefact (text only)" : "Not recognised";
  }
}

interface ChosenSize {
  readonly name: string;
  readonly n_bytes: number;
  readonly modifiedAt: EpochMs | null;
}

export type UploadEvent =
  | { readonly kind: "chosen"; readonly files: readonly ChosenSize[] }
  | { readonly kind: "started" }
  | { readonly kind: "sending"; readonly id: number }
  | { readonly kind: "progress"; readonly id: number; readonly n_sent: number }
  | { readonly kind: "looked"; readonly id: number; readonly look: FileLook }
  | { readonly kind: "kept"; readonly id: number; readonly keepsText: boolean }
  | { readonly kind: "sent"; readonly id: number; readonly result: UploadResult }
  | { readonly kind: "failed"; readonly id: number; readonly problem: string }
  | { readonly kind: "removed"; readonly id: number }
  | { readonly kind: "retried"; readonly id: number };

function change(uploads: readonly Upload[], id: number, part: Partial<Upload>): readonly Upload[] {
  return uploads.map((upload) => (upload.id === id ? { ...upload, ...part } : upload));
}

/** Return the queue after an event. A file with the name and size of a chosen one is not added twice. */
export function afterEvent(uploads: readonly Upload[], event: UploadEvent): readonly Upload[] {
  switch (event.kind) {
    case "chosen": {
      const next = [...uploads];
      for (const { name, n_bytes, modifiedAt } of event.files) {
        if (!next.some((upload) => upload.state === "chosen" && upload.name === name && upload.n_bytes === n_bytes)) {
          const id = 1 + next.reduce((highest, upload) => Math.max(highest, upload.id), 0);
          next.push({
            ...{ id, name, n_bytes, modifiedAt, n_sent: 0, state: "chosen", problem: "" },
            ...{ look: null, keepsText: false, result: null },
          });
        }
      }
      return next;
    }
    case "started":
      return uploads.map((upload) => (upload.state === "chosen" ? { ...upload, state: "queued" } : upload));
    case "sending":
      return change(uploads, event.id, { state: "sending", n_sent: 0, problem: "" });
    case "progress":
      return change(uploads, event.id, { n_sent: event.n_sent });
    case "looked":
      return change(uploads, event.id, { look: event.look });
    case "kept":
      return change(uploads, event.id, { keepsText: event.keepsText });
    case "sent":
      return change(uploads, event.id, { state: "sent", result: event.result });
    case "failed":
      return change(uploads, event.id, { state: "failed", problem: event.problem });
    case "removed":
      return uploads.filter(({ id }) => id !== event.id);
    case "retried":
      return change(uploads, event.id, { state: "queued", n_sent: 0, problem: "" });
  }
}

/** Return the next upload; null while one is being sent or if there is none. */
export function nextUpload(uploads: readonly Upload[]): Upload | null {
  return uploads.some(({ state }) => state === "sending") ? null : (uploads.find(({ state }) => state === "queued") ?? null);
}

/** Return whether closing the page would lose an upload. */
export function isSending(uploads: readonly Upload[]): boolean {
  return uploads.some(({ state }) => state === "sending" || state === "queued");
}

export function percentSent({ n_sent, n_bytes }: Upload): number {
  return sentPercent(n_sent, n_bytes);
}

/** Return how much of a file is sent, in percent. */
export function sentPercent(n_sent: number, n_bytes: number): number {
  return n_bytes <= 0 ? 100 : Math.min(100, Math.floor((100 * n_sent) / n_bytes));
}

export function bytesOf(uploads: readonly Upload[]): number {
  return uploads.reduce((total, { n_bytes }) => total + n_bytes, 0);
}
