/** Who is logged in, for pages that show less to those who may less. */

import { createContext, useContext } from "react";
import type { Me } from "../logic/api";

export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === null) {
    throw new Error("useMe is for pages inside the shell");
  }
  return me;
}

/** Administrators look after accounts, tokens and add-ons. */
export function isAdministrator(me: Me): boolean {
  return me.role === "administrator";
}

/** Operators and administrators may mark baselines, load files and have streams read again. */
export function mayWrite(me: Me): boolean {
  return me.role !== "viewer";
}
