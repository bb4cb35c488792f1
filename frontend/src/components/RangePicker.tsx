import { Button, Popover } from "@mantine/core";
import { IconChevronDown, IconClock } from "@tabler/icons-react";
import { useState } from "react";
import { calendarLabel } from "../logic/calendar_range";
import type { Range } from "../logic/range";
import { describeDuration, lengthOf, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { rememberRange } from "../state/recent";
import { RangeChoices } from "./RangeChoices";
import "./RangePicker.css";

interface RangePickerProps {
  readonly range: Range;
  /** The window that the range resolves to now. */
  readonly window: Window;
  readonly zone: Zone;
  readonly onChange: (range: Range) => void;
}

/** Chooses the window of all graphs: typed, from a list, from a calendar, or a start and an end. */
export function RangePicker({ range, window: shown, zone, onChange }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false);
  const label =
    range.kind === "live"
      ? `Last ${describeDuration(range.length)}, ${zoneLabel(zone, shown.end)}`
      : range.kind === "calendar"
        ? `${calendarLabel(range.name)} (${formatWindow(zone, shown)} ${zoneLabel(zone, shown.end)})`
        : `${formatWindow(zone, shown)} ${zoneLabel(zone, shown.end)} (${describeDuration(lengthOf(shown))})`;
  const choose = (next: Range): void => {
    setOpen(false);
    rememberRange(next);
    onChange(next);
  };
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      width="min(700px, calc(100vw - 16px))"
      position="bottom-start"
      shadow="md"
      trapFocus
      withinPortal
    >
      <Popover.Target>
        <Button
          className="range-button"
          variant="default"
          title={label}
          aria-label={`Window: ${label}`}
          leftSection={<IconClock size={14} />}
          rightSection={<IconChevronDown size={13} />}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="range-dropdown">
        {isOpen && <RangeChoices range={range} window={shown} zone={zone} onChoose={choose} />}
      </Popover.Dropdown>
    </Popover>
  );
}
