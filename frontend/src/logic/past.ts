/** Past incidents in words: what a comparison looks like. */

import type { AlikeIncident, PastIncident, Recall } from "./api";
import { formatCount } from "./number";
import { fromApi } from "./time";
import { formatDate, type Zone } from "./zone";

/** Return what is known of a past incident: its cause and what helped, else its note, else its title. */
export function describePast({ cause, remedy, note, title }: PastIncident): string {
  if (cause !== "") {
    return `cause “${cause}”${remedy === "" ? "" : `, helped “${remedy}”`}`;
  }
  return note.trim() === "" ? `${title}; no cause is named` : note.trim();
}

/** Return where and when a past incident was, and how alike it is. */
export function describeAlike(zone: Zone, { likeness, incident }: AlikeIncident): string {
  return `${formatDate(zone, fromApi(incident.start))} on ${incident.hosts.join(", ")} (${formatCount(Math.round(100 * likeness))} % alike)`;
}

/** Return the past incident that says most: the nearest with a cause, else the nearest. Missing: null where none is alike. */
export function mostTelling({ alike }: Recall): AlikeIncident | null {
  return alike.find(({ incident }) => incident.cause !== "") ?? alike[0] ?? null;
}
