/** Moments on the browser's own time line, for whoever measures how long a sample takes to the page. */

export type Moment = "heard" | "drawn";

/** Notes that it is now; observers (`PerformanceObserver`, type `mark`) see each one, the time line keeps the last of a kind. */
export function markMoment(moment: Moment, detail: Readonly<Record<string, number | string | null>>): void {
  const name = `normstat:${moment}`;
  performance.clearMarks(name);
  performance.mark(name, { detail });
}
