import { api } from "../../api/client";
import { Textarea } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ConfirmDialog } from "../../components/ConfirmDialog";
import { FormDialog } from "../../components/FormDialog";
import { NameField, ReasonField } from "../../components/NameAndNote";
import { useServerForm } from "../../components/useServerForm";
import type { BaselineInfo } from "../../logic/api";
import { formatWindows, isSameNames, parseWindows } from "../../logic/baseline";
import { defaultRule, draftOfRule, toRule } from "../../logic/rule";
import { toNamedZone } from "../../logic/host_zone";
import { toIso } from "../../logic/time";
import { type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { RULE_RULES, RuleFields, type Subject, SUBJECT_RULES, SubjectFields } from "./BaselineFields";
import { nodes } from "../../components/nodes";

interface DialogProps {
  readonly baseline: BaselineInfo;
  readonly onClose: () => void;
}

/** Edits a baseline. A new name or note keeps the version; new windows, hosts or a new rule create a version. */
export function EditBaselineDialog({ baseline, zone, onClose }: DialogProps & { readonly zone: Zone }) {
  const { name, note, hosts, group } = baseline;
  const [before] = useState(() => formatWindows(baseline.windows, zone));
  // Null where the form cannot show it.
  const [oldRule] = useState(() => (baseline.rule === null ? null : draftOfRule(baseline.rule, baseline.time_zone)));
  const isSameSubject = (subject: Subject) => subject.group === group && isSameNames(subject.hosts, hosts);
  const { form, submission } = useServerForm({
    initialValues: {
      ...{ name, note, hosts, group },
      windows: before,
      rule: oldRule ?? defaultRule(toNamedZone(zone)),
      reason: "",
    },
    validate: {
      ...SUBJECT_RULES,
      windows: (text) => {
        const windows = text === before ? [] : parseWindows(text, zone, readNow());
        return typeof windows === "string" ? windows : null;
      },
      rule: RULE_RULES,
    },
    checksEarly: ["windows", "rule.from", "rule.to"],
    send: (values, { isDirty }) => {
      const windows = values.windows === before ? "" : parseWindows(values.windows, zone, readNow());
      const body = {
        name: values.name,
        note: values.note,
        ...(isSameSubject(values) ? {} : values.group === null ? { hosts: values.hosts } : { group: values.group }),
        ...(typeof windows === "string"
          ? {}
          : { windows: windows.map(({ start, end }) => ({ start: toIso(start), end: toIso(end) })) }),
        ...(isDirty("rule") ? { rule: toRule(values.rule), time_zone: values.rule.zone } : {}),
        ...(values.reason.trim() === "" ? {} : { reason: values.reason }),
      };
      return api.PATCH("/baselines/{id}", { body, params: { path: { id: baseline.id } } });
    },
    renews: [["baselines"]],
    onSaved: onClose,
  });
  const isNewVersion = form.values.windows !== before || form.isDirty("rule") || !isSameSubject(form.values);
  return (
    <FormDialog {...submission} title="Edit baseline" size="lg" onClose={onClose}>
      <SubjectFields form={form} />
      {baseline.rule !== null && oldRule === null && (
        <p className="soft">This form cannot show its rule. Change it by the API.</p>
      )}
      {oldRule !== null && <RuleFields form={form} />}
      {baseline.rule === null && (
        <Textarea
          label={`Windows (${zoneLabel(zone, readNow())}), one per line`}
          autosize
          minRows={2}
          maxRows={10}
          classNames={{ input: "mono" }}
          {...form.getInputProps("windows")}
        />
      )}
      {isNewVersion && <ReasonField label="Reason (shown with the new version)" {...form.getInputProps("reason")} />}
    </FormDialog>
  );
}

/** Copies a baseline under another name. */
export function CopyBaselineDialog({ baseline, onClose }: DialogProps) {
  const { form, submission } = useServerForm({
    initialValues: { name: `Copy of ${baseline.name}` },
    validate: { name: isNotEmpty("Enter a name") },
    send: (body) => api.POST("/baselines/{id}/copy", { body, params: { path: { id: baseline.id } } }),
    renews: [["baselines"]],
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title={`Copy ${baseline.name}`} action="Copy" onClose={onClose}>
      <NameField label="Name of the copy" {...form.getInputProps("name")} />
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
