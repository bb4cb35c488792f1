import { MultiSelect, NumberInput, TextInput } from "@mantine/core";
import { dayLabel, WEEKDAYS } from "../../logic/alert";
import type { AlertChannelInfo, RouteSettings } from "../../logic/api";
import { EditedRows } from "./EditedRows";

const alertsHoursNo = (n: string) => `Times ${n}`;

const alertsRemoveHours = (n: string) => `Remove times ${n}`;

const alertsEscalationNo = (n: string) => `Escalation ${n}`;

const alertsRemoveEscalation = (n: string) => `Remove escalation ${n}`;

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
      nameOf={alertsHoursNo}
      removeNameOf={alertsRemoveHours}
      addLabel={hours.length === 0 ? "Only at some times of the week" : "More times"}
      newRow={() => ({ weekdays: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" })}
      onChange={onChange}
    >
      {(each, change) => (
        <>
          <MultiSelect
            searchable
            size="xs"
            style={ROW_FIELD}
            label="Days"
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
              label={side === "start" ? "From" : "Until"}
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
      nameOf={alertsEscalationNo}
      removeNameOf={alertsRemoveEscalation}
      addLabel="Tell others when nobody acknowledges"
      newRow={() => ({ after_min: 15 * (escalations.length + 1), channels: [] })}
      onChange={onChange}
    >
      {(each, change) => (
        <>
          <NumberInput
            size="xs"
            w={170}
            label="Unacknowledged for (min)"
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
            label="Channels"
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
