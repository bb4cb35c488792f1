/** The logged-in user, for pages that depend on the user's role. */

import { createContext, useContext } from "react";
import type { Me } from "../logic/api";

export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === null) {
    throw new Error("useMe must be used inside the shell");
  }
  return me;
}

/** Return whether the user may manage accounts, tokens and add-ons. */
export function isAdministrator(me: Me): boolean {
  return me.role === "administrator";
}

/** Return whether the user may create baselines, import files and reparse streams. */
export function mayWrite(me: Me): boolean {
  return me.role !== "viewer";
}
