/** Where what was found leads to. */

import type { EpisodeInfo } from "../logic/api";
import { episodeSurroundings, episodeWindow, unusualSeries } from "../logic/watch";
import type { RawSearch } from "../state/search";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";

/** The graphs of an episode's host at its time, which is selected; of an unusual one, with the series that was highest on top. */
export function episodeLink(
  episode: Pick<EpisodeInfo, "source" | "start" | "last"> & { readonly saw: EpisodeInfo["saw"] },
  clock: Clock,
): RawSearch {
  const series = unusualSeries(episode);
  return encodeHostView({
    ...DEFAULT_HOST_VIEW,
    clock,
    mark: episodeWindow(episode),
    range: { kind: "fixed", window: episodeSurroundings(episode) },
    panels:
      series === null
        ? []
        : [
            {
              stat: series.stat,
              fields: [series.field],
              choice: series.instance === "" ? { kind: "one" } : { kind: "only", names: [series.instance] },
            },
          ],
  });
}
