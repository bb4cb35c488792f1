/** The state of the page that compares two artefacts, in the URL. Pure. */

import { NORMALISATIONS, type Normalisation } from "../logic/artefact_diff";
import { type Decoded, oneOf, parseId, type RawSearch, Reader } from "./search";
import { parseFilter } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

/** What is compared; null and empty members: as the server finds best. */
export interface ArtefactDiffView {
  readonly clock: Clock;
  readonly before: number | null;
  readonly after: number | null;
  /** The number of the pair of parts. */
  readonly pair: number | null;
  readonly column: string | null;
  readonly group: readonly string[];
  readonly normalisation: Normalisation | null;
  readonly search: string;
  /** Where a distribution's quantity ends, such as the length of a queue. */
  readonly queueLimit: number | null;
  /** 0 for the rows that differ most. */
  readonly page: number;
  /** How flame graphs are shown, in their own writing (state/flame.ts); null: as they come. */
  readonly flame: string | null;
}

export const DEFAULT_ARTEFACT_DIFF: ArtefactDiffView = {
  clock: "local",
  before: null,
  after: null,
  pair: null,
  column: null,
  group: [],
  normalisation: null,
  search: "",
  queueLimit: null,
  page: 0,
  flame: null,
};

function parseNumber(text: string): number | null {
  return /^\d{1,4}$/.test(text) ? Number(text) : null;
}

function parsePage(text: string): number | null {
  return /^[1-9]\d{0,4}$/.test(text) ? Number(text) - 1 : null;
}

function parseName(text: string): string | null {
  return text !== "" && text.length <= 100 ? text : null;
}

function parseLimit(text: string): number | null {
  return /^\d{1,12}(\.\d{1,6})?$/.test(text) && Number(text) > 0 ? Number(text) : null;
}

export function encodeArtefactDiff(view: ArtefactDiffView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...(view.before === null ? {} : { before: String(view.before) }),
    ...(view.after === null ? {} : { after: String(view.after) }),
    ...(view.pair === null ? {} : { part: String(view.pair) }),
    ...(view.column === null ? {} : { column: view.column }),
    ...(view.group.length === 0 ? {} : { group: view.group }),
    ...(view.normalisation === null ? {} : { normalisation: view.normalisation }),
    ...(view.search === "" ? {} : { find: view.search }),
    ...(view.queueLimit === null ? {} : { limit: String(view.queueLimit) }),
    ...(view.page === 0 ? {} : { page: String(view.page + 1) }),
    ...(view.flame === null ? {} : { flame: view.flame }),
  };
}

export function decodeArtefactDiff(raw: RawSearch): Decoded<ArtefactDiffView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    before: reader.one("before", parseId),
    after: reader.one("after", parseId),
    pair: reader.one("part", parseNumber),
    column: reader.one("column", parseName),
    group: reader.all("group", parseName),
    normalisation: reader.one("normalisation", oneOf(NORMALISATIONS)),
    search: reader.one("find", parseFilter) ?? "",
    queueLimit: reader.one("limit", parseLimit),
    page: reader.one("page", parsePage) ?? 0,
    flame: reader.one("flame", (text) => text),
  });
}
