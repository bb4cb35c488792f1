import { api } from "../../api/client";
import { Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ConfirmDialog } from "../../components/ConfirmDialog";
import { FormDialog } from "../../components/FormDialog";
import type { BaselineInfo } from "../../logic/api";
import { formatWindows, isSameNames, parseWindows } from "../../logic/baseline";
import { draftOfRule, toRule } from "../../logic/rule";
import { toIso } from "../../logic/time";
import { type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { RuleFields, type Subject, SubjectFields } from "./BaselineFields";
import { nodes } from "../../components/nodes";

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
      api.PATCH("/baselines/{id}", {
        body: {
          name: subject.name,
          note: subject.note,
          ...(isSameHosts ? {} : subject.group === null ? { hosts: [...subject.hosts] } : { group: subject.group }),
          ...(text === before || typeof windows === "string"
            ? {}
            : { windows: windows.map(({ start, end }) => ({ start: toIso(start), end: toIso(end) })) }),
          ...(isRuleChanged && draft !== null && rule !== null ? { rule, time_zone: draft.zone } : {}),
          ...(reason.trim() === "" ? {} : { reason }),
        },
        params: { path: { id: baseline.id } },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Edit baseline"
      size="lg"
      isReady={isReady}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <SubjectFields
        subject={subject}
        onChange={(change) => {
          setSubject({ ...subject, ...change });
        }}
      />
      {baseline.rule !== null && draft === null && <p className="soft">This form cannot show its rule. Change it by the API.</p>}
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
    </FormDialog>
  );
}

/** Copies a baseline under another name. */
export function CopyBaselineDialog({ baseline, onClose }: DialogProps) {
  const client = useQueryClient();
  const [name, setName] = useState(`Copy of ${baseline.name}`);
  const copying = useMutation({
    mutationFn: () => api.POST("/baselines/{id}/copy", { body: { name }, params: { path: { id: baseline.id } } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <FormDialog
      title={`Copy ${baseline.name}`}
      action="Copy"
      isReady={name.trim() !== ""}
      isPending={copying.isPending}
      error={copying.error}
      onSubmit={() => {
        copying.mutate();
      }}
      onClose={onClose}
    >
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
    </FormDialog>
  );
}

/** Archives a baseline, or restores it; nothing is deleted. */
export function ArchiveBaselineDialog({ baseline, onClose }: DialogProps) {
  const client = useQueryClient();
  const isArchived = baseline.archived_at !== null;
  const archiving = useMutation({
    mutationFn: () =>
      api.POST("/baselines/{id}/archive", { body: { is_archived: !isArchived }, params: { path: { id: baseline.id } } }),
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
        <>{nodes`Show ${<b>{baseline.name}</b>} in the lists again?`}</>
      ) : (
        <>{nodes`Hide ${<b>{baseline.name}</b>} from the lists? Its rule stops. Links to comparisons with it keep working, and you can restore it later.`}</>
      )}
    </ConfirmDialog>
  );
}
