import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { exclusionsQuery } from "../../api/baselines";
import { scoresQuery } from "../../api/scores";
import type { BaselineInfo, ExclusionInfo } from "../../logic/api";
import { toWindow } from "../../logic/comparison";
import { scoresWindow } from "../../logic/scores";
import { overlaps, type Window } from "../../logic/time";
import type { Band, GraphContext } from "./graph";

/** Return the context of the overview: without a baseline in the link, its bands are of the one that the host is compared with. */
export function useOverviewGraph(graph: GraphContext): GraphContext {
  const normal = useQuery(scoresQuery(graph.host, scoresWindow(graph.window))).data?.normal;
  const id = normal?.kind === "baseline" || normal?.kind === "rolling" ? normal.baseline : null;
  const name = normal?.name ?? "";
  return useMemo(
    () => (id === null || graph.bandBaseline !== null ? graph : { ...graph, bandBaseline: { id, name, maxLines: NORMAL_LINES } }),
    [graph, id, name],
  );
}

/** The overview shows what is normal unasked: of a few lines, so that they stay legible. */
const NORMAL_LINES = 4;

/** Return the periods to draw behind the lines, as `bandsOf`. */
export function usePeriods(host: string, baselines: readonly BaselineInfo[] | undefined, mark: Window | null, shown: Window) {
  const exclusions = useQuery(exclusionsQuery).data?.exclusions;
  return useMemo(() => bandsOf(host, baselines ?? [], exclusions ?? [], mark, shown), [host, baselines, exclusions, mark, shown]);
}

/** Return the baseline whose band is drawn; one that is not listed is named by its number. Missing: null for none. */
export function useBandBaseline(baselines: readonly BaselineInfo[] | undefined, bandId: number | null) {
  const name = baselines?.find(({ id }) => id === bandId)?.name;
  return useMemo(() => (bandId === null ? null : { id: bandId, name: name ?? `baseline ${String(bandId)}` }), [bandId, name]);
}

/** Return the periods to draw behind the lines: the baselines and excluded periods that overlap the window, and the selection. */
function bandsOf(
  host: string,
  baselines: readonly BaselineInfo[],
  exclusions: readonly ExclusionInfo[],
  mark: Window | null,
  shown: Window,
): readonly Band[] {
  // The rolling one would cover all of the last week.
  const marked = baselines.filter(({ is_rolling }) => !is_rolling);
  const normal = marked.flatMap(({ id, name, windows }) =>
    windows
      .map(toWindow)
      .map((window): Band => ({ key: `${String(id)} ${String(window.start)}`, kind: "baseline", label: name, window })),
  );
  const incidents = exclusions
    .filter((exclusion) => exclusion.host === null || exclusion.host === host)
    .map((exclusion): Band => ({
      key: `exclusion ${String(exclusion.id)}`,
      kind: "exclusion",
      label: `excluded: ${exclusion.name}`,
      window: toWindow(exclusion),
    }));
  const bands = [...normal, ...incidents].filter(({ window }) => overlaps(window, shown));
  return mark === null ? bands : [...bands, { key: "mark", kind: "mark", label: "selection", window: mark }];
}
