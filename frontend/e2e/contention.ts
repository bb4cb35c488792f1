/** A host on which rules find something: a Solaris machine whose CPU 1 spins for mutexes. */

import type { APIRequestContext } from "@playwright/test";
import { sendStream } from "./agent";

const STEP_S = 10;
const HEAD = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n";
// The columns of a CPU before smtx, and after it.
const QUIET = "   10   0   10   100   50  200   10    5   100    0  1000   10   5   0  85\n";
const SPINS = "   10   0   10   100   50  200   10    5   900    0  1000   10  40   0  50\n";

/** Return what sends, each time it is called, what mpstat has printed since; CPU 1 has found mutexes taken for the last three minutes. */
export function contentionOf(host: string): (request: APIRequestContext) => Promise<void> {
  let sentUntil = Math.floor(Date.now() / 1000) - 600;
  return async (request) => {
    const now = Math.floor(Date.now() / 1000);
    const times = Array.from({ length: Math.floor((now - sentUntil) / STEP_S) }, (_, at) => sentUntil + (at + 1) * STEP_S);
    const key = `mpstat_solaris.${String(sentUntil)}.1-1`;
    // The first report is since boot.
    const reports = [sentUntil, ...times].map((at) => {
      return `${String(at)}\n${HEAD}  0${QUIET}  1${at > now - 180 ? SPINS : QUIET}`;
    });
    sentUntil = times.at(-1) ?? sentUntil;
    await sendStream(request, { host, spec: "mpstat_solaris", key, command: "mpstat -T u 10", text: reports.join("") });
  };
}
