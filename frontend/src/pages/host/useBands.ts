import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bandsQuery } from "../../api/comparison";
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
  const chosen = baseline === null ? [] : bandedSeries(entries, hidden, baseline.maxLines);
  const { data, error } = useQuery({
    ...bandsQuery({
      baseline: baseline?.id ?? 0,
      host,
      stat,
      series: chosen.map(({ series }) => ({ field: series.field, instance: series.instance })),
      window: bandWindow(drawn),
    }),
    enabled: chosen.length > 0,
  });
  const keys = chosen.map(({ key }) => key).join("\n");
  return useMemo(() => {
    if (baseline === null) {
      return NOTHING;
    }
    const bands = data?.bands ?? [];
    const drawnBands = bands.flatMap((band, index) => {
      const pieces = bandPieces(band.steps, drawn);
      const key = keys.split("\n")[index] ?? "";
      return pieces.length === 0 ? [] : [{ key, pieces, color: strokeOf(slots.get(key) ?? 0, scheme).color }];
    });
    if (baseline.maxLines !== undefined && drawnBands.length === 0) {
      // It was not asked for: no reason is given why there is none.
      return NOTHING;
    }
    const reasons = [...(error === null ? [] : [error.message]), ...bands.flatMap(({ reason }) => reason ?? [])];
    return { drawn: drawnBands, note: describeBands(baseline.name, drawnBands.length, entries.length - hidden.size, reasons) };
  }, [baseline, data, error, keys, slots, scheme, drawn, entries.length, hidden.size]);
}

const NOTHING = { drawn: [], note: "" } as const;
