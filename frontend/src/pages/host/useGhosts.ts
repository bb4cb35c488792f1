import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { bandQuery } from "../../api/comparison";
import { bandPieces, describeGhosts, ghostsOf, ghostWindow } from "../../logic/ghost";
import { type Scheme, strokeOf } from "../../logic/palette";
import type { LegendEntry } from "../../logic/series";
import type { Window } from "../../logic/time";
import type { Ghost as DrawnGhost } from "../../plot/figure";
import type { Ghost } from "./graph";

interface GhostInput {
  /** The chosen baseline; null for none. */
  readonly ghost: Ghost | null;
  readonly host: string;
  readonly stat: string;
  readonly entries: readonly LegendEntry[];
  readonly hidden: ReadonlySet<string>;
  readonly slots: ReadonlyMap<string, number>;
  readonly scheme: Scheme;
  readonly drawn: Window;
}

/** Return the bands of a panel's first visible lines, and their legend. */
export function useGhosts(input: GhostInput): { readonly drawn: readonly DrawnGhost[]; readonly note: string } {
  const { ghost, host, stat, entries, hidden, slots, scheme, drawn } = input;
  const chosen = ghost === null ? [] : ghostsOf(entries, hidden);
  const bands = useQueries({
    queries: chosen.map(({ series }) =>
      bandQuery({
        baseline: ghost?.id ?? 0,
        host,
        stat,
        field: series.field,
        instance: series.instance,
        window: ghostWindow(drawn),
      }),
    ),
    combine: (results) => ({
      bands: results.map(({ data }) => data ?? null),
      errors: results.flatMap(({ error }) => (error === null ? [] : [error.message])),
    }),
  });
  const keys = chosen.map(({ key }) => key).join("\n");
  return useMemo(() => {
    if (ghost === null) {
      return NOTHING;
    }
    const ghosts = bands.bands.flatMap((band, index) => {
      const pieces = band === null ? [] : bandPieces(band.steps, drawn);
      const key = keys.split("\n")[index] ?? "";
      return pieces.length === 0 ? [] : [{ pieces, color: strokeOf(slots.get(key) ?? 0, scheme).color }];
    });
    const reasons = [...bands.errors, ...bands.bands.flatMap((band) => band?.reason ?? [])];
    return { drawn: ghosts, note: describeGhosts(ghost.name, ghosts.length, entries.length - hidden.size, reasons) };
  }, [ghost, bands, keys, slots, scheme, drawn, entries.length, hidden.size]);
}

const NOTHING = { drawn: [], note: "" } as const;
