import { Alert, Button, Group, Menu, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconArrowsDiff, IconPencil, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { artefactListQuery } from "../../api/artefacts";
import { AddToReport } from "../../components/AddToReport";
import { ArtefactRunsButton } from "../../components/ArtefactRunsButton";
import { CopyBox } from "../../components/CopyBox";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { useArtefactDeletion } from "../../components/useArtefactDeletion";
import type { Artefact, NoteContent } from "../../logic/api";
import { describeEffect, describeLength, inTime, nameOf, surroundingsOf, windowOfArtefact } from "../../logic/artefact";
import { formatBytes } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { formatInstant, formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { DEFAULT_ARTEFACT_LIST, encodeArtefactList, encodeArtefactPair } from "../../state/artefacts";
import { DEFAULT_HOST_VIEW, encodeHostView, type HostTab } from "../../state/url";
import type { Clock } from "../../state/zone_choice";
import { EditArtefactDialog } from "./EditArtefactDialog";
import { ReparseDialog } from "./ReparseDialog";

const SOURCES = {
  upload: "uploaded on the page",
  api: "sent over HTTP",
  cli: "sent by the command line",
  agent: "sent by the agent",
  import: "from an import",
  bundle: "from a bundle",
};

interface ArtefactHeadProps {
  readonly artefact: Artefact;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** What was asked, where, when and how, and how far the answer can be believed. */
export function ArtefactHead({ artefact, zone, clock }: ArtefactHeadProps) {
  const me = useMe();
  const navigate = useNavigate();
  const { remove } = useArtefactDeletion();
  const [dialog, setDialog] = useState<"edit" | "reparse" | null>(null);
  const name = nameOf(artefact);
  const { question, title, command } = artefact;
  const window = windowOfArtefact(artefact);
  const at = fromApi(artefact.start);
  const hostLink = (tab: HostTab) =>
    encodeHostView({
      ...DEFAULT_HOST_VIEW,
      clock,
      tab,
      mark: tab === "graphs" ? window : null,
      range: { kind: "fixed", window: surroundingsOf(artefact) },
    });
  return (
    <>
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="md">
        <div style={{ minWidth: 0 }}>
          <Text fz="xs">
            <PageLink fz="inherit" to="/artefacts" search={encodeArtefactList({ ...DEFAULT_ARTEFACT_LIST, clock })}>
              Artefacts
            </PageLink>
          </Text>
          <Title order={1} className="artefact-name">
            {title === "" && question !== "" && question.length <= 200 ? question : name}
          </Title>
        </div>
        <Group gap="xs" wrap="wrap" justify="flex-end">
          <CompareMenu artefact={artefact} zone={zone} clock={clock} />
          <AddToReport note={noteOf(artefact)} />
          <ArtefactRunsButton artefact={artefact} />
          {mayWrite(me) && (
            <Menu position="bottom-end">
              <Menu.Target>
                <Button variant="default">Change</Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  leftSection={<IconPencil size={14} aria-hidden />}
                  onClick={() => {
                    setDialog("edit");
                  }}
                >
                  Edit…
                </Menu.Item>
                <Menu.Item
                  leftSection={<IconRefresh size={14} aria-hidden />}
                  onClick={() => {
                    setDialog("reparse");
                  }}
                >
                  Reparse…
                </Menu.Item>
                <Menu.Item
                  leftSection={<IconTrash size={14} aria-hidden />}
                  onClick={() => {
                    remove(artefact);
                    void navigate({ to: "/artefacts", search: encodeArtefactList({ ...DEFAULT_ARTEFACT_LIST, clock }) });
                  }}
                >
                  Delete
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </Group>
      </Group>
      {question !== "" && (title !== "" || question.length > 200) && <p className="artefact-question">{question}</p>}
      {artefact.effect === "heavy" && (
        <Alert my="xs" p="xs" color="yellow" icon={<IconAlertTriangle size={18} aria-hidden />}>
          <b>Observer effect: heavy.</b> {describeEffect(artefact)}
        </Alert>
      )}
      <dl className="artefact-facts">
        <dt>Host</dt>
        <dd>
          <PageLink fz="inherit" to="/hosts/$host" params={{ host: artefact.host }} search={hostLink("graphs")}>
            {artefact.host}
          </PageLink>
          {": "}
          <PageLink fz="inherit" to="/hosts/$host" params={{ host: artefact.host }} search={hostLink("graphs")}>
            graphs at that time
          </PageLink>
          {", "}
          <PageLink fz="inherit" to="/hosts/$host" params={{ host: artefact.host }} search={hostLink("processes")}>
            processes
          </PageLink>
        </dd>
        <dt>When</dt>
        <dd>
          {window === null ? <Instant at={at} zone={zone} /> : formatWindow(zone, window)} {zoneLabel(zone, at)}
          {artefact.duration_s !== null
            ? ` (watched for ${describeLength(artefact.duration_s)})`
            : ` (duration unknown: set it with Change, Edit to see shares of the time)`}
        </dd>
        <dt>Tool</dt>
        <dd>
          {artefact.tool === "" ? "unknown tool" : artefact.tool}
          {artefact.spec !== "" && (
            <>
              {" "}
              <span className="soft">
                (
                <PageLink fz="inherit" to="/specs/$spec" params={{ spec: artefact.spec }} search={{}}>
                  {`read by ${artefact.spec}`}
                </PageLink>
                )
              </span>
            </>
          )}
        </dd>
        {artefact.effect === "light" && (
          <>
            <dt>Observer effect</dt>
            <dd>light: {describeEffect(artefact)}</dd>
          </>
        )}
        {command !== "" && (
          <>
            <dt>Command</dt>
            <dd>
              <CopyBox text={command} what="the command" />
            </dd>
          </>
        )}
        <dt>From</dt>
        <dd>
          {[artefact.author, SOURCES[artefact.source as keyof typeof SOURCES]].filter(Boolean).join(", ")},{" "}
          {formatInstant(zone, fromApi(artefact.created)).slice(0, 16)}
          {artefact.file_name !== "" && <span className="soft"> · {artefact.file_name}</span>}
          <span className="soft"> · {formatBytes(artefact.n_bytes)}</span>
        </dd>
      </dl>
      {dialog === "edit" && (
        <EditArtefactDialog
          artefact={artefact}
          zone={zone}
          onClose={() => {
            setDialog(null);
          }}
        />
      )}
      {dialog === "reparse" && (
        <ReparseDialog
          artefact={artefact}
          onClose={() => {
            setDialog(null);
          }}
        />
      )}
    </>
  );
}

/** The artefact as it looks now, as a note of a report. */
function noteOf({ id }: Artefact): NoteContent {
  return { kind: "artefact", title: "", comment: "", artefact: id, part: null, limit: REPORTED_ROWS, is_frozen: true };
}

const REPORTED_ROWS = 20;
const MAX_CANDIDATES = 20;

/** Artefacts to compare this one with: the same tool on the same host first. */
function CompareMenu({ artefact, zone, clock }: ArtefactHeadProps) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({
    ...artefactListQuery(
      { hosts: [], tools: artefact.tool === "" ? [] : [artefact.tool], search: "", start: null, end: null },
      0,
      100,
    ),
    enabled: isOpen,
  });
  const others = found.data?.artefacts.filter(({ id }) => id !== artefact.id) ?? [];
  const own = others.filter(({ host }) => host === artefact.host);
  const foreign = others.filter(({ host }) => host !== artefact.host);
  const open = (other: Artefact): void => {
    const [before, after] = inTime(artefact, other);
    void navigate({ to: "/artefacts/diff", search: encodeArtefactPair(before.id, after.id, clock) });
  };
  return (
    <Menu position="bottom-end" opened={isOpen} onChange={setOpen} width={420}>
      <Menu.Target>
        <Button leftSection={<IconArrowsDiff size={15} aria-hidden />}>Compare with…</Button>
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: "auto" }}>
        {found.data !== undefined && others.length === 0 && (
          <Menu.Label>{`No other artefact of ${artefact.tool === "" ? "unknown tool" : artefact.tool} yet`}</Menu.Label>
        )}
        {[
          { label: `Same tool on ${artefact.host}`, items: own },
          { label: "Same tool on other hosts", items: foreign },
        ].map(
          ({ label, items }) =>
            items.length > 0 && (
              <div key={label}>
                <Menu.Label>{label}</Menu.Label>
                {items.slice(0, MAX_CANDIDATES).map((other) => (
                  <Menu.Item
                    key={other.id}
                    onClick={() => {
                      open(other);
                    }}
                  >
                    <Text fz="sm" lineClamp={1}>
                      {nameOf(other)}
                    </Text>
                    <Text fz="xs" className="soft">
                      {[other.host, formatInstant(zone, fromApi(other.start)).slice(0, 19), other.command]
                        .filter(Boolean)
                        .join(" · ")
                        .slice(0, 120)}
                    </Text>
                  </Menu.Item>
                ))}
              </div>
            ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
