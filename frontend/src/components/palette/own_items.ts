/** The pages, actions, views and tags of the palette. */

import type { HostInfo, ViewInfo } from "../../logic/api";
import type { OwnItem } from "../../logic/finder";
import { tagsOf } from "../../logic/fleet";
import { type Command, KEYS } from "../../logic/keys";
import { words } from "../../words";

/** Pages by their path, with other words for them. */
export const PAGE_ITEMS: readonly OwnItem[] = [
  { key: "/hosts", kind: "page", name: words.common.hosts, hint: "", words: words.palette.ownItems.fleetMachinesStart },
  {
    key: "/graph",
    kind: "page",
    name: words.palette.ownItems.graphOfSeveralHosts,
    hint: "",
    words: words.palette.ownItems.overlayMetricFleetHeatmap,
  },
  { key: "/watch", kind: "page", name: words.watch.watchPage.watch, hint: "", words: words.palette.ownItems.alarmsRulesEpisodes },
  {
    key: "/comparison",
    kind: "page",
    name: words.common.compare,
    hint: "",
    words: words.palette.ownItems.comparisonIncidentFindingsSaved,
  },
  {
    key: "/baselines",
    kind: "page",
    name: words.common.baselines,
    hint: "",
    words: words.palette.ownItems.normalExclusionsGroups,
  },
  {
    key: "/events",
    kind: "page",
    name: words.common.events,
    hint: "",
    words: words.palette.ownItems.notesDeploymentsRebootsTags,
  },
  {
    key: "/artefacts",
    kind: "page",
    name: words.artefacts.list.artefacts,
    hint: "",
    words: words.palette.ownItems.artefactsLockstatDtracePerf,
  },
  {
    key: "/views",
    kind: "page",
    name: words.common.views,
    hint: "",
    words: words.palette.ownItems.dashboardsBookmarksPanelsStarred,
  },
  { key: "/imports", kind: "page", name: words.common.import, hint: "", words: words.palette.ownItems.uploadFilesLoadRecorded },
  { key: "/jobs", kind: "page", name: words.common.jobs, hint: "", words: words.palette.ownItems.backgroundWorkQueue },
  { key: "/specs", kind: "page", name: words.common.specs, hint: "", words: words.palette.ownItems.toolsStatsAddOns },
  { key: "/specs/new", kind: "page", name: words.palette.ownItems.newSpec, hint: "", words: words.palette.ownItems.addTool },
  { key: "/storage", kind: "page", name: words.common.storage, hint: "", words: words.palette.ownItems.diskSpaceRetentionDelete },
  { key: "/installation", kind: "page", name: words.installation.installation, hint: "", words: words.installation.searchWords },
  {
    key: "/accounts",
    kind: "page",
    name: words.palette.ownItems.accountsAndTokens,
    hint: "",
    words: words.palette.ownItems.passwordUsersAgentApi,
  },
];

/** Actions of every page. */
export const ACTION_ITEMS: readonly OwnItem[] = [
  {
    key: "scheme",
    kind: "action",
    name: words.palette.ownItems.switchBetweenLightDark,
    hint: "",
    words: words.palette.ownItems.themeSchemeModeNight,
  },
  {
    key: "density",
    kind: "action",
    name: words.palette.ownItems.switchBetweenCompactComfortable,
    hint: "",
    words: words.palette.ownItems.densityDenseClose,
  },
  {
    key: "clock",
    kind: "action",
    name: words.palette.ownItems.switchBetweenLocalTime,
    hint: "",
    words: words.palette.ownItems.zoneClock,
  },
  {
    key: "shortcuts",
    kind: "action",
    name: words.palette.ownItems.showTheKeyboardShortcuts,
    hint: "?",
    words: words.palette.ownItems.helpKeys,
  },
];

/** What the keys of a host's page do and a person may look for by words. */
const SEARCHED: readonly (readonly [Command, string, string])[] = [
  ["live", words.palette.ownItems.goLiveOrPause, words.palette.ownItems.followNow],
  ["baseline", words.palette.ownItems.saveSelectionVisibleRange, words.palette.ownItems.markNormal],
  ["compare", words.palette.ownItems.compareSelectionVisibleRange, "incident"],
  ["exclude", words.palette.ownItems.excludeSelectionVisibleRange, "incident"],
  ["band", words.palette.ownItems.showHideBandNewest, "normal"],
  ["csv", words.palette.ownItems.exportSelectionVisibleRange, words.palette.ownItems.csvParquetDownloadSamples],
  ["add-panel", words.palette.ownItems.addAPanel, words.palette.ownItems.graphMetric],
  ["explore", words.palette.ownItems.exploreAMetric, words.palette.ownItems.drawGraphAnyField],
  ["full", words.palette.ownItems.fullScreenPanelFocus, words.palette.ownItems.enlargeMaximize],
  ["zoom-out", words.palette.ownItems.zoomOut, "wider"],
];

/** Return the actions of a host's page; their keys are `command:` and the command. */
export const COMMAND_ITEMS: readonly OwnItem[] = SEARCHED.map(([command, name, terms]) => ({
  key: `command:${command}`,
  kind: "action",
  name,
  hint: KEYS.find((key) => key.command === command)?.shown ?? "",
  words: terms,
}));

/** Return the command of an action's key. Missing: null for an action of every page. */
export function commandOf(key: string): Command | null {
  return SEARCHED.find(([command]) => key === `command:${command}`)?.[0] ?? null;
}

const VIEW = "view:";
const TAG = "tag:";

/** Return saved views as items; they open on the host whose page is open. */
export function viewItems(views: readonly ViewInfo[], host: string | null): readonly OwnItem[] {
  return views.map(({ key, name, description }) => ({
    key: `${VIEW}${key}`,
    kind: "view",
    name,
    hint: host === null ? "" : words.palette.ownItems.on(host),
    words: words.palette.ownItems.viewDashboard(description),
    detail: description,
  }));
}

/** Return the tags of some hosts as items; they open the list of hosts that have them. */
export function tagItems(hosts: readonly Pick<HostInfo, "tags">[]): readonly OwnItem[] {
  return tagsOf(hosts).map(({ name, n }) => ({
    key: `${TAG}${name}`,
    kind: "tag",
    name,
    hint: words.palette.ownItems.nHosts(n),
    words: words.palette.ownItems.tagHosts,
  }));
}

/** Return the tag of an item. Missing: null for any other item. */
export function tagOf(key: string): string | null {
  return key.startsWith(TAG) ? key.slice(TAG.length) : null;
}

/** Return the key of the view of an item. Missing: null for any other item. */
export function viewKeyOf(key: string): string | null {
  return key.startsWith(VIEW) ? key.slice(VIEW.length) : null;
}
