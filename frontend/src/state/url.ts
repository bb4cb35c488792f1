/**
 * The part of a view that a shared link must reproduce, encoded in the search part of the URL.
 * Pure except for the functions at the end, which are the only ones that use window.location.
 * Version 1; a change of meaning needs a new one.
 */

import { formatPanelLook, type PanelLook, parsePanelLook } from "../logic/look";
import { formatOverlay, type Overlay, parseOverlay } from "../logic/overlay";
import { type CustomPanel, formatChoice, type InstanceChoice, parseChoice } from "../logic/panel";
import { type ExploredMetric, formatExplored, MAX_EXPLORED, parseExplored } from "../logic/explore";
import { formatShownInstant, parseShownInstant, type ShownInstant } from "../logic/process_report";
import { formatCalendar, parseCalendar } from "../logic/calendar_link";
import { DEFAULT_RANGE, MAX_LENGTH, type Range } from "../logic/range";
import { STREAM_FILTERS, type StreamFilter } from "../logic/stream";
import { formatDuration, parseDuration, parseIso, toIso, type Window } from "../logic/time";
import { type Decoded, formatSearch, oneOf, parseId, type RawSearch, Reader, VERSION } from "./search";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

export type { Clock };

export const HOST_TABS = ["graphs", "use", "processes", "events", "artefacts", "facts", "streams", "rejected"] as const;
export type HostTab = (typeof HOST_TABS)[number];

/** A position in a stream's raw output. */
export interface Place {
  readonly streamId: number;
  readonly offset: number;
}

/** A command, or a process with its PID. */
export interface ProcessName {
  readonly command: string;
  readonly pid: number | null;
}

/** The list of commands and processes. */
export interface ProcessListView {
  readonly search: string;
  /** The quantity that the rows are sorted by; null for the first one. */
  readonly sort: string | null;
  /** The stat that is read; null for the one that tells most. */
  readonly stat: string | null;
  /** The command whose processes are listed under it. */
  readonly open: string | null;
}

export const DEFAULT_PROCESS_LIST: ProcessListView = { search: "", sort: null, stat: null, open: null };

export interface HostView {
  readonly clock: Clock;
  readonly tab: HostTab;
  readonly range: Range;
  /** The selected window. */
  readonly mark: Window | null;
  /** The panel whose lines the selection is about; null for a selection on the strip. */
  readonly markPanel: string | null;
  /** How panels are drawn, by their ids, where that is not the default. */
  readonly looks: ReadonlyMap<string, PanelLook>;
  readonly panels: readonly CustomPanel[];
  /** The panel that alone is shown, as large as the window; null for all panels. */
  readonly fullPanel: string | null;
  /** The keys of the saved views that are shown instead of everything recorded. */
  readonly viewKeys: readonly string[];
  /** Metrics that are drawn without a panel. */
  readonly explored: readonly ExploredMetric[];
  /** Choices of instances that override the catalogue, by `<stat>.<panel>`. */
  readonly choices: ReadonlyMap<string, InstanceChoice>;
  /** The stream that is expanded on the Streams tab, or whose lines the Rejected lines tab shows. */
  readonly streamId: number | null;
  /** The filter of the list of streams. */
  readonly filter: StreamFilter;
  /** The baseline whose band is drawn behind the lines. */
  readonly bandId: number | null;
  /** Another time or host, drawn dashed behind the lines. */
  readonly overlay: Overlay | null;
  /** The line of raw output that is shown in context. */
  readonly place: Place | null;
  /** The command or process that the Processes tab shows; null for the list. */
  readonly process: ProcessName | null;
  readonly processes: ProcessListView;
  /** The instant whose processes are shown under the graphs. */
  readonly instant: ShownInstant | null;
}

export const ACCOUNT_TABS = ["me", "sessions", "api-tokens", "agent-tokens", "users", "audit"] as const;
export type AccountTab = (typeof ACCOUNT_TABS)[number];

export interface AccountsView extends ListView {
  readonly tab: AccountTab;
  /** Of the audit log: only what was refused. */
  readonly onlyRefused: boolean;
}

/** The state of simple list pages: the clock and a filter. */
export interface ListView {
  readonly clock: Clock;
  readonly filter: string;
}

export const BASELINE_TABS = ["baselines", "archived", "exclusions", "groups"] as const;
export type BaselineTab = (typeof BASELINE_TABS)[number];

/** The Baselines page: baselines, excluded periods and host groups. */
export interface BaselinesView extends ListView {
  readonly tab: BaselineTab;
}

/** The Import page: the host of the next files, and the import that is expanded. */
export interface ImportsView {
  readonly clock: Clock;
  readonly host: string;
  readonly importId: number | null;
}

export const DEFAULT_HOST_VIEW: HostView = {
  clock: "local",
  tab: "graphs",
  range: DEFAULT_RANGE,
  mark: null,
  markPanel: null,
  looks: new Map(),
  panels: [],
  fullPanel: null,
  viewKeys: [],
  explored: [],
  choices: new Map(),
  streamId: null,
  filter: "all",
  bandId: null,
  overlay: null,
  place: null,
  process: null,
  processes: DEFAULT_PROCESS_LIST,
  instant: null,
};

/** `<stream>:<offset>` */
function parsePlace(text: string): Place | null {
  const [, streamId, offset] = /^([1-9]\d{0,14}):(0|[1-9]\d{0,14})$/.exec(text) ?? [];
  return streamId === undefined || offset === undefined ? null : { streamId: Number(streamId), offset: Number(offset) };
}

export function parseFilter(text: string): string | null {
  return text.length <= 200 ? text : null;
}

function parseCommand(text: string): string | null {
  return text !== "" && text.length <= 1000 ? text : null;
}

function parsePid(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function parsePanelId(text: string): string | null {
  return /^[a-z][\w.-]{0,200}$/.test(text) ? text : null;
}

function parseWord(text: string): string | null {
  return /^[a-z]\w{0,62}$/.test(text) ? text : null;
}

function parseViewKey(text: string): string | null {
  return /^[a-z0-9][a-z0-9-]{0,79}$/.test(text) ? text : null;
}

/** Return the process that a link names: a PID without a command is none. */
function decodeProcess(reader: Reader): ProcessName | null {
  const command = reader.one("command", parseCommand);
  const pid = reader.one("pid", parsePid);
  if (command === null && pid !== null) {
    reader.ignored.push("pid: without a command");
  }
  return command === null ? null : { command, pid };
}

export function formatWindowText(window: Window): string {
  return `${toIso(window.start)}/${toIso(window.end)}`;
}

export function parseWindowText(text: string): Window | null {
  const [start, end, ...more] = text.split("/").map(parseIso);
  return start != null && end != null && more.length === 0 && end > start && end - start <= MAX_LENGTH ? { start, end } : null;
}

// --- a panel: <stat>.<field,field>.<choice>; names of stats and fields have no dots ---

function formatPanel(panel: CustomPanel): string {
  return `${panel.stat}.${panel.fields.join(",")}.${formatChoice(panel.choice)}`;
}

function parsePanel(text: string): CustomPanel | null {
  const [, stat, fields, choiceText] = /^([a-z]\w*)\.([a-z]\w*(?:,[a-z]\w*)*)\.(.*)$/s.exec(text) ?? [];
  const choice = choiceText === undefined ? null : parseChoice(choiceText);
  return stat === undefined || fields === undefined || choice === null ? null : { stat, fields: fields.split(","), choice };
}

function parseInstances(text: string): readonly [string, InstanceChoice] | null {
  const [, key, choiceText] = /^(\w+\.\w+)\.(.+)$/s.exec(text) ?? [];
  const choice = choiceText === undefined ? null : parseChoice(choiceText);
  return key === undefined || choice === null ? null : [key, choice];
}

// --- the pages ---

export function encodeRange(range: Range): RawSearch {
  switch (range.kind) {
    case "live":
      return { last: formatDuration(range.length) };
    case "calendar":
      return { range: formatCalendar(range) };
    case "fixed":
      return { from: toIso(range.window.start), to: toIso(range.window.end) };
  }
}

/** Return whether the link names a range, valid or not: without one, a page may choose where it opens. */
export function namesRange(raw: RawSearch): boolean {
  return ["last", "range", "from", "to"].some((name) => raw[name] !== undefined);
}

export function decodeRange(reader: Reader): Range {
  const length = reader.one("last", (text) => {
    const duration = parseDuration(text);
    return duration !== null && duration >= 1_000 && duration <= MAX_LENGTH ? duration : null;
  });
  const calendar = reader.one("range", parseCalendar);
  const from = reader.one("from", parseIso);
  const to = reader.one("to", parseIso);
  if (from !== null && to !== null && to > from && to - from <= MAX_LENGTH) {
    return { kind: "fixed", window: { start: from, end: to } };
  }
  if (from !== null || to !== null) {
    reader.ignored.push("from, to: no window");
  }
  return calendar ?? (length === null ? DEFAULT_RANGE : { kind: "live", length });
}

/** Return whether the link shows one panel alone, without the header of the page. */
export function isFullScreen(raw: RawSearch): boolean {
  return typeof raw["full"] === "string" && parsePanelId(raw["full"]) !== null && (raw["tab"] ?? "graphs") === "graphs";
}

export function encodeHostView(view: HostView): RawSearch {
  return {
    v: String(VERSION),
    ...encodeRange(view.range),
    ...encodeClock(view.clock),
    ...(view.tab === "graphs" ? {} : { tab: view.tab }),
    ...(view.mark === null ? {} : { mark: formatWindowText(view.mark) }),
    ...(view.mark === null || view.markPanel === null ? {} : { of: view.markPanel }),
    ...(view.looks.size === 0 ? {} : { look: [...view.looks].map(formatPanelLook) }),
    ...(view.panels.length === 0 ? {} : { panel: view.panels.map(formatPanel) }),
    ...(view.fullPanel === null ? {} : { full: view.fullPanel }),
    ...(view.viewKeys.length === 0 ? {} : { view: view.viewKeys }),
    ...(view.explored.length === 0 ? {} : { explore: view.explored.map(formatExplored) }),
    ...(view.choices.size === 0 ? {} : { instances: [...view.choices].map(([key, choice]) => `${key}.${formatChoice(choice)}`) }),
    ...(view.filter === "all" ? {} : { only: view.filter }),
    ...(view.bandId === null ? {} : { band: String(view.bandId) }),
    ...(view.overlay === null ? {} : { over: formatOverlay(view.overlay) }),
    ...(view.streamId === null ? {} : { stream: String(view.streamId) }),
    ...(view.place === null ? {} : { line: `${String(view.place.streamId)}:${String(view.place.offset)}` }),
    ...(view.process === null ? {} : { command: view.process.command }),
    ...(view.process?.pid == null ? {} : { pid: String(view.process.pid) }),
    ...(view.processes.search === "" ? {} : { find: view.processes.search }),
    ...(view.processes.sort === null ? {} : { sort: view.processes.sort }),
    ...(view.processes.stat === null ? {} : { stat: view.processes.stat }),
    ...(view.processes.open === null ? {} : { open: view.processes.open }),
    ...(view.instant === null ? {} : { at: formatShownInstant(view.instant) }),
  };
}

function decodeExplored(reader: Reader): readonly ExploredMetric[] {
  const found = reader.all("explore", parseExplored);
  if (found.length > MAX_EXPLORED) {
    reader.ignored.push(`explore: more than ${String(MAX_EXPLORED)} metrics`);
  }
  return found.slice(0, MAX_EXPLORED);
}

export function decodeHostView(raw: RawSearch): Decoded<HostView> {
  const reader = new Reader(raw);
  return reader.finish({
    range: decodeRange(reader),
    clock: decodeClock(reader),
    tab: reader.one("tab", oneOf(HOST_TABS)) ?? "graphs",
    mark: reader.one("mark", parseWindowText),
    markPanel: reader.one("of", parsePanelId),
    looks: new Map(reader.all("look", parsePanelLook)),
    panels: reader.all("panel", parsePanel),
    fullPanel: reader.one("full", parsePanelId),
    viewKeys: [...new Set(reader.all("view", parseViewKey))],
    explored: decodeExplored(reader),
    choices: new Map(reader.all("instances", parseInstances)),
    filter: reader.one("only", oneOf(STREAM_FILTERS)) ?? "all",
    bandId: reader.one("band", parseId),
    overlay: reader.one("over", parseOverlay),
    streamId: reader.one("stream", parseId),
    place: reader.one("line", parsePlace),
    process: decodeProcess(reader),
    processes: {
      search: reader.one("find", parseFilter) ?? "",
      sort: reader.one("sort", parseWord),
      stat: reader.one("stat", parseWord),
      open: reader.one("open", parseCommand),
    },
    instant: reader.one("at", parseShownInstant),
  });
}

export function encodeAccountsView(view: AccountsView): RawSearch {
  return {
    ...encodeListView(view),
    ...(view.tab === "me" ? {} : { tab: view.tab }),
    ...(view.onlyRefused ? { refused: "yes" } : {}),
  };
}

export function decodeAccountsView(raw: RawSearch): Decoded<AccountsView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    tab: reader.one("tab", oneOf(ACCOUNT_TABS)) ?? "me",
    filter: reader.one("filter", parseFilter) ?? "",
    onlyRefused: reader.one("refused", oneOf(["yes"])) === "yes",
  });
}

export function encodeImportsView(view: ImportsView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...(view.host === "" ? {} : { host: view.host }),
    ...(view.importId === null ? {} : { import: String(view.importId) }),
  };
}

export function decodeImportsView(raw: RawSearch): Decoded<ImportsView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    host: reader.one("host", parseFilter) ?? "",
    importId: reader.one("import", parseId),
  });
}

export function encodeListView(view: ListView): RawSearch {
  return { ...encodeClock(view.clock), ...(view.filter === "" ? {} : { filter: view.filter }) };
}

export function decodeListView(raw: RawSearch): Decoded<ListView> {
  const reader = new Reader(raw);
  return reader.finish({ clock: decodeClock(reader), filter: reader.one("filter", parseFilter) ?? "" });
}

export function encodeBaselinesView(view: BaselinesView): RawSearch {
  return { ...encodeListView(view), ...(view.tab === "baselines" ? {} : { tab: view.tab }) };
}

export function decodeBaselinesView(raw: RawSearch): Decoded<BaselinesView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    filter: reader.one("filter", parseFilter) ?? "",
    tab: reader.one("tab", oneOf(BASELINE_TABS)) ?? "baselines",
  });
}

// --- the address itself ---

/** Return the token of a one-time login link (`/login#token=...`), removing it from the URL and the history. */
export function takeLoginToken(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get("token");
  if (token !== null) {
    window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
  }
  return token;
}

/** Return the URL of the current view. */
export function currentLink(): string {
  return window.location.href;
}

/** Return the URL of a view of the current page with another search part. */
export function linkWith(search: RawSearch): string {
  return `${window.location.origin}${window.location.pathname}${formatSearch(search)}`;
}

/** Reload the page from the server. */
export function reloadPage(): void {
  window.location.reload();
}
