import { api } from "../../api/client";
import { ActionIcon, Button, Group, Progress, Table, Text, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconChevronDown, IconChevronRight, IconHandStop, IconPencil, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";

import { importQuery, importsQuery } from "../../api/queries";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Instant } from "../../components/Instant";
import { JobState } from "../../components/JobState";
import { mayWrite, useMe } from "../../components/me";
import { ErrorLine, PendingView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { Import } from "../../logic/api";
import { isBundleName } from "../../logic/bundle";
import { counted } from "../../logic/counted";
import { lackingFiles } from "../../logic/import_retry";
import { canUndo, describeImport, describeShift, needsAttention, sampleWindow } from "../../logic/imports";
import { describeProgress, isActive, percentDone, progressInBytes } from "../../logic/job";
import { formatBytes } from "../../logic/number";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";
import { ChangeImportDialog } from "./ChangeImportDialog";
import { CompleteForm } from "./CompleteForm";
import { HostWindowLink } from "./HostWindowLink";
import { ImportFiles } from "./ImportFiles";
import { nodes } from "../../components/nodes";

interface ImportListProps {
  readonly imports: readonly Import[];
  readonly openId: number | null;
  readonly clock: Clock;
  readonly onOpen: (importId: number | null) => void;
}

/** Imports, newest first. The open one shows its files. */
export function ImportList({ imports, openId, clock, onOpen }: ImportListProps) {
  const client = useQueryClient();
  const [forgetting, setForgetting] = useState<Import | null>(null);
  const onGone = (id: number): void => {
    if (id === openId) {
      onOpen(null);
    }
    client.removeQueries({ queryKey: importQuery(id).queryKey });
    void client.invalidateQueries({ queryKey: importsQuery.queryKey, exact: true });
  };
  return (
    <>
      <Table aria-label="Imports">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>File</Table.Th>
            <Table.Th>Host</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Result</Table.Th>
            <Table.Th>Samples from – to</Table.Th>
            <Table.Th className="number">Size</Table.Th>
            <Table.Th>Loaded</Table.Th>
            <Table.Th>By</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {imports.map((item) => (
            <Fragment key={item.id}>
              <ImportRow
                item={item}
                isOpen={item.id === openId}
                clock={clock}
                onToggle={() => {
                  onOpen(item.id === openId ? null : item.id);
                }}
                onForget={() => {
                  setForgetting(item);
                }}
                onGone={() => {
                  onGone(item.id);
                }}
              />
              {item.id === openId && (
                <Table.Tr className="import-details">
                  <Table.Td colSpan={9} id={filesId(item)}>
                    <OpenImport id={item.id} clock={clock} />
                  </Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
      {forgetting && (
        <ForgetDialog
          item={forgetting}
          onGone={() => {
            onGone(forgetting.id);
          }}
          onClose={() => {
            setForgetting(null);
          }}
        />
      )}
    </>
  );
}

/** The import with all its files. */
function OpenImport({ id, clock }: { readonly id: number; readonly clock: Clock }) {
  const whole = useQuery(importQuery(id));
  return whole.data === undefined ? (
    <PendingView isCompact query={whole} what="its files" />
  ) : (
    <ImportFiles item={whole.data} clock={clock} />
  );
}

function filesId({ id }: Import): string {
  return `import-${String(id)}`;
}

interface ImportRowProps {
  readonly item: Import;
  readonly isOpen: boolean;
  readonly clock: Clock;
  readonly onToggle: () => void;
  readonly onForget: () => void;
  readonly onGone: () => void;
}

function ImportRow({ item, isOpen, clock, onToggle, onForget, onGone }: ImportRowProps) {
  const me = useMe();
  const zone = useZone(clock);
  const window = sampleWindow(item.files);
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={4} wrap="nowrap">
          <ActionIcon
            size="sm"
            aria-label={`Files of ${item.name}`}
            aria-expanded={isOpen}
            {...(isOpen ? { "aria-controls": filesId(item) } : {})}
            onClick={onToggle}
          >
            {isOpen ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
          </ActionIcon>
          {item.label === "" ? (
            <span className="mono import-name">{item.name}</span>
          ) : (
            <span className="import-name" title={item.name}>
              {item.label}
            </span>
          )}
          {isBundleName(item.name) && <span className="soft">Bundle</span>}
        </Group>
      </Table.Td>
      <Table.Td>{item.host}</Table.Td>
      <Table.Td>
        <JobState state={item.state} attention={attentionOf(item)} />
      </Table.Td>
      <Table.Td maw={520}>
        {item.state === "running" && <ImportProgress item={item} />}
        <Text fz="sm" {...(item.state === "failed" ? { c: "var(--bad)" } : {})}>
          {describeImport(item)}
        </Text>
        {mayWrite(me) && <Lacking item={item} zone={zone} onOpen={isOpen ? null : onToggle} />}
      </Table.Td>
      <Table.Td miw={165}>
        {window === null ? <span className="soft">none</span> : <HostWindowLink host={item.host} window={window} clock={clock} />}
        {item.shift_s !== 0 && (
          <Text fz="xs" className="soft">
            {describeShift(item.shift_s)}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="number">{formatBytes(item.n_bytes)}</Table.Td>
      <Table.Td>
        <Instant at={fromApi(item.created_at)} zone={zone} />
      </Table.Td>
      <Table.Td>{item.created_by}</Table.Td>
      <Table.Td>
        {mayWrite(me) &&
          (isActive(item) ? (
            // To forget it in the middle of a move would leave it in two places.
            !item.is_change && <StopButton item={item} onGone={onGone} />
          ) : (
            <Group gap={2} wrap="nowrap">
              {!item.is_undo && <ChangeButton item={item} zone={zone} />}
              {canUndo(item) && <UndoButton item={item} />}
              <ForgetButton item={item} onForget={onForget} />
            </Group>
          ))}
      </Table.Td>
    </Table.Tr>
  );
}

/** What the one file of an import lacks, to be given here; several files are completed in the list of files. */
function Lacking({ item, zone, onOpen }: { readonly item: Import; readonly zone: Zone; readonly onOpen: (() => void) | null }) {
  const lacking = isActive(item) ? [] : lackingFiles([item]);
  if (lacking.length === 1) {
    return <CompleteForm files={lacking} zone={zone} />;
  }
  return lacking.length === 0 || onOpen === null ? null : (
    <Button size="compact-xs" variant="default" onClick={onOpen}>
      {`Complete ${counted(lacking.length, "file")}`}
    </Button>
  );
}

/** Say what a finished import lacks. Empty: it lacks nothing. */
function attentionOf(item: Import): string {
  if (!needsAttention(item)) {
    return "";
  }
  return item.files.some(({ n_samples }) => n_samples > 0) ? "incomplete" : "nothing loaded";
}

/** Opens the dialog that changes title, host and date. */
function ChangeButton({ item, zone }: { readonly item: Import; readonly zone: Zone }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Tooltip label="Change title, host or date">
        <ActionIcon
          aria-label={`Change ${item.name}`}
          onClick={() => {
            setOpen(true);
          }}
        >
          <IconPencil size={15} />
        </ActionIcon>
      </Tooltip>
      {isOpen && (
        <ChangeImportDialog
          item={item}
          zone={zone}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </>
  );
}

/** Removes the samples of an import, after asking. */
function UndoButton({ item }: { readonly item: Import }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const undoing = useMutation({
    mutationFn: () => api.POST("/imports/{id}/undo", { params: { path: { id: item.id } } }),
    onSuccess: () => {
      setAsking(false);
      void client.invalidateQueries({ queryKey: importQuery(item.id).queryKey });
      void client.invalidateQueries({ queryKey: importsQuery.queryKey });
    },
  });
  return (
    <>
      <Tooltip label="Undo: remove the samples that it loaded">
        <ActionIcon
          aria-label={`Undo ${item.name}`}
          onClick={() => {
            setAsking(true);
          }}
        >
          <IconArrowBackUp size={15} />
        </ActionIcon>
      </Tooltip>
      {isAsking && (
        <ConfirmDialog
          title="Undo this import?"
          action="Undo"
          isPending={undoing.isPending}
          error={undoing.error}
          onConfirm={() => {
            undoing.mutate();
          }}
          onClose={() => {
            setAsking(false);
          }}
        >
          {nodes`The samples and the raw output that ${<b>{item.name}</b>} loaded for ${item.host} are removed. Files that an earlier import had loaded stay.`}
        </ConfirmDialog>
      )}
    </>
  );
}

function ImportProgress({ item }: { readonly item: Import }) {
  const progress = progressInBytes(item);
  const percent = percentDone(progress) ?? 0;
  return (
    <Group gap="sm" wrap="nowrap">
      <Progress value={percent} aria-label={`Reading ${item.name}`} style={{ flex: 1, maxWidth: 220 }} />
      <Text fz="sm" style={{ whiteSpace: "nowrap" }}>
        {percent} %, {describeProgress(progress)}
      </Text>
    </Group>
  );
}

function StopButton({ item, onGone }: { readonly item: Import; readonly onGone: () => void }) {
  const stopping = useMutation({
    mutationFn: () => api.DELETE("/imports/{id}", { params: { path: { id: item.id } } }),
    onSuccess: onGone,
  });
  return (
    <>
      <Tooltip label="Stop and remove from this list; loaded data is kept">
        <ActionIcon
          aria-label={`Stop ${item.name}`}
          loading={stopping.isPending}
          onClick={() => {
            stopping.mutate();
          }}
        >
          <IconHandStop size={15} />
        </ActionIcon>
      </Tooltip>
      <ErrorLine error={stopping.error} />
    </>
  );
}

function ForgetButton({ item, onForget }: { readonly item: Import; readonly onForget: () => void }) {
  return (
    <Tooltip label="Remove from this list; the samples are kept">
      <ActionIcon aria-label={`Remove ${item.name}`} onClick={onForget}>
        <IconTrash size={15} />
      </ActionIcon>
    </Tooltip>
  );
}

interface ForgetDialogProps {
  readonly item: Import;
  readonly onGone: () => void;
  readonly onClose: () => void;
}

function ForgetDialog({ item, onGone, onClose }: ForgetDialogProps) {
  const forgetting = useMutation({
    mutationFn: () => api.DELETE("/imports/{id}", { params: { path: { id: item.id } } }),
    onSuccess: () => {
      onGone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Remove this import from the list?"
      action="Remove"
      isPending={forgetting.isPending}
      error={forgetting.error}
      onConfirm={() => {
        forgetting.mutate();
      }}
      onClose={onClose}
    >
      {nodes`${<b>{item.name}</b>} is removed from this list. ${item.host} keeps its samples and raw output.`}
    </ConfirmDialog>
  );
}
