/** Colours of frames: a hue for each kind of code that also differs in lightness, a shade for each package; red and blue only for changes. */

export const FLAME_KINDS = ["kernel", "native", "scoped", "managed", "unknown"] as const;
export type FlameKind = (typeof FLAME_KINDS)[number];
export type Scheme = "light" | "dark";

const KERNEL = /_\[[kg]\]$|^(?:unix|genunix|zfs|ip|sockfs|scsi|sd|nfs|ufs|vmlinux|kernel)`/;
const UNKNOWN = /^\[.*\]$|^\(?unknown\)?$|^0x[0-9a-f]+$|^�+$/i;
const MANAGED =
  /_\[[ji]\]$|^L?[\w$]+\/[\w$]+[/;:.]|^(?:java|javax|sun|jdk|org|com|net|io|scala|kotlin)\.[\w$]+\.|\.(?:py|js|ts|rb|php|pl|java)\b|^(?:LazyCompile|py)::?/;

/** Return the kind of code that a frame's name is of. */
export function kindOf(name: string): FlameKind {
  if (UNKNOWN.test(name)) {
    return "unknown";
  }
  if (KERNEL.test(name)) {
    return "kernel";
  }
  if (MANAGED.test(name)) {
    return "managed";
  }
  return name.includes("::") ? "scoped" : "native";
}

/** Return the package of a frame: what stands before the function's name, the name itself where nothing does. */
export function packageOf(name: string): string {
  const module = /^([^`]+)`/.exec(name)?.[1];
  const scope = /^([^(<]+?)(?:::|\.)[^:.(]*(?:[(<].*)?$/s.exec(name)?.[1];
  return module ?? scope ?? /^L?((?:[\w$]+\/)+)/.exec(name)?.[1] ?? name;
}

const HUES: Readonly<Record<FlameKind, readonly [number, number, number]>> = {
  kernel: [28, 92, 63],
  native: [48, 88, 68],
  scoped: [200, 68, 72],
  managed: [160, 48, 64],
  unknown: [215, 8, 78],
};
const SHADES = 7;

function hashOf(text: string): number {
  let hash = 7;
  for (let index = 0; index < text.length; index += 1) {
    hash = (hash * 31 + text.charCodeAt(index)) | 0;
  }
  return hash >>> 0;
}

/** Return the colour of a frame; dark text is readable on all of them. */
export function colourOf(name: string, scheme: Scheme): string {
  const [hue, saturation, lightness] = HUES[kindOf(name)];
  const shade = (hashOf(packageOf(name)) % SHADES) - (SHADES - 1) / 2;
  const dimmed = scheme === "dark" ? -8 : 0;
  return `hsl(${String(hue + shade * 1.5)} ${String(saturation - (scheme === "dark" ? 14 : 0))}% ${String(lightness + shade * 2 + dimmed)}%)`;
}

/** Return the colour of a kind in a legend. */
export function kindColour(kind: FlameKind, scheme: Scheme): string {
  const [hue, saturation, lightness] = HUES[kind];
  return `hsl(${String(hue)} ${String(saturation)}% ${String(lightness - (scheme === "dark" ? 8 : 0))}%)`;
}

/** Return the colour of a change: red for more, blue for less, the stronger the larger, up to `most`; grey for none. */
export function changeColour(change: number, most: number, scheme: Scheme): string {
  const strength = most > 0 ? Math.min(1, Math.abs(change) / most) : 0;
  if (strength < 0.002) {
    return scheme === "dark" ? "hsl(215 8% 72%)" : "hsl(215 10% 91%)";
  }
  const lightness = (scheme === "dark" ? 78 : 88) - 26 * Math.sqrt(strength);
  return change > 0 ? `hsl(8 88% ${String(lightness)}%)` : `hsl(212 82% ${String(lightness)}%)`;
}
