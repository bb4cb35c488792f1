import { Text } from "@mantine/core";
import { Fragment } from "react";
import type { EpisodeInfo } from "../logic/api";
import { PageLink } from "./PageLink";

/** The artefacts that the host took as an episode began; nothing where there are none. */
export function EvidenceLinks({ evidence }: { readonly evidence: EpisodeInfo["evidence"] }) {
  return evidence.length === 0 ? null : (
    <Text fz="sm">
      {"Taken as it began: "}
      {evidence.map(({ id, command, tool }, place) => (
        <Fragment key={id}>
          {place > 0 && ", "}
          <PageLink fz="inherit" to="/artefacts/$artefact" params={{ artefact: String(id) }}>
            {command === "" ? tool || `artefact ${String(id)}` : command}
          </PageLink>
        </Fragment>
      ))}
    </Text>
  );
}
