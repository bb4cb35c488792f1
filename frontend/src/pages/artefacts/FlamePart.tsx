import { Text } from "@mantine/core";
import type { Artefact, ArtefactPartInfo } from "../../logic/api";
import { words } from "../../words";

interface FlamePartProps {
  readonly artefact: Artefact;
  readonly part: ArtefactPartInfo;
}

/** Stacks. */
export function FlamePart({ part }: FlamePartProps) {
  return <Text fz="sm">{words.artefacts.kinds.stacks(part.n_rows)}</Text>;
}
