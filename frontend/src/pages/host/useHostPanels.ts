import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { viewsQuery } from "../../api/queries";
import type { HostInfo, StatInfo, ViewInfo } from "../../logic/api";
import { alikePanels, layOut, OVERVIEW_KEY, overviewHeight } from "../../logic/overview";
import { lackingPanels, planSections } from "../../logic/panel";
import { chooseViews, planViews } from "../../logic/view";
import type { HostView } from "../../state/url";

const NONE: readonly string[] = [];
const NO_VIEWS: readonly ViewInfo[] = [];

/** Return the panels that the page shows: everything recorded, or those of the views in the link; and the panels added there. */
export function useHostPanels(host: HostInfo, stats: readonly StatInfo[], view: HostView) {
  const isView = view.viewKeys.length > 0;
  const views = useQuery(viewsQuery);
  const all = views.data?.views ?? NO_VIEWS;
  const { chosen, unknown } = useMemo(() => chooseViews(all, view.viewKeys), [all, view.viewKeys]);
  const viewSections = useMemo(
    () => planViews(stats, host.stats, chosen, view.choices),
    [stats, host.stats, chosen, view.choices],
  );
  const sections = useMemo(
    // In a view only the added panels stand beside it.
    () => planSections(stats, isView ? [] : host.stats, view.panels, view.choices),
    [isView, stats, host.stats, view.panels, view.choices],
  );
  // Measured once: graphs that grow with the window would be drawn again while it is dragged.
  const [window] = useState(() => globalThis.innerHeight);
  const layout = useMemo(() => {
    const found = layOut(
      sections,
      all.find(({ key }) => key === OVERVIEW_KEY),
    );
    const height = overviewHeight(window, found.overview.length);
    return { ...found, overview: found.overview.map((plan) => ({ ...plan, height })) };
  }, [sections, all, window]);
  // What the link is about is never folded.
  const kept = useMemo(
    () => new Set([...view.looks.keys(), ...view.choices.keys(), ...(view.markPanel === null ? [] : [view.markPanel])]),
    [view.looks, view.choices, view.markPanel],
  );
  const alike = useMemo(() => alikePanels(sections, all), [sections, all]);
  const lacking = useMemo(() => lackingPanels(view.panels, stats), [stats, view.panels]);
  return {
    lacking,
    isView,
    views,
    unknown: views.data === undefined ? NONE : unknown,
    viewSections,
    /** All recorded panels, wherever they are. */
    sections,
    layout,
    alike,
    kept,
  };
}
