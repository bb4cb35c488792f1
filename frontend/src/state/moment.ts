/** Performance marks, to measure how long a sample takes to reach the page. */

export type Moment = "heard" | "drawn";

/**
 * Set a performance mark. Observers (`PerformanceObserver`, type `mark`) see each one; the timeline keeps the
 * last of each kind.
 */
export function markMoment(moment: Moment, detail: Readonly<Record<string, number | string | null>>): void {
  const name = `normstat:${moment}`;
  performance.clearMarks(name);
  performance.mark(name, { detail });
}
