import { Chip, Group, MultiSelect, NumberInput, Select, Stack, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { hostGroupsQuery } from "../../api/baselines";
import { hostsQuery } from "../../api/queries";
import { useZoneGroups } from "../../components/zone";
import { describeDraft, type RuleDraft, ruleProblems, WEEKDAY_LABELS, WEEKDAYS } from "../../logic/rule";
import { NameField, NoteField } from "../../components/NameAndNote";

export interface Subject {
  readonly name: string;
  readonly note: string;
  readonly hosts: string[];
  /** Replaces the hosts. */
  readonly group: string | null;
}

export const SUBJECT_RULES = {
  name: (name: string): string | null => (name.trim() === "" ? "Enter a name" : null),
  hosts: (hosts: readonly string[], { group }: Subject): string | null =>
    group === null && hosts.length === 0 ? "Choose at least one host" : null,
};

/** The fields for name, note and hosts or host group. */
export function SubjectFields({ form }: { readonly form: UseFormReturnType<Subject> }) {
  const { hosts: chosen, group } = form.values;
  const hosts = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  const groups = useQuery(hostGroupsQuery).data?.groups.map(({ name }) => name) ?? [];
  return (
    <>
      <NameField {...form.getInputProps("name")} />
      <Group grow align="flex-start" gap="xs">
        <MultiSelect
          label="Hosts"
          searchable
          data={[...new Set([...hosts, ...chosen])]}
          disabled={group !== null}
          placeholder={group === null && chosen.length === 0 ? "Choose hosts" : ""}
          {...form.getInputProps("hosts")}
        />
        {(groups.length > 0 || group !== null) && (
          <Select label="Or a host group" clearable placeholder="none" data={groups} {...form.getInputProps("group")} />
        )}
      </Group>
      <NoteField maxRows={10} {...form.getInputProps("note")} />
    </>
  );
}

interface RuleValues {
  readonly rule: RuleDraft;
}

const ruleCheck =
  (field: keyof RuleDraft) =>
  (_: unknown, { rule }: RuleValues): string | null =>
    ruleProblems(rule)[field] ?? null;

export const RULE_RULES = {
  days: ruleCheck("days"),
  from: ruleCheck("from"),
  to: ruleCheck("to"),
  keepDays: ruleCheck("keepDays"),
};

interface RuleFieldsProps {
  readonly form: UseFormReturnType<RuleValues>;
}

/** The fields of a recurring rule (days, hours, time zone, days to keep), with the rule in words. */
export function RuleFields({ form }: RuleFieldsProps) {
  const { rule } = form.values;
  const zones = useZoneGroups(rule.zone);
  return (
    <Stack gap="sm">
      <div role="group" aria-label="Days">
        <Text fz="sm" fw={500} mb={4}>
          Days
        </Text>
        <Chip.Group multiple {...form.getInputProps("rule.days")}>
          <Group gap={6}>
            {WEEKDAYS.map((day) => (
              <Chip key={day} size="xs" value={day}>
                {WEEKDAY_LABELS[day]}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </div>
      <Group grow gap="xs" align="flex-start">
        <TextInput label="From" {...form.getInputProps("rule.from")} />
        <TextInput label="To" {...form.getInputProps("rule.to")} />
        <Select label="Time zone" searchable allowDeselect={false} data={zones} {...form.getInputProps("rule.zone")} />
        <NumberInput label="Days to keep" min={1} max={3660} allowDecimal={false} {...form.getInputProps("rule.keepDays")} />
      </Group>
      <Text fz="sm" role="status">
        {Object.values(ruleProblems(rule))[0] ?? describeDraft(rule)}
      </Text>
    </Stack>
  );
}
