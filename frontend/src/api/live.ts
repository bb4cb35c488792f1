/** Server-sent events: the newest sample of a host. */

import { useEffect, useState } from "react";
import { type DurationMs, type EpochMs, parseIso, toEpochMs } from "../logic/time";
import { readNow } from "../state/clock";
import { markMoment } from "../state/moment";
import { liveAddress } from "./addresses";

export type Connection = "off" | "connecting" | "open" | "lost";

export interface Live {
  readonly connection: Connection;
  /** The newest announced sample. */
  readonly newest: EpochMs | null;
  /** When it was announced. */
  readonly at: EpochMs | null;
}

const OFF: Live = { connection: "off", newest: null, at: null };
// The specs of one request are announced within a moment of each other; one refresh covers all.
const SETTLE_MS = 40;
const AGAIN_MS = 5_000;

function newestOf(data: unknown): EpochMs | null {
  try {
    const body: unknown = JSON.parse(String(data));
    if (typeof body === "object" && body !== null && "last_sample_at" in body && typeof body.last_sample_at === "string") {
      return parseIso(body.last_sample_at);
    }
  } catch {
    // Not ours; the page falls back to its own clock.
  }
  return null;
}

/** Follow a host while `isOn`, reporting new samples at most every `step`; the browser reconnects by itself. */
export function useLive(host: string | null, isOn: boolean, step: DurationMs): Live {
  const [heard, setHeard] = useState<{ readonly host: string | null; readonly live: Live }>({ host: null, live: OFF });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!isOn) {
      return;
    }
    const change = (part: Partial<Live>): void => {
      setHeard((before) => ({ host, live: { ...(before.host === host ? before.live : OFF), ...part } }));
    };
    const source = new EventSource(liveAddress(host));
    let timer: ReturnType<typeof setTimeout> | undefined;
    let newest: EpochMs | null = null;
    let toldAt = toEpochMs(0);
    source.addEventListener("open", () => {
      change({ connection: "open" });
    });
    source.addEventListener("error", () => {
      change({ connection: "lost" });
      // After a response that is not a stream (such as from a starting server) the browser gives up; we retry.
      if (source.readyState === EventSource.CLOSED) {
        timer ??= setTimeout(() => {
          setAttempt(attempt + 1);
        }, AGAIN_MS);
      }
    });
    source.addEventListener("data", (event: MessageEvent<unknown>) => {
      const at = newestOf(event.data);
      newest = at !== null && (newest === null || at > newest) ? at : newest;
      markMoment("heard", { newest: at });
      timer ??= setTimeout(
        () => {
          timer = undefined;
          toldAt = readNow();
          change({ connection: "open", newest, at: toldAt });
        },
        Math.max(SETTLE_MS, toldAt + step - readNow()),
      );
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [host, isOn, attempt, step]);
  if (!isOn) {
    return OFF;
  }
  return heard.host === host ? heard.live : { ...OFF, connection: "connecting" };
}
