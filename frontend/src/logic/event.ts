/** Marks of moments in graphs: what happened to a host. The source of an event does not matter here. */

import type { HostEvent } from "./api";
import { type Margins, pixelOfTime } from "./surface";
import { type EpochMs, fromApi, MINUTE, toEpochMs, type Window } from "./time";
import { formatClock, formatDate, formatInstant, type Zone } from "./zone";

/** Something that happened at a moment, to be marked in every graph. */
export interface EventMark {
  readonly at: EpochMs;
  /** The earliest moment at which it may have happened; null if `at` is exact. */
  readonly notBefore: EpochMs | null;
  readonly text: string;
  /** A word for the style: `reboot` is drawn stronger than all others. */
  readonly kind: string;
}

/** Marks so close that they are drawn as one. */
export interface MarkCluster {
  readonly x: number;
  readonly marks: readonly EventMark[];
}

/** Return the marks of events. */
export function toMarks(events: readonly HostEvent[]): readonly EventMark[] {
  return events.map(({ at, not_before, text, kind }) => ({
    at: fromApi(at),
    notBefore: not_before === null ? null : fromApi(not_before),
    text,
    kind,
  }));
}

/** Return the window to fetch events for, rounded outwards to minutes, so that a live page does not fetch on every move. */
export function eventsWindow({ start, end }: Window): Window {
  return { start: toEpochMs(Math.floor(start / MINUTE) * MINUTE), end: toEpochMs(Math.ceil(end / MINUTE) * MINUTE) };
}

/** Return the marks inside the window. */
export function marksInside(marks: readonly EventMark[], { start, end }: Window): readonly EventMark[] {
  return marks.filter(({ at }) => at >= start && at < end);
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
export function describeMark(zone: Zone, { at, notBefore, text }: EventMark): string {
  return `${formatInstant(zone, at)}: ${text}${notBefore === null ? "" : ` (${describeEarliest(zone, at, notBefore)})`}`;
}

/** Return the earliest moment of a change that was seen later, with its date if that is another day. */
export function describeEarliest(zone: Zone, at: EpochMs, notBefore: EpochMs): string {
  const isSameDay = formatDate(zone, at) === formatDate(zone, notBefore);
  return `after ${isSameDay ? formatClock(zone, notBefore) : formatInstant(zone, notBefore)}`;
}

/** Return the style of a cluster: that of a reboot if there is one in it. */
export function clusterKind({ marks }: MarkCluster): string {
  return marks.some(({ kind }) => kind === "reboot") ? "reboot" : (marks[0]?.kind ?? "");
}
