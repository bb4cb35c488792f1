import { Text } from "@mantine/core";
import type { Artefact, ArtefactPartInfo } from "../../logic/api";
import { words } from "../../words";

interface LogPartProps {
  readonly artefact: Artefact;
  readonly part: ArtefactPartInfo;
}

/** The events of a trace. */
export function LogPart({ part }: LogPartProps) {
  return <Text fz="sm">{words.artefacts.kinds.log(part.n_rows)}</Text>;
}
