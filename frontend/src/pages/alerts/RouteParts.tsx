import { MultiSelect, NumberInput, TextInput } from "@mantine/core";
import { dayLabel, WEEKDAYS } from "../../logic/alert";
import type { AlertChannelInfo, RouteSettings } from "../../logic/api";
import { words } from "../../words";
import { EditedRows } from "./EditedRows";

/** Return channels as the choices of a list. */
export function toOptions(channels: readonly AlertChannelInfo[]): { value: string; label: string }[] {
  return channels.map(({ id, name }) => ({ value: String(id), label: name }));
}

export function toIds(chosen: readonly string[]): number[] {
  return chosen.map(Number);
}

const ROW_FIELD = { flex: 1, minWidth: 180 } as const;

type Hours = RouteSettings["match"]["hours"];

interface HoursFieldsProps {
  readonly hours: Hours;
  readonly onChange: (hours: Hours) => void;
}

/** The times of a week in which a route is on; none: always. */
export function HoursFields({ hours, onChange }: HoursFieldsProps) {
  return (
    <EditedRows
      rows={hours}
      nameOf={words.watch.alerts.hoursNo}
      removeNameOf={words.watch.alerts.removeHours}
      addLabel={hours.length === 0 ? words.watch.alerts.onlyAtTimes : words.watch.alerts.moreTimes}
      newRow={() => ({ weekdays: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" })}
      onChange={onChange}
    >
      {(each, change) => (
        <>
          <MultiSelect
            searchable
            size="xs"
            style={ROW_FIELD}
            label={words.watch.alerts.weekdays}
            data={WEEKDAYS.map((day) => ({ value: String(day), label: dayLabel(day) }))}
            value={each.weekdays.map(String)}
            onChange={(days) => {
              change({ weekdays: toIds(days).sort((a, b) => a - b) });
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
                change({ [side]: event.currentTarget.value });
              }}
            />
          ))}
        </>
      )}
    </EditedRows>
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
    <EditedRows
      rows={escalations}
      nameOf={words.watch.alerts.escalationNo}
      removeNameOf={words.watch.alerts.removeEscalation}
      addLabel={words.watch.alerts.escalate}
      newRow={() => ({ after_min: 15 * (escalations.length + 1), channels: [] })}
      onChange={onChange}
    >
      {(each, change) => (
        <>
          <NumberInput
            size="xs"
            w={170}
            label={words.watch.alerts.afterMin}
            min={1}
            max={10_080}
            allowDecimal={false}
            value={each.after_min}
            onChange={(value) => {
              change({ after_min: Number(value) });
            }}
          />
          <MultiSelect
            searchable
            size="xs"
            style={ROW_FIELD}
            label={words.watch.alerts.channels}
            data={toOptions(channels)}
            value={each.channels.map(String)}
            onChange={(chosen) => {
              change({ channels: toIds(chosen) });
            }}
          />
        </>
      )}
    </EditedRows>
  );
}
