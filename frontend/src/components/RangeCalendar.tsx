import "@mantine/dates/styles.css";
import { DatePicker } from "@mantine/dates";
import { useState } from "react";
import { daysOf, daysWindow } from "../logic/calendar_range";
import type { Window } from "../logic/time";
import { formatDate, type Zone } from "../logic/zone";
import { readNow } from "../state/clock";

interface RangeCalendarProps {
  readonly window: Window;
  readonly zone: Zone;
  /** Receives the window of the chosen days, from midnight to midnight in the zone. */
  readonly onDays: (window: Window) => void;
}

/** A calendar: one click chooses a day, a second one the days up to there. Loaded when it is opened. */
export function RangeCalendar({ window: shown, zone, onDays }: RangeCalendarProps) {
  // The library would take the browser's zone for it.
  const today = formatDate(zone, readNow());
  const [days, setDays] = useState<readonly [string | null, string | null]>(() => daysOf(zone, shown));
  const [month, setMonth] = useState(days[1] ?? today);
  return (
    <DatePicker
      type="range"
      size="xs"
      allowSingleDateInRange
      firstDayOfWeek={1}
      weekendDays={[]}
      hideOutsideDates
      getDayProps={(day) => (day === today ? { fw: 700, "aria-current": "date" } : {})}
      value={[...days]}
      date={month}
      onDateChange={setMonth}
      ariaLabels={{ previousMonth: "Previous month", nextMonth: "Next month" }}
      onChange={(next) => {
        setDays(next);
        const [first, last] = next;
        const window = first === null ? null : daysWindow(zone, first, last ?? first, readNow());
        if (window !== null) {
          onDays(window);
        }
      }}
    />
  );
}
