/** The address of the start page: the same link shows the same hosts in the same order, now or at its moment. Pure. */

import { FLEET_SORTS, type FleetSort } from "../logic/fleet";
import { type EpochMs, parseIso, toIso } from "../logic/time";
import { type Decoded, oneOf, type RawSearch, Reader } from "./search";
import { parseFilter } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

export interface FleetView {
  readonly clock: Clock;
  readonly filter: string;
  readonly sort: FleetSort;
  /** The moment that is shown; null for now. */
  readonly at: EpochMs | null;
  /** A wall screen: no header, large letters. */
  readonly isKiosk: boolean;
  /** Whether the recorded hosts are listed. */
  readonly hasRecorded: boolean;
}

export const DEFAULT_FLEET_VIEW: FleetView = {
  clock: "local",
  filter: "",
  sort: "unusual",
  at: null,
  isKiosk: false,
  hasRecorded: false,
};

export function encodeFleetView(view: FleetView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...(view.filter === "" ? {} : { filter: view.filter }),
    ...(view.sort === "unusual" ? {} : { sort: view.sort }),
    ...(view.at === null ? {} : { at: toIso(view.at) }),
    ...(view.isKiosk ? { kiosk: "1" } : {}),
    ...(view.hasRecorded ? { recorded: "1" } : {}),
  };
}

/** A parameter that is there or not; `?kiosk` has no value. */
function parseSwitch(text: string): boolean | null {
  return text === "" || text === "1" ? true : null;
}

export function isKiosk(raw: RawSearch): boolean {
  const value = raw["kiosk"];
  return typeof value === "string" && parseSwitch(value) === true;
}

export function decodeFleetView(raw: RawSearch): Decoded<FleetView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    filter: reader.one("filter", parseFilter) ?? "",
    sort: reader.one("sort", oneOf(FLEET_SORTS)) ?? "unusual",
    at: reader.one("at", parseIso),
    isKiosk: reader.one("kiosk", parseSwitch) ?? false,
    hasRecorded: reader.one("recorded", parseSwitch) ?? false,
  });
}
