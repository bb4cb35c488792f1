import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { SearchHit } from "../../logic/api";
import { tagWord } from "../../logic/fleet";
import { type ExploredMetric, withExplored } from "../../logic/explore";
import type { PaletteItem } from "../../logic/finder";
import { aroundInstant } from "../../logic/range";
import { fromApi } from "../../logic/time";
import type { PaletteState } from "../../state/palette";
import { DEFAULT_ARTEFACT_VIEW, encodeArtefactView } from "../../state/artefacts";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import { toggleDensity } from "../../state/density";
import { DEFAULT_FLEET_VIEW, encodeFleetView } from "../../state/fleet";
import type { RawSearch } from "../../state/search";
import {
  decodeHostView,
  DEFAULT_HOST_VIEW,
  encodeBaselinesView,
  encodeHostView,
  encodeListView,
  type HostView,
  namesRange,
} from "../../state/url";
import { CLOCKS, clockOf, encodeClock, withClock } from "../../state/zone_choice";
import { commandOf, tagOf, viewKeyOf } from "./own_items";

/** Return the host that the page is about: the one of its path, or the first one of its parameters. */
export function useCurrentHost(): string | null {
  const { host } = useParams({ strict: false });
  const named = useSearch({ strict: false })["host"];
  return host ?? (typeof named === "string" ? named : (named?.[0] ?? null));
}

interface OpenItem {
  readonly run: PaletteState["run"];
  readonly onShortcuts: () => void;
}

/** Return the function that opens what was chosen. `isBeside`: a metric is drawn below those that are explored already. */
export function useOpenItem({ run, onShortcuts }: OpenItem): (item: PaletteItem, isBeside: boolean) => void {
  const navigate = useNavigate();
  const { host: shownHost } = useParams({ strict: false });
  const search = useSearch({ strict: false });
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const clock = clockOf(search);
  const inherited = encodeClock(clock);

  const openHost = (host: string, change: (view: HostView) => Partial<HostView>): void => {
    const { view } = decodeHostView(shownHost === undefined ? inherited : search);
    const hasRange = shownHost !== undefined && namesRange(search);
    const base: HostView =
      host === shownHost
        ? { ...view, process: null, place: null, fullPanel: null }
        : { ...DEFAULT_HOST_VIEW, clock, ...(hasRange ? { range: view.range } : {}) };
    const next = change(base);
    const { last, ...rest } = encodeHostView({ ...base, ...next });
    // A link without a range opens on the host's last samples if they ended long ago.
    const isOpening = !hasRange && next.range === undefined;
    void navigate({ to: "/hosts/$host", params: { host }, search: isOpening || last === undefined ? rest : { ...rest, last } });
  };
  const explore = (host: string, metric: ExploredMetric, isBeside: boolean): void => {
    openHost(host, ({ explored }) => ({ tab: "graphs", explored: isBeside ? withExplored(explored, metric) : [metric] }));
  };

  return (item, isBeside) => {
    if (item.hit !== null) {
      openHit(item.hit, isBeside);
    } else if (item.kind === "view") {
      openView(viewKeyOf(item.key), item.name);
    } else if (item.kind === "tag") {
      void navigate({
        to: "/hosts",
        search: encodeFleetView({ ...DEFAULT_FLEET_VIEW, clock, filter: tagWord(tagOf(item.key) ?? ""), hasRecorded: true }),
      });
    } else if (item.kind === "page") {
      void navigate({ to: item.key, search: inherited });
    } else {
      act(item.key);
    }
  };

  function act(key: string): void {
    const command = commandOf(key);
    if (command !== null) {
      run?.(command);
    } else if (key === "scheme") {
      setColorScheme(scheme === "dark" ? "light" : "dark");
    } else if (key === "density") {
      toggleDensity();
    } else if (key === "clock") {
      void navigate({
        to: ".",
        replace: true,
        search: (raw: RawSearch) => withClock(raw, CLOCKS[(CLOCKS.indexOf(clock) + 1) % CLOCKS.length] ?? "local"),
      });
    } else {
      onShortcuts();
    }
  }

  /** On the host whose page is open; elsewhere the page of views chooses one. */
  function openView(key: string | null, name: string): void {
    if (key !== null && shownHost !== undefined) {
      openHost(shownHost, () => ({ tab: "graphs", viewKeys: [key], fullPanel: null }));
    } else {
      void navigate({ to: "/views", search: encodeListView({ clock, filter: name }) });
    }
  }

  function openHit(hit: SearchHit, isBeside: boolean): void {
    const { host, stat, field, instance } = hit;
    switch (hit.kind) {
      case "metric":
      case "other_metric":
        if (host === null) {
          void navigate({ to: "/specs/$spec", params: { spec: hit.spec ?? "" }, search: inherited });
        } else if (stat !== null && field !== null) {
          explore(
            host,
            { stat, fields: [field], choice: instance === null ? null : { kind: "only", names: [instance] } },
            isBeside,
          );
        }
        break;
      case "instance":
        if (host !== null && stat !== null && instance !== null) {
          explore(host, { stat, fields: [], choice: { kind: "only", names: [instance] } }, isBeside);
        }
        break;
      case "host":
        openHost(hit.name, () => ({}));
        break;
      case "command":
      case "process":
        if (host !== null) {
          openHost(host, () => ({ tab: "processes", process: { command: hit.name, pid: hit.pid } }));
        }
        break;
      case "baseline":
        void navigate({
          to: "/baselines",
          search: encodeBaselinesView({ clock, filter: hit.name, tab: hit.detail === "archived" ? "archived" : "baselines" }),
        });
        break;
      case "comparison":
        void navigate({
          to: "/comparison",
          search: encodeComparisonView({ ...DEFAULT_COMPARISON_VIEW, clock, savedId: hit.id }),
        });
        break;
      case "artefact":
        if (hit.id !== null) {
          void navigate({
            to: "/artefacts/$artefact",
            params: { artefact: String(hit.id) },
            search: encodeArtefactView({ ...DEFAULT_ARTEFACT_VIEW, clock }),
          });
        }
        break;
      case "event":
        if (host !== null && hit.at !== null) {
          const at = fromApi(hit.at);
          openHost(host, () => ({ tab: "graphs", range: { kind: "fixed", window: aroundInstant(at) } }));
        }
    }
  }
}
