import { MultiSelect, NumberInput, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { dayLabel, WEEKDAYS } from "../../logic/alert";
import type { AlertChannelInfo, RouteSettings } from "../../logic/api";
import { EditedRows } from "./EditedRows";

/** A route in its form. */
export interface RouteValues {
  readonly name: string;
  readonly is_enabled: boolean;
  readonly settings: RouteSettings;
}

export interface RouteFieldsProps {
  readonly form: UseFormReturnType<RouteValues>;
}

export interface ChannelFieldsProps extends RouteFieldsProps {
  readonly channels: readonly AlertChannelInfo[];
}

/** Return channels as the choices of a list. */
export function toOptions(channels: readonly AlertChannelInfo[]): { value: number; label: string }[] {
  return channels.map(({ id, name }) => ({ value: id, label: name }));
}

const ROW_FIELD = { flex: 1, minWidth: 180 } as const;

/** The times of a week in which a route is on; none: always. */
export function HoursFields({ form }: RouteFieldsProps) {
  const path = "settings.match.hours";
  const { hours } = form.values.settings.match;
  return (
    <EditedRows
      n={hours.length}
      what="times"
      addLabel={hours.length === 0 ? "Only at some times of the week" : "More times"}
      onAdd={() => {
        form.insertListItem(path, { weekdays: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" });
      }}
      onRemove={(at) => {
        form.removeListItem(path, at);
      }}
    >
      {(at) => (
        <>
          <MultiSelect
            searchable
            size="xs"
            style={ROW_FIELD}
            label="Days"
            data={WEEKDAYS.map((day) => ({ value: day, label: dayLabel(day) }))}
            {...form.getInputProps(`${path}.${String(at)}.weekdays`)}
            onChange={(days) => {
              form.setFieldValue(
                `${path}.${String(at)}.weekdays`,
                [...days].sort((a, b) => a - b),
              );
            }}
          />
          <TextInput size="xs" w={80} label="From" placeholder="18:00" {...form.getInputProps(`${path}.${String(at)}.start`)} />
          <TextInput size="xs" w={80} label="Until" placeholder="18:00" {...form.getInputProps(`${path}.${String(at)}.end`)} />
        </>
      )}
    </EditedRows>
  );
}

/** Who else is notified without an acknowledgement. */
export function EscalationFields({ form, channels }: ChannelFieldsProps) {
  const path = "settings.escalations";
  const { length } = form.values.settings.escalations;
  return (
    <EditedRows
      n={length}
      what="escalation"
      addLabel="Add an escalation"
      onAdd={() => {
        form.insertListItem(path, { after_min: 15 * (length + 1), channels: [] });
      }}
      onRemove={(at) => {
        form.removeListItem(path, at);
      }}
    >
      {(at) => (
        <>
          <NumberInput
            size="xs"
            w={170}
            label="Unacknowledged for (min)"
            min={1}
            max={10_080}
            allowDecimal={false}
            {...form.getInputProps(`${path}.${String(at)}.after_min`)}
          />
          <MultiSelect
            searchable
            size="xs"
            style={ROW_FIELD}
            label="Channels"
            data={toOptions(channels)}
            {...form.getInputProps(`${path}.${String(at)}.channels`)}
          />
        </>
      )}
    </EditedRows>
  );
}
