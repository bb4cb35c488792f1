/** What the page of incidents and that of rules ask for. */

import type { WatchNow } from "../logic/api";

export function madeWatch(on: WatchNow["on"] = []): WatchNow {
  return {
    on,
    n_episodes: on.length,
    summary: { judged_at: null, last_on_at: null, n_hosts: 2, n_rules: 3, n_stopped: 0, since: null, unwatched: [] },
  };
}
