import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { viewsQuery } from "../../api/queries";
import type { HostInfo, StatInfo } from "../../logic/api";
import { lackingPanels, planSections } from "../../logic/panel";
import { chooseViews, planViews } from "../../logic/view";
import type { HostView } from "../../state/url";

const NONE: readonly string[] = [];

/** Return the panels that the page shows: everything recorded, or those of the views in the link; and the panels added there. */
export function useHostPanels(host: HostInfo, stats: readonly StatInfo[], view: HostView) {
  const isView = view.viewKeys.length > 0;
  const views = useQuery({ ...viewsQuery, enabled: isView });
  const { chosen, unknown } = useMemo(() => chooseViews(views.data?.views ?? [], view.viewKeys), [views.data, view.viewKeys]);
  const viewSections = useMemo(
    () => planViews(stats, host.stats, chosen, view.choices),
    [stats, host.stats, chosen, view.choices],
  );
  const sections = useMemo(
    // In a view only the added panels stand beside it.
    () => planSections(stats, isView ? [] : host.stats, view.panels, view.choices),
    [isView, stats, host.stats, view.panels, view.choices],
  );
  const lacking = useMemo(() => lackingPanels(view.panels, stats), [stats, view.panels]);
  return { lacking, isView, views, unknown: views.data === undefined ? NONE : unknown, viewSections, sections };
}
