import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { bandQuery } from "../../api/comparison";
import { bandPieces, describeBands, bandedSeries, bandWindow } from "../../logic/band";
import { type Scheme, strokeOf } from "../../logic/palette";
import type { LegendEntry } from "../../logic/series";
import type { Window } from "../../logic/time";
import type { DrawnBand } from "../../plot/figure";
import type { BandBaseline } from "./graph";

interface BandInput {
  /** The selected baseline; null for none. */
  readonly baseline: BandBaseline | null;
  readonly host: string;
  readonly stat: string;
  readonly entries: readonly LegendEntry[];
  readonly hidden: ReadonlySet<string>;
  readonly slots: ReadonlyMap<string, number>;
  readonly scheme: Scheme;
  readonly drawn: Window;
}

/** Return the bands of the first visible lines of a panel, and the note in its legend. */
export function useBands(input: BandInput): { readonly drawn: readonly DrawnBand[]; readonly note: string } {
  const { baseline, host, stat, entries, hidden, slots, scheme, drawn } = input;
  const chosen = baseline === null ? [] : bandedSeries(entries, hidden);
  const bands = useQueries({
    queries: chosen.map(({ series }) =>
      bandQuery({
        baseline: baseline?.id ?? 0,
        host,
        stat,
        field: series.field,
        instance: series.instance,
        window: bandWindow(drawn),
      }),
    ),
    combine: (results) => ({
      bands: results.map(({ data }) => data ?? null),
      errors: results.flatMap(({ error }) => (error === null ? [] : [error.message])),
    }),
  });
  const keys = chosen.map(({ key }) => key).join("\n");
  return useMemo(() => {
    if (baseline === null) {
      return NOTHING;
    }
    const drawnBands = bands.bands.flatMap((band, index) => {
      const pieces = band === null ? [] : bandPieces(band.steps, drawn);
      const key = keys.split("\n")[index] ?? "";
      return pieces.length === 0 ? [] : [{ key, pieces, color: strokeOf(slots.get(key) ?? 0, scheme).color }];
    });
    const reasons = [...bands.errors, ...bands.bands.flatMap((band) => band?.reason ?? [])];
    return { drawn: drawnBands, note: describeBands(baseline.name, drawnBands.length, entries.length - hidden.size, reasons) };
  }, [baseline, bands, keys, slots, scheme, drawn, entries.length, hidden.size]);
}

const NOTHING = { drawn: [], note: "" } as const;
