import { api } from "../../api/client";
import { Group, NumberInput, Text } from "@mantine/core";
import { FormDialog } from "../../components/FormDialog";
import { useServerForm } from "../../components/useServerForm";
import { toNamedZone } from "../../logic/host_zone";
import type { BaselineCreate, BaselineInfo } from "../../logic/api";
import { defaultRule, toRule } from "../../logic/rule";
import { HOUR, toEpochMs, wholeSecond } from "../../logic/time";
import { formatInstant, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { RULE_RULES, RuleFields, type Subject, SUBJECT_RULES, SubjectFields } from "./BaselineFields";

interface DialogProps {
  readonly zone: Zone;
  readonly onClose: () => void;
}

const EMPTY: Subject = { name: "", note: "", hosts: [], group: null };
const DEFAULT_HOURS = 24;

function create({ name, note, hosts, group }: Subject, zone: Zone, how: Partial<BaselineCreate>): Promise<BaselineInfo> {
  const subject = group === null ? { hosts } : { group };
  return api.POST("/baselines", { body: { name, note, time_zone: toNamedZone(zone), ...subject, ...how } });
}

/** Records a baseline from now on, for a number of hours. */
export function RecordDialog({ zone, onClose }: DialogProps) {
  const { form, submission } = useServerForm({
    initialValues: { ...EMPTY, record_hours: DEFAULT_HOURS },
    validate: { ...SUBJECT_RULES, record_hours: (hours) => (hours > 0 ? null : "Enter hours") },
    send: ({ record_hours, ...subject }) => create(subject, zone, { record_hours }),
    renews: [["baselines"]],
    onSaved: onClose,
  });
  const end = toEpochMs(readNow() + form.values.record_hours * HOUR);
  return (
    <FormDialog {...submission} title="Record a baseline from now on" size="lg" action="Start recording" onClose={onClose}>
      <SubjectFields form={form} />
      <Group align="flex-end" gap="sm">
        <NumberInput label="Duration (hours)" w={120} min={0.01} max={24 * 366} {...form.getInputProps("record_hours")} />
        <Text fz="sm" className="soft" pb={8} role="status">
          {`until ${formatInstant(zone, wholeSecond(end))} ${zoneLabel(zone, end)}. Recording continues after a server restart; you can stop it earlier.`}
        </Text>
      </Group>
    </FormDialog>
  );
}

/** Creates a baseline of recurring hours, which updates itself. */
export function RuleDialog({ zone, onClose }: DialogProps) {
  const { form, submission } = useServerForm({
    initialValues: { ...EMPTY, rule: defaultRule(toNamedZone(zone)) },
    validate: { ...SUBJECT_RULES, rule: RULE_RULES },
    checksEarly: ["rule.from", "rule.to"],
    send: ({ rule, ...subject }) => create(subject, rule.zone, { rule: toRule(rule) }),
    renews: [["baselines"]],
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title="Recurring hours" size="lg" action="Create baseline" onClose={onClose}>
      <SubjectFields form={form} />
      <RuleFields form={form} />
    </FormDialog>
  );
}
