/** The status of a host by the rules. */

import type { HostStatus, SubsystemStatus, UseMatrix } from "./api";
import { nameResource } from "./use_matrix";
import { type Colour, COLOURS, toColour } from "./watch";

const SUBSYSTEMS: Readonly<Record<string, string>> = {
  disk: "Disks",
  net: "Networks",
  nfs: "NFS client",
  swap: "Swap space",
  ram: "Memory demand",
  kernel: "Kernel memory",
  cpu: "CPU power",
  mutex: "Kernel mutexes",
  dnlc: "Name cache (DNLC)",
  inode: "Inode cache",
  tcp: "TCP",
  filesystem: "File systems",
  gpu: "GPUs",
  container: "Containers",
  database: "Databases",
};

/** Return what people call a subsystem of rules. */
export function nameSubsystem(name: string): string {
  return SUBSYSTEMS[name] ?? name;
}

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

export interface Overall {
  readonly colour: Colour | null;
  /** `CPUs: saturation is critical`, where a cell of the USE matrix is worse than all rules; "" otherwise. */
  readonly because: string;
}

/** Return the worst of what the rules say of the host and of the cells of its USE matrix. */
export function worstOverall({ colour }: Pick<HostStatus, "colour">, matrix: UseMatrix | undefined): Overall {
  let overall: Overall = { colour: toColour(colour ?? ""), because: "" };
  for (const { resource, title, limits, cells } of matrix?.rows ?? []) {
    for (const { kind, state } of cells) {
      const own = state === "critical" ? "red" : state === "warning" ? "amber" : null;
      if (own !== null && rankOf(own) > rankOf(overall.colour)) {
        const name = limits === "" ? nameResource(resource) : title;
        overall = { colour: own, because: `${name}: ${kind} ${own === "red" ? "is critical" : "needs attention"}` };
      }
    }
  }
  return overall;
}

function rankOf(colour: Colour | null): number {
  return colour === null ? -1 : COLOURS.indexOf(colour);
}

/** Return whether live_test.se ran on the host. */
export function hasSe({ se, rows }: HostStatus): boolean {
  return se !== null || rows.some((row) => row.se !== null);
}

function isBad(name: string): boolean {
  const colour = toColour(name);
  return colour !== null && COLOURS.indexOf(colour) >= COLOURS.indexOf("amber");
}
