/** The state of the pages of artefacts in the URL. Pure. */

import { type Decoded, formatSearch, parseSearch, type RawSearch, Reader } from "./search";
import { parseFilter } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

/** What a list of artefacts shows. Times are as typed: `now-7d` stays relative in a link. */
export interface ArtefactListView {
  readonly clock: Clock;
  readonly hosts: readonly string[];
  readonly tools: readonly string[];
  readonly search: string;
  readonly from: string;
  readonly to: string;
  /** 0 for the newest artefacts. */
  readonly page: number;
}

export const DEFAULT_ARTEFACT_LIST: ArtefactListView = {
  clock: "local",
  hosts: [],
  tools: [],
  search: "",
  from: "",
  to: "",
  page: 0,
};

/** How a part is shown; null and empty members: as it comes. */
export interface PartView {
  /** The key of the column that ranks the rows of a table, or of the test that is drawn. */
  readonly order: string | null;
  readonly group: readonly string[];
  readonly search: string;
  readonly report: number | null;
  /** 0 for the first rows. */
  readonly page: number;
  /** The distribution that is drawn alone. */
  readonly key: string | null;
}

export const DEFAULT_PART: PartView = { order: null, group: [], search: "", report: null, page: 0, key: null };

/** The page of one artefact. */
export interface ArtefactView {
  readonly clock: Clock;
  /** How parts are shown, by their position, where that is not the default. */
  readonly parts: ReadonlyMap<number, PartView>;
  /** The byte from which the raw text is shown; null while it is folded. */
  readonly textAt: number | null;
  /** How flame graphs are shown, in their own writing (state/flame.ts); null: as they come. */
  readonly flame: string | null;
}

export const DEFAULT_ARTEFACT_VIEW: ArtefactView = { clock: "local", parts: new Map(), textAt: null, flame: null };

// The server lists no deeper.
const MAX_PAGE = 999;

function parsePage(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PAGE ? Number(text) - 1 : null;
}

/** Pages of a table go on to its last row. */
function parseTablePage(text: string): number | null {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 ? Number(text) - 1 : null;
}

function parseCount(text: string): number | null {
  return /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : null;
}

function parseName(text: string): string | null {
  return text === "" ? null : parseFilter(text);
}

function parseKey(text: string): string | null {
  return text.length <= 1000 ? text : null;
}

export function encodeArtefactList(view: ArtefactListView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...(view.hosts.length === 0 ? {} : { host: view.hosts }),
    ...(view.tools.length === 0 ? {} : { tool: view.tools }),
    ...(view.search === "" ? {} : { find: view.search }),
    ...(view.from === "" ? {} : { from: view.from }),
    ...(view.to === "" ? {} : { to: view.to }),
    ...(view.page === 0 ? {} : { page: String(view.page + 1) }),
  };
}

export function decodeArtefactList(raw: RawSearch): Decoded<ArtefactListView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    hosts: reader.all("host", parseName),
    tools: reader.all("tool", parseName),
    search: reader.one("find", parseFilter) ?? "",
    from: reader.one("from", parseFilter) ?? "",
    to: reader.one("to", parseFilter) ?? "",
    page: reader.one("page", parsePage) ?? 0,
  });
}

/** `<position>?order=...&group=...`: one parameter for each part that is not shown as it comes. */
function formatPart(position: number, view: PartView): string | null {
  const text = formatSearch({
    ...(view.order === null ? {} : { order: view.order }),
    ...(view.group.length === 0 ? {} : { group: view.group }),
    ...(view.search === "" ? {} : { find: view.search }),
    ...(view.report === null ? {} : { report: String(view.report + 1) }),
    ...(view.page === 0 ? {} : { page: String(view.page + 1) }),
    ...(view.key === null ? {} : { key: view.key }),
  });
  return text === "" ? null : `${String(position)}${text}`;
}

function parsePart(text: string): readonly [number, PartView] | null {
  const [, position, rest] = /^(\d{1,4})\?(.*)$/s.exec(text) ?? [];
  if (position === undefined || rest === undefined) {
    return null;
  }
  const reader = new Reader(parseSearch(rest));
  const { view, ignored } = reader.finish<PartView>({
    order: reader.one("order", parseName),
    group: reader.all("group", parseName),
    search: reader.one("find", parseFilter) ?? "",
    report: reader.one("report", parseTablePage),
    page: reader.one("page", parseTablePage) ?? 0,
    key: reader.one("key", parseKey),
  });
  return ignored.length > 0 ? null : [Number(position), view];
}

export function encodeArtefactView(view: ArtefactView): RawSearch {
  const parts = [...view.parts].flatMap(([position, part]) => formatPart(position, part) ?? []);
  return {
    ...encodeClock(view.clock),
    ...(parts.length === 0 ? {} : { part: parts }),
    ...(view.textAt === null ? {} : { text: String(view.textAt) }),
    ...(view.flame === null ? {} : { flame: view.flame }),
  };
}

export function decodeArtefactView(raw: RawSearch): Decoded<ArtefactView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    parts: new Map(reader.all("part", parsePart)),
    textAt: reader.one("text", parseCount),
    flame: reader.one("flame", (text) => text),
  });
}

/** The search part of the page that compares two artefacts. */
export function encodeArtefactPair(before: number, after: number, clock: Clock): RawSearch {
  return { ...encodeClock(clock), before: String(before), after: String(after) };
}
