import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { hostsQuery } from "../../api/queries";
import { seriesQuery } from "../../api/series";
import type { SeriesBlock } from "../../logic/block";
import { describeOverlay, movedBlock, overlayEntries, overlayPieces, overlayWindow } from "../../logic/overlay";
import { fieldsAsked, type PanelPlan } from "../../logic/panel";
import { type Scheme, strokeOf } from "../../logic/palette";
import { type LegendEntry, legendOf, windowOf } from "../../logic/series";
import { PANEL_MARGINS, pixelMs, plotWidth, requestWidth } from "../../logic/surface";
import type { DrawnBand } from "../../plot/figure";
import type { GraphContext } from "./graph";

interface OverlayInput {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  /** The panel's own lines: an overlay in time shows the same instances. */
  readonly block: SeriesBlock;
  readonly width: number;
  readonly hidden: ReadonlySet<string>;
  readonly slots: ReadonlyMap<string, number>;
  readonly scheme: Scheme;
}

interface DrawnOverlay {
  readonly drawn: readonly DrawnBand[];
  readonly entries: readonly LegendEntry[];
  /** The colour of each line: that of the same line of the panel. */
  readonly slots: ReadonlyMap<string, number>;
  readonly note: string;
}

/** Return the lines of another time or host behind a panel, with their entries in its legend. */
export function useOverlay({ plan, graph, block, width, hidden, slots, scheme }: OverlayInput): DrawnOverlay {
  const { overlay } = graph;
  const own = useMemo(() => windowOf(block), [block]);
  const names = [...new Set(block.series.map(({ instance }) => instance))].filter((name) => name !== "");
  const isSameHost = overlay?.kind === "ago";
  const other = overlay?.kind === "host" ? overlay.host : null;
  const lacking = useQuery({
    ...hostsQuery,
    enabled: other !== null,
    select: ({ hosts }) => lackOf(hosts.find(({ name }) => name === other)?.stats, plan.stat.name),
  });
  // A host is not asked for what it never sent.
  const isThere = other === null || lacking.data === "";
  const found = useQuery({
    ...seriesQuery({
      host: overlay?.kind === "host" ? overlay.host : graph.host,
      stat: plan.stat.name,
      fields: fieldsAsked(plan).map(({ key }) => key),
      choice: isSameHost && plan.choice.kind === "top" && names.length > 0 ? { kind: "only", names } : plan.choice,
      window: overlay === null ? own : overlayWindow(own, overlay),
      width: requestWidth(plotWidth(width, PANEL_MARGINS)),
    }),
    enabled: overlay !== null && isThere && width > 0,
  });
  const { data, error, isFetching } = found;
  const trouble = isThere || lacking.data === undefined ? (error?.message ?? null) : lacking.data;
  return useMemo(() => {
    if (overlay === null) {
      return NOTHING;
    }
    const moved = data === undefined ? null : movedBlock(data, overlay);
    const plain = moved === null ? [] : legendOf(moved, plan.fields, pixelMs(width, PANEL_MARGINS, own));
    const entries = overlayEntries(plain, overlay);
    const colours = new Map(entries.map(({ key }, index) => [key, slots.get(plain[index]?.key ?? "") ?? slots.size + index]));
    const drawn = entries.flatMap(({ key, series }) => {
      const line = { key, pieces: overlayPieces(series), color: strokeOf(colours.get(key) ?? 0, scheme).color };
      return hidden.has(key) ? [] : [line];
    });
    return { drawn, entries, slots: colours, note: describeOverlay(overlay, entries.length, trouble, isFetching) };
  }, [overlay, data, trouble, isFetching, plan.fields, width, own, slots, scheme, hidden]);
}

/** Return why a host cannot be an overlay of a stat; "" if it can. */
function lackOf(stats: readonly string[] | undefined, stat: string): string {
  return stats === undefined ? "there is no such host" : stats.includes(stat) ? "" : `it never sent ${stat}`;
}

const NOTHING: DrawnOverlay = { drawn: [], entries: [], slots: new Map(), note: "" };
