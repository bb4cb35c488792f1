import { Button, Group, Modal, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { archiveBaseline, copyBaseline } from "../../api/baselines";
import { deleteBaseline, updateBaseline } from "../../api/baselines";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorLine } from "../../components/StateView";
import type { BaselineInfo } from "../../logic/api";
import { formatWindows, isSameNames, parseWindows } from "../../logic/baseline";
import { draftOfRule, toRule } from "../../logic/rule";
import { toIso } from "../../logic/time";
import { type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { RuleFields, type Subject, SubjectFields } from "./BaselineFields";

interface DialogProps {
  readonly baseline: BaselineInfo;
  readonly onClose: () => void;
}

/** Edits a baseline. A new name or note keeps the version; new windows, hosts or a new rule create a version. */
export function EditBaselineDialog({ baseline, zone, onClose }: DialogProps & { readonly zone: Zone }) {
  const client = useQueryClient();
  const { name, note, hosts, group } = baseline;
  const [subject, setSubject] = useState<Subject>({ name, note, hosts, group });
  const [before] = useState(() => formatWindows(baseline.windows, zone));
  const [text, setText] = useState(before);
  const [draft, setDraft] = useState(() => (baseline.rule === null ? null : draftOfRule(baseline.rule, baseline.time_zone)));
  const [isRuleChanged, setRuleChanged] = useState(false);
  const [reason, setReason] = useState("");
  const windows = parseWindows(text, zone, readNow());
  const rule = draft === null ? null : toRule(draft);
  const isSameHosts = subject.group === group && isSameNames(subject.hosts, hosts);
  const isReady =
    subject.name.trim() !== "" &&
    (subject.group !== null || subject.hosts.length > 0) &&
    (text === before || typeof windows !== "string") &&
    (!isRuleChanged || rule !== null);
  const saving = useMutation({
    mutationFn: () =>
      updateBaseline(baseline.id, {
        name: subject.name,
        note: subject.note,
        ...(isSameHosts ? {} : subject.group === null ? { hosts: [...subject.hosts] } : { group: subject.group }),
        ...(text === before || typeof windows === "string"
          ? {}
          : { windows: windows.map(({ start, end }) => ({ start: toIso(start), end: toIso(end) })) }),
        ...(isRuleChanged && draft !== null && rule !== null ? { rule, time_zone: draft.zone } : {}),
        ...(reason.trim() === "" ? {} : { reason }),
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title="Edit baseline" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <Stack gap="sm">
          <SubjectFields
            subject={subject}
            onChange={(change) => {
              setSubject({ ...subject, ...change });
            }}
          />
          {baseline.rule !== null && draft === null && (
            <p className="soft">This form cannot show its rule. Change it by the API.</p>
          )}
          {draft !== null && (
            <RuleFields
              draft={draft}
              onChange={(change) => {
                setRuleChanged(true);
                setDraft({ ...draft, ...change });
              }}
            />
          )}
          {baseline.rule === null && (
            <Textarea
              label={`Windows (${zoneLabel(zone, readNow())}), one per line`}
              autosize
              minRows={2}
              maxRows={10}
              classNames={{ input: "mono" }}
              value={text}
              error={text !== before && typeof windows === "string" ? windows : undefined}
              onChange={(event) => {
                setText(event.currentTarget.value);
              }}
            />
          )}
          {(text !== before || isRuleChanged || !isSameHosts) && (
            <TextInput
              label="Reason (shown with the new version)"
              maxLength={1000}
              value={reason}
              onChange={(event) => {
                setReason(event.currentTarget.value);
              }}
            />
          )}
          <ErrorLine error={saving.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={saving.isPending} disabled={!isReady}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Copies a baseline under another name. */
export function CopyBaselineDialog({ baseline, onClose }: DialogProps) {
  const client = useQueryClient();
  const [name, setName] = useState(`Copy of ${baseline.name}`);
  const copying = useMutation({
    mutationFn: () => copyBaseline(baseline.id, name),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={`Copy ${baseline.name}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          copying.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name of the copy"
            required
            maxLength={200}
            data-autofocus
            value={name}
            onChange={(event) => {
              setName(event.currentTarget.value);
            }}
          />
          <ErrorLine error={copying.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={copying.isPending} disabled={name.trim() === ""}>
              Copy
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Archives a baseline, or restores it; nothing is deleted. */
export function ArchiveBaselineDialog({ baseline, onClose }: DialogProps) {
  const client = useQueryClient();
  const isArchived = baseline.archived_at !== null;
  const archiving = useMutation({
    mutationFn: () => archiveBaseline(baseline.id, !isArchived),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={isArchived ? "Restore" : "Archive"}
      action={isArchived ? "Restore" : "Archive"}
      isPending={archiving.isPending}
      error={archiving.error}
      onClose={onClose}
      onConfirm={() => {
        archiving.mutate();
      }}
    >
      {isArchived ? (
        <>
          Show <b>{baseline.name}</b> in the lists again?
        </>
      ) : (
        <>
          Hide <b>{baseline.name}</b> from the lists? Its rule stops. Links to comparisons with it keep working, and you can
          restore it later.
        </>
      )}
    </ConfirmDialog>
  );
}

/** Deletes a baseline, but not the samples in its windows. */
export function DeleteBaselineDialog({ baseline, onClose }: DialogProps) {
  const client = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => deleteBaseline(baseline.id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Delete baseline"
      action="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onClose={onClose}
      onConfirm={() => {
        deleting.mutate();
      }}
    >
      Delete <b>{baseline.name}</b>? Links to comparisons with it will stop working; to keep them, archive it instead. The samples
      of {baseline.hosts.join(", ")} are kept.
    </ConfirmDialog>
  );
}
