/** Colours and dashes of series, distinguishable with any kind of colour vision, on white and on black. */

export type Scheme = "light" | "dark";

// Based on Okabe and Ito, darkened or lightened to a contrast of at least 3:1 with the background.
const LIGHT = [
  "#0068a8",
  "#c25700",
  "#00805c",
  "#a8457d",
  "#6b5b00",
  "#3f4a5a",
  "#7a4fd0",
  "#b3261e",
  "#0a7d91",
  "#8a5a3c",
] as const;
const DARK = [
  "#56b4e9",
  "#ff9a4d",
  "#2fc79a",
  "#e08bbd",
  "#e3cf4a",
  "#b6c2d2",
  "#b79cff",
  "#ff7a70",
  "#4fd0e0",
  "#cfa283",
] as const;
const DASHES = ["solid", "dash", "dot", "dashdot"] as const;

export type Dash = (typeof DASHES)[number];

export interface Stroke {
  readonly color: string;
  readonly dash: Dash;
}

/** Return the stroke of the n-th series of a panel; when the colours are used up, the dash changes. */
export function strokeOf(index: number, scheme: Scheme): Stroke {
  const colors = scheme === "dark" ? DARK : LIGHT;
  return {
    color: colors[index % colors.length] ?? LIGHT[0],
    dash: DASHES[Math.floor(index / colors.length) % DASHES.length] ?? "solid",
  };
}

/** The place in the palette of what every system tells about its CPUs: the same colour in every graph, whatever the tool calls it. */
const MEANT: Readonly<Record<string, number>> = {
  "cpu.usr": 0,
  "cpu.sys": 1,
  "cpu.guest": 2,
  "cpu.wait": 3,
  "cpu.soft": 4,
  "cpu.idle": 5,
  "cpu.steal": 6,
  "cpu.irq": 8,
  "cpu.nice": 9,
};

/** Return the place in the palette that a field's meaning has; null for a field without a colour of its own. */
export function meantSlot(meanings: readonly string[]): number | null {
  return meanings.map((meaning) => MEANT[meaning] ?? null).find((slot) => slot !== null) ?? null;
}

export interface Ink {
  readonly text: string;
  readonly grid: string;
  readonly zero: string;
  readonly background: string;
  readonly baseline: string;
  readonly baselineBand: string;
  readonly incident: string;
}

/** Return the colours of everything else in a graph. The baseline always has the calm colour. */
export function inkOf(scheme: Scheme): Ink {
  return scheme === "dark"
    ? {
        text: "#a9b4c2",
        grid: "#2a323d",
        zero: "#3d4856",
        background: "#171c23",
        baseline: "#6ab0e6",
        baselineBand: "rgba(86, 160, 220, 0.22)",
        incident: "#ff9a4d",
      }
    : {
        text: "#4a5563",
        grid: "#e6eaef",
        zero: "#c3cbd5",
        background: "#ffffff",
        baseline: "#2a6fa8",
        baselineBand: "rgba(42, 111, 168, 0.16)",
        incident: "#c25700",
      };
}
