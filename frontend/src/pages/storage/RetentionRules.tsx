import { api } from "../../api/client";
import { ActionIcon, Button, Group, Select, Stack, Text, TextInput, Title, Tooltip } from "@mantine/core";
import { FORM_INDEX, type UseFormReturnType } from "@mantine/form";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { retentionQuery, statsQuery, storageQuery } from "../../api/queries";
import { ErrorLine, PendingView } from "../../components/StateView";
import { useServerForm } from "../../components/useServerForm";
import type { Retention, RetentionRule } from "../../logic/api";
import {
  consequencesOf,
  daysProblem,
  describeKept,
  draftsOf,
  isResult,
  isSameRules,
  RESULT_NAMES,
  type RuleDraft,
  rulesOf,
} from "../../logic/storage";
import { fromApi } from "../../logic/time";
import { formatDate, type Zone } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { ConfirmRulesDialog } from "./ConfirmRulesDialog";
import { RetentionRuns } from "./RetentionRuns";
import { nodes } from "../../components/nodes";

interface RetentionRulesProps {
  readonly zone: Zone;
  readonly mayChange: boolean;
}

/** How long samples and raw bytes are kept; forever without a rule. */
export function RetentionRules({ zone, mayChange }: RetentionRulesProps) {
  const retention = useQuery(retentionQuery);
  const { data } = retention;
  return (
    <section className="storage-section" aria-labelledby="storage-retention">
      <Title order={2} id="storage-retention">
        Retention
      </Title>
      <Text fz="sm" className="soft" mb="sm">
        Data is kept forever unless an administrator sets a rule. Graphs, comparisons and exports use samples. Raw bytes are the
        output of the tools; samples can be parsed from them again. Results of watching (@scores, @states, @episodes, @backtests)
        have rules of their own.
      </Text>
      {data === undefined ? (
        <div className="card">
          <PendingView isCompact query={retention} what="rules" />
        </div>
      ) : (
        <Stack gap="sm">
          {mayChange ? (
            <RulesForm key={JSON.stringify(data.rules)} retention={data} />
          ) : (
            <RuleWords rules={data.rules} zone={zone} />
          )}
          <RetentionRuns runs={data.runs} zone={zone} mayRun={mayChange && data.rules.length > 0} />
        </Stack>
      )}
    </section>
  );
}

/** The rules as text, for users who may not change them. */
function RuleWords({ rules, zone }: { readonly rules: readonly RetentionRule[]; readonly zone: Zone }) {
  if (rules.length === 0) {
    return <Text fz="sm">Everything is kept forever.</Text>;
  }
  return (
    <ul className="consequences">
      {rules.map((rule) => (
        <li key={rule.stat ?? ""}>
          {nodes`${rule.stat === null ? "all other stats" : <b className="mono">{rule.stat}</b>}: samples ${describeKept(rule.samples_days)}, raw bytes ${describeKept(rule.chunks_days)} ${(
            <span className="soft">
              ({rule.updated_by}, {formatDate(zone, fromApi(rule.updated_at))})
            </span>
          )}`}
        </li>
      ))}
    </ul>
  );
}

function RulesForm({ retention }: { readonly retention: Retention }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const stats = useQuery(statsQuery).data?.stats ?? [];
  const stored = useQuery(storageQuery).data?.stats ?? [];
  const { form, submission, forget } = useServerForm({
    initialValues: { drafts: draftsOf(retention.rules) },
    validate: { drafts: { samples: daysProblem, chunks: daysProblem } },
    checksEarly: [`drafts.${FORM_INDEX}.samples`, `drafts.${FORM_INDEX}.chunks`],
    send: (values) => api.PUT("/retention", { body: { rules: rulesOf(values.drafts) ?? [] } }),
    onSaved: (saved) => {
      client.setQueryData(retentionQuery.queryKey, saved);
      setAsking(false);
    },
  });
  const { drafts } = form.values;
  const rules = rulesOf(drafts);
  const consequences = rules === null ? [] : consequencesOf(retention.rules, rules, readNow());
  const isChanged = rules !== null && !isSameRules(retention.rules, rules);
  const taken = drafts.map(({ stat }) => stat);
  // The largest stats come first, because rules are usually for them.
  const names = [...new Set([...stored.map(({ stat }) => stat), ...stats.map(({ name }) => name), ...RESULT_NAMES])];
  const free = names.filter((name) => !taken.includes(name));

  return (
    <form
      className="card"
      style={{ padding: 14 }}
      aria-label="Rules"
      onSubmit={form.onSubmit(() => {
        if (consequences.length > 0) {
          setAsking(true);
        } else {
          submission.onSubmit();
        }
      })}
    >
      <Stack gap="sm">
        {drafts.map((draft, at) => (
          <DraftRow
            key={draft.id}
            form={form}
            at={at}
            names={names.filter((name) => name === draft.stat || !taken.includes(name))}
          />
        ))}
        {!isAsking && <ErrorLine error={submission.error} />}
        <Group justify="space-between">
          <Button
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={free.length === 0}
            onClick={() => {
              const last = drafts.at(-1)?.id ?? 0;
              form.insertListItem("drafts", { id: last + 1, stat: free[0] ?? null, samples: "", chunks: "" });
            }}
          >
            Add rule for a stat
          </Button>
          <Group gap="xs">
            <Button variant="default" disabled={!isChanged && rules !== null} onClick={form.reset}>
              Reset
            </Button>
            <Button type="submit" disabled={!isChanged} loading={submission.isPending && !isAsking}>
              {consequences.length > 0 ? "Save…" : "Save"}
            </Button>
          </Group>
        </Group>
      </Stack>
      {isAsking && (
        <ConfirmRulesDialog
          consequences={consequences}
          isPending={submission.isPending}
          error={submission.error}
          onClose={() => {
            setAsking(false);
            forget();
          }}
          onConfirm={() => {
            submission.onSubmit();
          }}
        />
      )}
    </form>
  );
}

interface DraftRowProps {
  readonly form: UseFormReturnType<{ drafts: RuleDraft[] }>;
  readonly at: number;
  readonly names: readonly string[];
}

function DraftRow({ form, at, names }: DraftRowProps) {
  const { drafts } = form.values;
  const stat = drafts[at]?.stat ?? null;
  const path = `drafts.${String(at)}`;
  const of = stat ?? (drafts.length === 1 ? "all stats" : "all other stats");
  const days = { size: "xs", placeholder: "forever", inputMode: "numeric" } as const;
  return (
    <div className="rule-grid" role="group" aria-label={`Rule for ${of}`}>
      {stat === null ? (
        <TextInput size="xs" label="Stat" readOnly variant="unstyled" value={of} />
      ) : (
        <Select
          size="xs"
          label="Stat"
          searchable
          allowDeselect={false}
          limit={200}
          data={names}
          value={stat}
          onChange={(name) => {
            form.setFieldValue(`${path}.stat`, name);
            if (isResult(name)) {
              form.setFieldValue(`${path}.chunks`, "");
            }
          }}
        />
      )}
      <TextInput {...days} label="Keep samples (days)" {...form.getInputProps(`${path}.samples`)} />
      {isResult(stat) ? (
        <span />
      ) : (
        <TextInput {...days} label="Keep raw bytes (days)" {...form.getInputProps(`${path}.chunks`)} />
      )}
      {stat === null ? (
        <span />
      ) : (
        <Tooltip label="Delete this rule; the rule for all other stats then applies">
          <ActionIcon
            mt={22}
            aria-label={`Delete the rule for ${stat}`}
            onClick={() => {
              form.removeListItem("drafts", at);
            }}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </div>
  );
}
