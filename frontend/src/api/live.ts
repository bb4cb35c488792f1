/** Server-sent events: which host has data up to when. */

import { useEffect, useState } from "react";
import { type EpochMs, parseIso } from "../logic/time";
import { readNow } from "../state/clock";
import { liveAddress } from "./endpoints";

export type Connection = "off" | "connecting" | "open" | "lost";

export interface Live {
  readonly connection: Connection;
  /** The newest sample that was heard of. */
  readonly newest: EpochMs | null;
  /** When that was. */
  readonly at: EpochMs | null;
}

const OFF: Live = { connection: "off", newest: null, at: null };
// Several specs report within a moment of each other; one redraw is enough for all.
const SETTLE_MS = 400;

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

/** Follows a host while `isOn`; the browser itself reconnects. */
export function useLive(host: string | null, isOn: boolean): Live {
  const [live, setLive] = useState<Live>(OFF);
  useEffect(() => {
    if (!isOn) {
      setLive(OFF);
      return;
    }
    setLive({ ...OFF, connection: "connecting" });
    const source = new EventSource(liveAddress(host));
    let timer: ReturnType<typeof setTimeout> | undefined;
    let heard: EpochMs | null = null;
    const settle = (): void => {
      timer = undefined;
      setLive((before) => ({ connection: "open", newest: heard ?? before.newest, at: readNow() }));
    };
    source.addEventListener("open", () => {
      setLive((before) => ({ ...before, connection: "open" }));
    });
    source.addEventListener("error", () => {
      setLive((before) => ({ ...before, connection: "lost" }));
    });
    source.addEventListener("data", (event: MessageEvent<unknown>) => {
      const at = newestOf(event.data);
      heard = at !== null && (heard === null || at > heard) ? at : heard;
      timer ??= setTimeout(settle, SETTLE_MS);
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [host, isOn]);
  return live;
}
