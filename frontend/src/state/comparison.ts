/**
 * The address of the comparison page: the same link gives the same comparison, filtered, sorted and pinned
 * the same way. Pure.
 */

import { type Against, AGOS, formatDivisor, parseDivisor } from "../logic/against";
import type { FindingKind, Subsystem } from "../logic/api";
import { CHANGE_CHIPS, type ChangeChip } from "../logic/change_chips";
import { FINDING_KINDS, formatPin, GROUP_SORTS, type GroupSort, parsePin, SUBSYSTEMS } from "../logic/group";
import type { Window } from "../logic/time";
import { type Decoded, oneOf, parseId, type RawSearch, Reader, VERSION } from "./search";
import { formatWindowText, parseFilter, parseWindowText } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

/** The chips that the tabs of links of before stand for. */
const CHIPS_OF_TABS: Readonly<Record<string, readonly ChangeChip[]>> = {
  findings: [],
  likely: ["likely"],
  unchanged: ["unchanged"],
  unmatched: ["appeared", "disappeared"],
  "insufficient-data": ["insufficient-data"],
  muted: ["muted"],
};

/** What small graphs are drawn over: the baseline by elapsed time, or only its band. */
export const ALIGNMENTS = ["elapsed", "clock"] as const;
export type Alignment = (typeof ALIGNMENTS)[number];

export interface ComparisonView {
  readonly clock: Clock;
  readonly hosts: readonly string[];
  readonly incident: Window | null;
  readonly against: Against | null;
  /** The divisor series, as the API names it. */
  readonly divisor: string | null;
  /** A saved comparison, instead of all of the above. */
  readonly savedId: number | null;
  /** The pressed chips of the list of changes; none: all changes. */
  readonly chips: readonly ChangeChip[];
  readonly sort: GroupSort;
  readonly align: Alignment;
  readonly filter: string;
  /** Words of the series that are asked for, ranked or not. */
  readonly ask: string;
  readonly onlyHosts: readonly string[];
  readonly subsystems: readonly Subsystem[];
  readonly kinds: readonly FindingKind[];
  /** Pinned groups, in the format of formatPin. */
  readonly pins: readonly string[];
}

export const DEFAULT_COMPARISON_VIEW: ComparisonView = {
  clock: "local",
  hosts: [],
  incident: null,
  against: null,
  divisor: null,
  savedId: null,
  chips: [],
  sort: "anomaly_score",
  align: "elapsed",
  filter: "",
  ask: "",
  onlyHosts: [],
  subsystems: [],
  kinds: [],
  pins: [],
};

function encodeAgainst(against: Against | null): RawSearch {
  switch (against?.kind) {
    case undefined:
      return {};
    case "baseline":
      return { baseline: String(against.id), ...(against.version === null ? {} : { version: String(against.version) }) };
    case "window":
      return { baseline_window: formatWindowText(against.window) };
    case "ago":
      return { ago: against.ago };
    case "host":
      return { other_host: against.host };
    case "group":
      return { group: against.group };
  }
}

function decodeAgainst(reader: Reader): Against | null {
  const id = reader.one("baseline", parseId);
  const version = reader.one("version", parseId);
  const window = reader.one("baseline_window", parseWindowText);
  const ago = reader.one("ago", oneOf(AGOS));
  const host = reader.one("other_host", parseName);
  const group = reader.one("group", parseName);
  const found: readonly (Against | null)[] = [
    id === null ? null : { kind: "baseline", id, version },
    window === null ? null : { kind: "window", window },
    ago === null ? null : { kind: "ago", ago },
    host === null ? null : { kind: "host", host },
    group === null ? null : { kind: "group", group },
  ];
  const [first = null, ...more] = found.filter((against) => against !== null);
  if (more.length > 0) {
    reader.ignored.push("baseline, baseline_window, ago, other_host, group: give only one of them");
  }
  return first;
}

function parseName(text: string): string | null {
  return text === "" || text.length > 200 ? null : text;
}

function parseDivisorText(text: string): string | null {
  const divisor = parseDivisor(text);
  return divisor === null ? null : formatDivisor(divisor);
}

function parsePinText(text: string): string | null {
  const pin = parsePin(text);
  return pin === null ? null : formatPin(pin);
}

function listed(name: string, values: readonly string[]): RawSearch {
  return values.length === 0 ? {} : { [name]: values };
}

export function encodeComparisonView(view: ComparisonView): RawSearch {
  return {
    v: String(VERSION),
    ...(view.savedId === null ? {} : { saved: String(view.savedId) }),
    ...listed("host", view.hosts),
    ...encodeAgainst(view.against),
    ...(view.incident === null ? {} : { incident: formatWindowText(view.incident) }),
    ...(view.divisor === null ? {} : { divisor: view.divisor }),
    ...encodeClock(view.clock),
    ...listed("show", view.chips),
    ...(view.sort === "anomaly_score" ? {} : { sort: view.sort }),
    ...(view.align === "elapsed" ? {} : { align: view.align }),
    ...(view.filter === "" ? {} : { filter: view.filter }),
    ...(view.ask === "" ? {} : { ask: view.ask }),
    ...listed("on", view.onlyHosts),
    ...listed("sub", view.subsystems),
    ...listed("kind", view.kinds),
    ...listed("pin", view.pins),
  };
}

export function decodeComparisonView(raw: RawSearch): Decoded<ComparisonView> {
  const reader = new Reader(raw);
  const chips = [...new Set(reader.all("show", oneOf(CHANGE_CHIPS)))];
  const tab = reader.one("tab", (text) => CHIPS_OF_TABS[text] ?? null);
  // Of links of before, which had stories in one list and all changes in another.
  reader.one("list", oneOf(["stories", "changes"]));
  const view: ComparisonView = {
    clock: decodeClock(reader),
    hosts: [...new Set(reader.all("host", parseName))],
    incident: reader.one("incident", parseWindowText),
    against: decodeAgainst(reader),
    divisor: reader.one("divisor", parseDivisorText),
    savedId: reader.one("saved", parseId),
    chips: chips.length === 0 ? (tab ?? []) : chips,
    sort: reader.one("sort", oneOf(GROUP_SORTS)) ?? "anomaly_score",
    align: reader.one("align", oneOf(ALIGNMENTS)) ?? "elapsed",
    filter: reader.one("filter", parseFilter) ?? "",
    ask: reader.one("ask", parseFilter) ?? "",
    onlyHosts: reader.all("on", parseName),
    subsystems: reader.all("sub", oneOf(SUBSYSTEMS)),
    kinds: reader.all("kind", oneOf(FINDING_KINDS)),
    pins: [...new Set(reader.all("pin", parsePinText))],
  };
  return reader.finish(view);
}
