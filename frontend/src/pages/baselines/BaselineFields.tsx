import { Chip, Group, MultiSelect, NumberInput, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { hostGroupsQuery } from "../../api/baselines";
import { hostsQuery } from "../../api/queries";
import { useZoneGroups } from "../../components/zone";
import { clockLength, describeRule, isWeekday, type RuleDraft, WEEKDAY_LABELS, WEEKDAYS, weeklyRule } from "../../logic/rule";
import { SECOND } from "../../logic/time";
import { NameField } from "../../components/NameAndNote";

export interface Subject {
  readonly name: string;
  readonly note: string;
  readonly hosts: readonly string[];
  /** Replaces the hosts. */
  readonly group: string | null;
}

interface SubjectFieldsProps {
  readonly subject: Subject;
  readonly onChange: (change: Partial<Subject>) => void;
}

/** The fields for name, note and hosts or host group. */
export function SubjectFields({ subject, onChange }: SubjectFieldsProps) {
  const hosts = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  const groups = useQuery(hostGroupsQuery).data?.groups.map(({ name }) => name) ?? [];
  return (
    <>
      <NameField
        value={subject.name}
        onChange={(value) => {
          onChange({ name: value });
        }}
      />
      <Group grow align="flex-start" gap="xs">
        <MultiSelect
          label="Hosts"
          searchable
          data={[...new Set([...hosts, ...subject.hosts])]}
          disabled={subject.group !== null}
          placeholder={subject.group === null && subject.hosts.length === 0 ? "Choose hosts" : ""}
          value={[...subject.hosts]}
          onChange={(chosen) => {
            onChange({ hosts: chosen });
          }}
        />
        {(groups.length > 0 || subject.group !== null) && (
          <Select
            label="Or a host group"
            clearable
            placeholder="none"
            data={groups}
            value={subject.group}
            onChange={(group) => {
              onChange({ group });
            }}
          />
        )}
      </Group>
      <Textarea
        label="Note"
        autosize
        minRows={2}
        maxRows={10}
        maxLength={10_000}
        value={subject.note}
        onChange={(event) => {
          onChange({ note: event.currentTarget.value });
        }}
      />
    </>
  );
}

interface RuleFieldsProps {
  readonly draft: RuleDraft;
  readonly onChange: (change: Partial<RuleDraft>) => void;
}

/** The fields of a recurring rule (days, hours, time zone, days to keep), with the rule in words. */
export function RuleFields({ draft, onChange }: RuleFieldsProps) {
  const length = clockLength(draft.from, draft.to);
  const zones = useZoneGroups(draft.zone);
  return (
    <Stack gap="sm">
      <div role="group" aria-label="Days">
        <Text fz="sm" fw={500} mb={4}>
          Days
        </Text>
        <Chip.Group
          multiple
          value={[...draft.days]}
          onChange={(days) => {
            onChange({ days: days.filter(isWeekday) });
          }}
        >
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
        <TextInput
          label="From"
          value={draft.from}
          onChange={(event) => {
            onChange({ from: event.currentTarget.value });
          }}
        />
        <TextInput
          label="To"
          value={draft.to}
          error={length === null ? "Enter a time such as 09:00" : undefined}
          onChange={(event) => {
            onChange({ to: event.currentTarget.value });
          }}
        />
        <Select
          label="Time zone"
          searchable
          allowDeselect={false}
          data={zones}
          value={draft.zone}
          onChange={(zone) => {
            onChange({ zone: zone ?? "UTC" });
          }}
        />
        <NumberInput
          label="Days to keep"
          min={1}
          max={3660}
          allowDecimal={false}
          value={draft.keepDays}
          onChange={(value) => {
            onChange({ keepDays: Number(value) });
          }}
        />
      </Group>
      <Text fz="sm" role="status">
        {length === null || draft.days.length === 0
          ? "Choose at least one day, a start and an end."
          : describeRule({
              rrule: weeklyRule(draft.days),
              clock: draft.from,
              duration_s: length / SECOND,
              keep_days: draft.keepDays,
              zone: draft.zone,
            })}
      </Text>
    </Stack>
  );
}
