import { ActionIcon, Badge, Group, Table, Text, Tooltip } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Artefact } from "../logic/api";
import { describeEffect, describeLength, describeParts, nameOf, surroundingsOf } from "../logic/artefact";
import { formatCount } from "../logic/number";
import { fromApi } from "../logic/time";
import type { Zone } from "../logic/zone";
import { DEFAULT_ARTEFACT_VIEW, encodeArtefactView } from "../state/artefacts";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";
import type { Clock } from "../state/zone_choice";
import { Instant } from "./Instant";
import { PageLink } from "./PageLink";

interface ArtefactRowProps {
  readonly artefact: Artefact;
  readonly zone: Zone;
  readonly clock: Clock;
  /** What marks the row, such as a checkbox. */
  readonly mark?: ReactNode;
  /** Whether the host is named. */
  readonly hasHost?: boolean;
  readonly onDelete?: () => void;
}

/** One artefact of a list. */
export function ArtefactRow({ artefact, zone, clock, mark, hasHost = true, onDelete }: ArtefactRowProps) {
  const at = fromApi(artefact.start);
  const name = nameOf(artefact);
  const around = encodeHostView({ ...DEFAULT_HOST_VIEW, clock, range: { kind: "fixed", window: surroundingsOf(artefact) } });
  return (
    <Table.Tr>
      {mark !== undefined && <Table.Td>{mark}</Table.Td>}
      <Table.Td>
        <Instant at={at} zone={zone} />
        {artefact.duration_s !== null && (
          <Text fz="xs" className="soft">
            {`watched for ${describeLength(artefact.duration_s)}`}
          </Text>
        )}
      </Table.Td>
      {hasHost && (
        <Table.Td>
          <PageLink fz="inherit" to="/hosts/$host" params={{ host: artefact.host }} search={around}>
            {artefact.host}
          </PageLink>
        </Table.Td>
      )}
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        {artefact.tool === "" ? <span className="soft">unknown tool</span> : artefact.tool}
        <EffectBadge artefact={artefact} />
      </Table.Td>
      <Table.Td className="artefact-name">
        <PageLink
          fz="inherit"
          to="/artefacts/$artefact"
          params={{ artefact: String(artefact.id) }}
          search={encodeArtefactView({ ...DEFAULT_ARTEFACT_VIEW, clock })}
        >
          {name}
        </PageLink>
        {artefact.command !== "" && name !== artefact.command && (
          <div className="mono soft artefact-command">{artefact.command.split("\n")[0]}</div>
        )}
      </Table.Td>
      <Table.Td>
        <Text fz="sm">{describeParts(artefact.parts)}</Text>
        {artefact.n_rejected > 0 && (
          <Text fz="xs" c="var(--warn)">
            {`${formatCount(artefact.n_rejected)} rejected`}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{artefact.author}</Table.Td>
      <Table.Td>
        {onDelete !== undefined && (
          <Tooltip label="Delete">
            <ActionIcon aria-label={`Delete ${name}`} onClick={onDelete}>
              <IconTrash size={15} />
            </ActionIcon>
          </Tooltip>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** Marks a tool that disturbs what it watches. */
export function EffectBadge({ artefact }: { readonly artefact: Pick<Artefact, "effect" | "tool"> }) {
  return artefact.effect === "heavy" ? (
    <Group component="span" display="inline-flex" ml={6}>
      <Tooltip label={describeEffect(artefact)} multiline maw={340}>
        <Badge size="sm" variant="outline" color="var(--warn)" tt="none">
          heavy
        </Badge>
      </Tooltip>
    </Group>
  ) : null;
}
