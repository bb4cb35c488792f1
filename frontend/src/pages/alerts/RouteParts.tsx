import { ActionIcon, Button, Group, MultiSelect, NumberInput, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { dayLabel, replaced, WEEKDAYS } from "../../logic/alert";
import type { AlertChannelInfo, RouteSettings } from "../../logic/api";
import { words } from "../../words";

/** Return channels as the choices of a list. */
export function toOptions(channels: readonly AlertChannelInfo[]): { value: string; label: string }[] {
  return channels.map(({ id, name }) => ({ value: String(id), label: name }));
}

export function toIds(chosen: readonly string[]): number[] {
  return chosen.map(Number);
}

type Hours = RouteSettings["match"]["hours"];

interface HoursFieldsProps {
  readonly hours: Hours;
  readonly onChange: (hours: Hours) => void;
}

/** The times of a week in which a route is on; none: always. */
export function HoursFields({ hours, onChange }: HoursFieldsProps) {
  return (
    <>
      {hours.map((each, at) => (
        <Group key={at} gap="xs" align="flex-end" role="group" aria-label={words.watch.alerts.hoursNo(String(at + 1))}>
          <MultiSelect
            searchable
            size="xs"
            style={{ flex: 1, minWidth: 180 }}
            label={words.watch.alerts.weekdays}
            data={WEEKDAYS.map((day) => ({ value: String(day), label: dayLabel(day) }))}
            value={each.weekdays.map(String)}
            onChange={(days) => {
              onChange(replaced(hours, at, { ...each, weekdays: toIds(days).sort((a, b) => a - b) }));
            }}
          />
          {(["start", "end"] as const).map((side) => (
            <TextInput
              key={side}
              size="xs"
              w={80}
              label={side === "start" ? words.common.from : words.watch.mutes.until}
              placeholder="18:00"
              value={each[side]}
              onChange={(event) => {
                onChange(replaced(hours, at, { ...each, [side]: event.currentTarget.value }));
              }}
            />
          ))}
          <ActionIcon
            mb={4}
            aria-label={words.watch.alerts.removeHours(String(at + 1))}
            onClick={() => {
              onChange(hours.filter((_, place) => place !== at));
            }}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={13} />}
          onClick={() => {
            onChange([...hours, { weekdays: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" }]);
          }}
        >
          {hours.length === 0 ? words.watch.alerts.onlyAtTimes : words.watch.alerts.moreTimes}
        </Button>
      </div>
    </>
  );
}

type Escalations = RouteSettings["escalations"];

interface EscalationFieldsProps {
  readonly escalations: Escalations;
  readonly channels: readonly AlertChannelInfo[];
  readonly onChange: (escalations: Escalations) => void;
}

/** Who else hears of it when nobody acknowledges. */
export function EscalationFields({ escalations, channels, onChange }: EscalationFieldsProps) {
  return (
    <>
      {escalations.map((each, at) => (
        <Group key={at} gap="xs" align="flex-end" role="group" aria-label={words.watch.alerts.escalationNo(String(at + 1))}>
          <NumberInput
            size="xs"
            w={170}
            label={words.watch.alerts.afterMin}
            min={1}
            max={10_080}
            allowDecimal={false}
            value={each.after_min}
            onChange={(value) => {
              onChange(replaced(escalations, at, { ...each, after_min: Number(value) }));
            }}
          />
          <MultiSelect
            searchable
            size="xs"
            style={{ flex: 1, minWidth: 180 }}
            label={words.watch.alerts.channels}
            data={toOptions(channels)}
            value={each.channels.map(String)}
            onChange={(chosen) => {
              onChange(replaced(escalations, at, { ...each, channels: toIds(chosen) }));
            }}
          />
          <ActionIcon
            mb={4}
            aria-label={words.watch.alerts.removeEscalation(String(at + 1))}
            onClick={() => {
              onChange(escalations.filter((_, place) => place !== at));
            }}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={13} />}
          onClick={() => {
            onChange([...escalations, { after_min: 15 * (escalations.length + 1), channels: [] }]);
          }}
        >
          {words.watch.alerts.escalate}
        </Button>
      </div>
    </>
  );
}
