/** Events: what happened to hosts. Their marks in graphs, their words, and windows between them. */

import type { EventVerdict, HostEvent } from "./api";
import { type Margins, pixelOfTime } from "./surface";
import { DAY, type EpochMs, fromApi, MINUTE, SECOND, toEpochMs, type Window, wholeSecond } from "./time";
import { formatClock, formatDate, formatInstant, formatWindow, type Zone } from "./zone";

/** Something that happened at a moment or for a time, to be marked in every graph. */
export interface EventMark {
  readonly at: EpochMs;
  /** When it ended; null for a moment. */
  readonly end: EpochMs | null;
  /** The earliest moment at which it may have happened; null if `at` is exact. */
  readonly notBefore: EpochMs | null;
  readonly text: string;
  /** A word for the style: `reboot` is drawn stronger than all others. */
  readonly kind: string;
  /** As the server sent it. */
  readonly event: HostEvent;
}

/** The kinds that people choose from; the others are what agents and facts report. */
export const TYPED_KINDS = ["note", "deployment", "maintenance", "incident", "setting", "hardware"] as const;

const KIND_LABELS: Readonly<Record<HostEvent["kind"], string>> = {
  note: "Note",
  deployment: "Deployment",
  maintenance: "Maintenance",
  incident: "Incident",
  setting: "Setting",
  hardware: "Hardware",
  reboot: "Reboot",
  kernel: "Kernel",
  limit: "Limit",
  storage: "Storage",
  network: "Network",
  zone: "Zone",
  system: "System",
  log: "Log line",
  clock: "Clock",
  tool: "Tool",
  loss: "Lost output",
  tracer: "Tracer",
  artefact: "Artefact",
  normal: "Change of normal",
};

/** All kinds, in the order of menus. */
export const EVENT_KINDS = Object.keys(KIND_LABELS) as readonly HostEvent["kind"][];

/** Return the name of a kind. */
export function kindLabel(kind: HostEvent["kind"]): string {
  return KIND_LABELS[kind];
}

const VERDICTS: Readonly<Record<EventVerdict["verdict"], string>> = {
  same: "Same",
  better: "Better",
  worse: "Worse",
  too_little_data: "Too little data",
};

/** Return what became of the hosts after a change, in a word. */
export function describeVerdict(verdict: EventVerdict["verdict"]): string {
  return VERDICTS[verdict];
}

/** The most characters of a text, and of a tag, that the server takes. */
export const MAX_EVENT_TEXT = 2000;
export const MAX_TAG = 50;

/** Return the tags of typed words: without `#`, blanks and repeats. */
export function toTags(terms: readonly string[]): readonly string[] {
  const tags = terms.flatMap((word) => word.split(/[\s,]+/)).map((word) => word.replace(/^#+/, ""));
  return [...new Set(tags.filter(Boolean))];
}

/** Return the names of the hosts of an event as text. */
export function describeHosts(hosts: readonly string[] | null): string {
  return hosts === null ? "all hosts" : hosts.join(", ");
}

/** Return whether an event can be changed: a person noted it, and no host recorded it. */
export function mayChange({ source }: Pick<HostEvent, "source">): boolean {
  return source === "user" || source === "api" || source === "cli";
}

/** Return who or what an event comes from: `anna`, `anna (API)`, `facts`. */
export function describeSource({ source, author }: Pick<HostEvent, "source" | "author">): string {
  switch (source) {
    case "user":
    case "cli":
      return author;
    case "api":
      return `${author} (API)`;
    case "agent":
    case "import":
    case "facts":
    case "artefact":
    case "samples":
      return author === "" ? source : `${source}: ${author}`;
  }
}

/** Return the window that begins, or ends, at an event; where that would turn it round, one of the same length. */
export function windowFromEvent(shown: Window, at: EpochMs, side: "start" | "end"): Window {
  const length = shown.end - shown.start;
  // The second after an event still belongs to it.
  const last = toEpochMs(at + SECOND);
  return side === "start"
    ? { start: at, end: shown.end > last ? shown.end : toEpochMs(at + length) }
    : { start: shown.start < at ? shown.start : toEpochMs(last - length), end: last };
}

/** Return the moment of a new event as a window without length: at the crosshair, else now, or at the end of a window in the past. */
export function momentToNote(hovered: EpochMs | null, now: EpochMs, shown: Window): Window {
  const second = wholeSecond(hovered ?? toEpochMs(Math.min(now, shown.end)));
  return { start: second, end: second };
}

/** Return a window that shows an event with what came before and after it: of a change of normal, the weeks that it was found by. */
export function eventSurroundings(at: EpochMs, end: EpochMs | null, kind: HostEvent["kind"]): Window {
  const margin = kind === "normal" ? 28 * DAY : Math.max(15 * MINUTE, (end ?? at) - at);
  return { start: toEpochMs(Math.max(0, at - margin)), end: toEpochMs((end ?? at) + margin) };
}

/** Return the window between two events, with the second of the later one. */
export function windowBetweenEvents(a: EpochMs, b: EpochMs): Window {
  return { start: toEpochMs(Math.min(a, b)), end: toEpochMs(Math.max(a, b) + SECOND) };
}

/** Return what tells marks apart: events of people may have one time and one text. */
export function markKey({ at, text, event }: EventMark): string {
  return `${String(at)} ${String(event.id)} ${text}`;
}

/** Return whether a kind says that a tool disturbed the host for a time. */
export function isTracer(kind: string): boolean {
  return kind === "tracer";
}

/** Return the tool that the text of a tracer begins with: `strace: which call fails? (...)` is of strace. */
export function toolOf(text: string): string {
  return /^[\w.-]{1,40}/.exec(text)?.[0] ?? "";
}

/** Marks so close that they are drawn as one. */
export interface MarkCluster {
  readonly x: number;
  readonly marks: readonly EventMark[];
}

/** Return the marks of events. */
export function toMarks(events: readonly HostEvent[]): readonly EventMark[] {
  return events.map((event) => ({
    at: fromApi(event.at),
    end: event.end === null ? null : fromApi(event.end),
    notBefore: event.not_before === null ? null : fromApi(event.not_before),
    text: event.text,
    kind: event.kind,
    event,
  }));
}

/** Return the window to fetch events for, rounded outwards to minutes, so that a live page does not fetch on every move. */
export function eventsWindow({ start, end }: Window): Window {
  return { start: toEpochMs(Math.floor(start / MINUTE) * MINUTE), end: toEpochMs(Math.ceil(end / MINUTE) * MINUTE) };
}

/** Return the marks inside the window, and those of what still went on when it began. */
export function marksInside(marks: readonly EventMark[], { start, end }: Window): readonly EventMark[] {
  return marks.filter((mark) => mark.at < end && (mark.at >= start || (mark.end !== null && mark.end > start)));
}

/** Return the visible marks at their pixels; marks less than `min_px` after the first of a cluster join it. */
export function clusterMarks(
  marks: readonly EventMark[],
  window: Window,
  width: number,
  margins: Margins,
  min_px: number,
): readonly MarkCluster[] {
  const clusters: { x: number; marks: EventMark[] }[] = [];
  for (const mark of [...marks].sort((a, b) => a.at - b.at)) {
    const x = pixelOfTime(mark.at, width, margins, window);
    if (x === null) {
      continue;
    }
    const last = clusters.at(-1);
    if (last !== undefined && x - last.x < min_px) {
      last.marks.push(mark);
    } else {
      clusters.push({ x, marks: [mark] });
    }
  }
  return clusters;
}

/** Return a mark as a sentence: `2026-11-22 10:05:00: CPUs online: 4 → 2 (after 10:00:00)`. */
export function describeMark(zone: Zone, { at, end, notBefore, text, event }: EventMark): string {
  const time = end === null ? formatInstant(zone, at) : formatWindow(zone, { start: at, end });
  const verdict = event.verdict == null ? "" : `. ${describeVerdict(event.verdict.verdict)}: ${event.verdict.sentence}`;
  return `${time}: ${text}${notBefore === null ? "" : ` (${describeEarliest(zone, at, notBefore)})`}${verdict}`;
}

/** Return the earliest moment of a change that was seen later, with its date if that is another day. */
export function describeEarliest(zone: Zone, at: EpochMs, notBefore: EpochMs): string {
  const isSameDay = formatDate(zone, at) === formatDate(zone, notBefore);
  return `after ${isSameDay ? formatClock(zone, notBefore) : formatInstant(zone, notBefore)}`;
}

/** Return the style of a cluster: that of a reboot or an incident if there is one in it. */
export function clusterKind({ marks }: MarkCluster): string {
  return ["reboot", "incident"].find((strong) => marks.some(({ kind }) => kind === strong)) ?? marks[0]?.kind ?? "";
}
