/** The status of a host by the rules. */

import type { HostStatus, SubsystemStatus } from "./api";
import { COLOURS, toColour } from "./watch";

// More names than this say no more than their number.
const MAX_SHOWN = 12;

/** Return whether a subsystem needs attention: amber or worse. */
export function needsSomebody({ colour }: Pick<SubsystemStatus, "colour">): boolean {
  return isBad(colour ?? "");
}

/** Return the instances to name: those that are amber or worse, the worst first. */
export function shownInstances({ instances }: Pick<SubsystemStatus, "instances">): SubsystemStatus["instances"] {
  return instances.filter(({ colour }) => isBad(colour)).slice(0, MAX_SHOWN);
}

/** Return whether live_test.se ran on the host. */
export function hasSe({ se, rows }: HostStatus): boolean {
  return se !== null || rows.some((row) => row.se !== null);
}

function isBad(name: string): boolean {
  const colour = toColour(name);
  return colour !== null && COLOURS.indexOf(colour) >= COLOURS.indexOf("amber");
}
