import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { statisticsQuery } from "../../api/series";
import type { SeriesBlock } from "../../logic/block";
import { fieldsAsked, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import { byLine, statisticsOfBlock, statisticsWindow } from "../../logic/statistics";
import type { Window } from "../../logic/time";
import type { GraphContext } from "./graph";
import type { LegendStatistics } from "./Legend";

/** Return the statistics of a panel's lines: from its points where these are all samples, else from the server. */
export function useLegendStatistics(
  plan: PanelPlan,
  graph: GraphContext,
  block: SeriesBlock,
  drawn: Window,
  isShown: boolean,
): LegendStatistics {
  const own = useMemo(() => (isShown ? statisticsOfBlock(block) : null), [block, isShown]);
  const { data, error } = useQuery({
    ...statisticsQuery({
      host: graph.host,
      stat: plan.stat.name,
      fields: fieldsAsked(plan).map(({ key }) => key),
      choice: drawnChoice(plan, block),
      window: statisticsWindow(drawn, graph.isLive),
      against: null,
    }),
    enabled: isShown && block.resolution !== "raw",
  });
  return useMemo(() => {
    if (own !== null) {
      return { lines: own, note: "Of all samples in the window" };
    }
    if (data === undefined) {
      return { lines: null, note: error?.message ?? "" };
    }
    const of = data.source === "samples" ? "Of all samples in the window" : "From the rollups of all samples in the window";
    return {
      lines: new Map([...byLine(data.lines)].map(([key, { window }]) => [key, window])),
      note: data.note === "" ? of : `${of}. ${data.note}`,
    };
  }, [own, data, error]);
}

/** Return the instances that a panel draws, by name: the top 5 of another window may be others. */
export function drawnChoice(plan: PanelPlan, block: Pick<SeriesBlock, "series">): InstanceChoice {
  return plan.choice.kind === "top"
    ? { kind: "only", names: [...new Set(block.series.map(({ instance }) => instance))] }
    : plan.choice;
}
