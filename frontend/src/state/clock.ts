/** The clock and zone of this browser: the only place of the page that asks what time it is. */

import { useEffect, useState } from "react";
import { type DurationMs, type EpochMs, toEpochMs } from "../logic/time";
import type { Zone } from "../logic/zone";
import type { Clock } from "./zone_choice";

export function readNow(): EpochMs {
  return toEpochMs(Date.now());
}

/** Return the current time, updated every `period`. */
export function useNow(period: DurationMs): EpochMs {
  const [now, setNow] = useState(readNow);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(readNow());
    }, period);
    return () => {
      clearInterval(timer);
    };
  }, [period]);
  return now;
}

const LOCAL: Zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** Return the zone of a clock that needs no host. */
export function zoneOf(clock: Exclude<Clock, "host">): Zone {
  return clock === "utc" ? "UTC" : LOCAL;
}

/** The zones that this browser knows by name, and UTC. */
export function listZones(): readonly Zone[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}
