/** The upload queue: how each event changes it. Files are sent one after another. */

/** `chosen` waits for the user to start it, `queued` for earlier files; `sent`: the server has created an import for it. */
export type UploadState = "chosen" | "queued" | "sending" | "sent" | "failed";

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly n_bytes: number;
  readonly n_sent: number;
  readonly state: UploadState;
  readonly importId: number | null;
  readonly problem: string;
}

export type UploadEvent =
  | { readonly kind: "chosen"; readonly files: readonly { readonly name: string; readonly n_bytes: number }[] }
  | { readonly kind: "started" }
  | { readonly kind: "sending"; readonly id: number }
  | { readonly kind: "progress"; readonly id: number; readonly n_sent: number }
  | { readonly kind: "sent"; readonly id: number; readonly importId: number }
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
      for (const { name, n_bytes } of event.files) {
        if (!next.some((upload) => upload.state === "chosen" && upload.name === name && upload.n_bytes === n_bytes)) {
          const id = 1 + next.reduce((highest, upload) => Math.max(highest, upload.id), 0);
          next.push({ id, name, n_bytes, n_sent: 0, state: "chosen", importId: null, problem: "" });
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
    case "sent":
      return change(uploads, event.id, { state: "sent", importId: event.importId });
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
