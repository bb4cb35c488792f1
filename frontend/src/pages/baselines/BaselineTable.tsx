import { api } from "../../api/client";
import { ActionIcon, Button, Group, Progress, Table, Text, Tooltip } from "@mantine/core";
import { IconArchive, IconArchiveOff, IconCopy, IconPencil, IconPlayerRecordFilled, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ErrorLine } from "../../components/StateView";
import type { BaselineInfo } from "../../logic/api";
import {
  describeBaselineRule,
  describeExcluded,
  describeProfile,
  profilePercent,
  recordingLeft,
  totalLength,
} from "../../logic/baseline";
import { toWindow } from "../../logic/comparison";

import { useDeletion } from "../../components/useDeletion";
import { useZone } from "../../components/zone";
import { surroundings } from "../../logic/range";
import { describeDuration, fromApi, SECOND, toDurationMs } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { readNow, useNow } from "../../state/clock";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { ArchiveBaselineDialog, CopyBaselineDialog, EditBaselineDialog } from "./BaselineDialogs";
import { HealthBadge, HealthDialog } from "./Health";
import { counted } from "../../logic/counted";

interface BaselineTableProps {
  readonly baselines: readonly BaselineInfo[];
  readonly clock: Clock;
}

type Dialog = { readonly kind: "edit" | "copy" | "archive" | "health"; readonly baseline: BaselineInfo };

/** The baselines with their windows, health and actions. */
export function BaselineTable({ baselines, clock }: BaselineTableProps) {
  const me = useMe();
  const zone = useZone(clock);
  const { remaining } = useDeletion("baseline", []);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const common = {
    onClose: () => {
      setDialog(null);
    },
  };
  return (
    <>
      <Table aria-label="Baselines">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Hosts (open at that time)</Table.Th>
            <Table.Th>{`Windows (${zoneLabel(zone, readNow())})`}</Table.Th>
            <Table.Th className="number">Length</Table.Th>
            <Table.Th>Health</Table.Th>
            <Table.Th className="number">Version</Table.Th>
            <Table.Th>Note</Table.Th>
            <Table.Th>Created by</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {remaining(baselines, ({ id }) => id).map((baseline) => (
            <Table.Tr key={baseline.id}>
              <Table.Td fw={600}>{baseline.name}</Table.Td>
              <Table.Td>
                <Hosts baseline={baseline} clock={clock} />
              </Table.Td>
              <Table.Td>
                <Windows baseline={baseline} zone={zone} />
              </Table.Td>
              <Table.Td className="number">{describeDuration(totalLength(baseline))}</Table.Td>
              <Table.Td>
                <HealthBadge
                  baseline={baseline}
                  onOpen={() => {
                    setDialog({ kind: "health", baseline });
                  }}
                />
                <Profile baseline={baseline} />
              </Table.Td>
              <Table.Td className="number">{baseline.version}</Table.Td>
              <Table.Td maw={320} style={{ whiteSpace: "pre-wrap" }}>
                {baseline.note}
              </Table.Td>
              <Table.Td>
                {baseline.created_by}
                <br />
                <Instant at={fromApi(baseline.created_at)} zone={zone} />
              </Table.Td>
              <Table.Td>{mayWrite(me) && <Actions baseline={baseline} onOpen={setDialog} />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {dialog?.kind === "edit" && <EditBaselineDialog {...common} baseline={dialog.baseline} zone={zone} />}
      {dialog?.kind === "copy" && <CopyBaselineDialog {...common} baseline={dialog.baseline} />}
      {dialog?.kind === "archive" && <ArchiveBaselineDialog {...common} baseline={dialog.baseline} />}
      {dialog?.kind === "health" && <HealthDialog {...common} baseline={dialog.baseline} zone={zone} />}
    </>
  );
}

interface ActionsProps {
  readonly baseline: BaselineInfo;
  readonly onOpen: (dialog: Dialog) => void;
}

function Actions({ baseline, onOpen }: ActionsProps) {
  const isArchived = baseline.archived_at !== null;
  const deletion = useDeletion("baseline", [["baselines"]]);
  const button = (kind: Dialog["kind"] | (() => void), verb: string, help: string, icon: ReactNode) => (
    <Tooltip label={help}>
      <ActionIcon
        aria-label={`${verb} ${baseline.name}`}
        onClick={() => {
          if (typeof kind === "string") {
            onOpen({ kind, baseline });
          } else {
            kind();
          }
        }}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  const remove = (): void => {
    const text = `Deleted the baseline “${baseline.name}”; links to comparisons with it stop working`;
    deletion.remove(baseline.id, text, () => api.DELETE("/baselines/{id}", { params: { path: { id: baseline.id } } }));
  };
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {!isArchived && button("edit", "Edit", "Edit name, note, hosts, windows or rule", <IconPencil size={15} />)}
      {button("copy", "Copy", "Copy under a new name", <IconCopy size={15} />)}
      {isArchived
        ? button("archive", "Restore", "Show it in the lists again", <IconArchiveOff size={15} />)
        : button("archive", "Archive", "Hide it from the lists; nothing is deleted", <IconArchive size={15} />)}
      {button(
        remove,
        "Delete",
        "Delete the baseline; samples are kept. To keep links to comparisons, archive it",
        <IconTrash size={15} />,
      )}
    </Group>
  );
}

// Keeps a group of hundreds of hosts from filling the table.
const MAX_HOSTS = 6;

function Hosts({ baseline, clock }: { readonly baseline: BaselineInfo; readonly clock: Clock }) {
  const [first] = baseline.windows;
  const range = first && ({ kind: "fixed", window: surroundings(toWindow(first), 0.1) } as const);
  return (
    <Group gap={8}>
      {baseline.group !== null && <span className="soft">{`group ${baseline.group}:`}</span>}
      {baseline.hosts.slice(0, MAX_HOSTS).map((host) => (
        <PageLink
          key={host}
          to="/hosts/$host"
          params={{ host }}
          search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, ...(range === undefined ? {} : { range }) })}
        >
          {host}
        </PageLink>
      ))}
      {baseline.hosts.length > MAX_HOSTS && (
        <span className="soft">{`and ${counted(baseline.hosts.length - MAX_HOSTS, "more host")}`}</span>
      )}
    </Group>
  );
}

const MAX_WINDOWS = 20;

function Windows({ baseline, zone }: { readonly baseline: BaselineInfo; readonly zone: Zone }) {
  const windows = baseline.windows.map(toWindow);
  const [first, ...more] = windows;
  const excluded = describeExcluded(baseline);
  return (
    <>
      {baseline.rule !== null && <Text fz="sm">{describeBaselineRule(baseline.rule, baseline.time_zone)}</Text>}
      <Recording baseline={baseline} />
      {first === undefined ? (
        <Text fz="sm" className="soft">
          no windows yet
        </Text>
      ) : (
        <Tooltip
          label={windows
            .slice(0, MAX_WINDOWS)
            .map((window) => formatWindow(zone, window))
            .join("; ")}
        >
          <Text fz="sm" component="span" {...(baseline.rule === null ? {} : { className: "soft" })}>
            {formatWindow(zone, first)}
            {more.length > 0 && ` and ${counted(more.length, "more window")}`}
          </Text>
        </Tooltip>
      )}
      {excluded !== "" && (
        <Tooltip label={baseline.excluded.map(({ name }) => name).join("; ")}>
          <Text fz="sm" className="soft">
            {excluded}
          </Text>
        </Tooltip>
      )}
    </>
  );
}

/** The remaining time of a recording, with a stop button. */
function Recording({ baseline }: { readonly baseline: BaselineInfo }) {
  const me = useMe();
  const client = useQueryClient();
  const now = useNow(toDurationMs(10 * SECOND));
  const stopping = useMutation({
    mutationFn: () => api.DELETE("/baselines/{id}/recording", { params: { path: { id: baseline.id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["baselines"] }),
  });
  const left = recordingLeft(baseline, now);
  if (left === null) {
    return null;
  }
  return (
    <>
      <Group gap={8}>
        <Text fz="sm" className="recording">
          <IconPlayerRecordFilled size={12} aria-hidden /> {`recording, ${describeDuration(left)} left`}
        </Text>
        {mayWrite(me) && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Stop recording ${baseline.name}`}
            loading={stopping.isPending}
            onClick={() => {
              stopping.mutate();
            }}
          >
            Stop
          </Button>
        )}
      </Group>
      <ErrorLine error={stopping.error} />
    </>
  );
}

function Profile({ baseline }: { readonly baseline: BaselineInfo }) {
  const text = describeProfile(baseline.profile);
  return text === "" ? null : (
    <>
      <Text fz="xs" mt={3} {...(baseline.profile?.state === "failed" ? { c: "var(--bad)" } : { className: "soft" })}>
        {text}
      </Text>
      {baseline.profile?.state === "running" && (
        <Progress size="xs" mt={2} value={profilePercent(baseline.profile)} aria-label={`Profile of ${baseline.name}`} />
      )}
    </>
  );
}
