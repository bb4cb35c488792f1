import { Button, Group, SimpleGrid, Text, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { calendarLabel, calendarRanges, formatShifts, isOfShifts, parseShifts, type Shifts } from "../logic/calendar_range";
import { isSameRange, PRESETS, type Range } from "../logic/range";
import { describeDuration, lengthOf, type Window, windowBetween } from "../logic/time";
import { parseRange } from "../logic/typed_range";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import { readRecent } from "../state/recent";
import { readShifts, writeShifts } from "../state/shifts";
import { WindowInputs } from "./WindowInputs";

// Only who opens the picker needs a calendar.
const RangeCalendar = lazy(() => import("./RangeCalendar").then((module) => ({ default: module.RangeCalendar })));

interface ChoiceProps {
  readonly zone: Zone;
  readonly onChoose: (range: Range) => void;
}

interface RangeChoicesProps extends ChoiceProps {
  readonly range: Range;
  /** The window that the range resolves to now. */
  readonly window: Window;
}

/** All ways to choose a range, in one zone. */
export function RangeChoices({ range, window: shown, zone, onChoose }: RangeChoicesProps) {
  const [shifts, setShifts] = useState(readShifts);
  return (
    <>
      <TypedRange zone={zone} shifts={shifts} onChoose={onChoose} />
      <div className="range-columns">
        <div>
          <h4 className="range-title">Live: the last</h4>
          <SimpleGrid cols={5} spacing={6} verticalSpacing={6}>
            {PRESETS.map((length) => (
              <Button
                key={length}
                px={0}
                variant={range.kind === "live" && range.length === length ? "filled" : "default"}
                onClick={() => {
                  onChoose({ kind: "live", length });
                }}
              >
                {describeDuration(length)}
              </Button>
            ))}
          </SimpleGrid>
          <CalendarRanges
            range={range}
            zone={zone}
            shifts={shifts}
            onShifts={(next) => {
              setShifts(next);
              writeShifts(next);
            }}
            onChoose={onChoose}
          />
          <RecentRanges range={range} zone={zone} onChoose={onChoose} />
        </div>
        <FixedWindow
          window={shown}
          zone={zone}
          onApply={(window) => {
            onChoose({ kind: "fixed", window });
          }}
        />
      </div>
    </>
  );
}

/** One line for any range, as people write it. */
function TypedRange({ zone, shifts, onChoose }: ChoiceProps & { readonly shifts: Shifts }) {
  const [text, setText] = useState("");
  const [isAsked, setAsked] = useState(false);
  const found = text.trim() === "" ? null : parseRange(text, zone, readNow(), shifts);
  const problem = typeof found === "string" ? found : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setAsked(true);
        if (found !== null && typeof found !== "string") {
          onChoose(found);
        }
      }}
    >
      <TextInput
        size="xs"
        data-autofocus
        aria-label="Range"
        aria-describedby="typed-range"
        aria-invalid={isAsked && problem !== null}
        placeholder="now-3h, yesterday 06:59-07:10, 2026-11-22 06:59 +10m"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAsked(false);
        }}
      />
      <Text id="typed-range" fz="xs" className={isAsked ? undefined : "soft"} mt={2} mih={18} role="status">
        {problem ??
          (found === null || typeof found === "string"
            ? `Type a range in ${zoneLabel(zone, readNow())} and press Enter`
            : describeRange(found, zone))}
      </Text>
    </form>
  );
}

function describeRange(range: Range, zone: Zone): string {
  if (range.kind === "calendar") {
    return isOfShifts(range.name)
      ? `${calendarLabel(range.name)}, moving on with the clock; shifts begin at ${formatShifts(range.shifts)}`
      : `${calendarLabel(range.name)}, moving on with the clock`;
  }
  return range.kind === "live"
    ? `Live: the last ${describeDuration(range.length)}`
    : `${formatWindow(zone, range.window)} (${describeDuration(lengthOf(range.window))})`;
}

interface CalendarRangesProps extends ChoiceProps {
  readonly range: Range;
  readonly shifts: Shifts;
  readonly onShifts: (shifts: Shifts) => void;
}

/** Today, yesterday, this hour, shifts and weeks in the page's zone; they move on with the clock. */
function CalendarRanges({ range, zone, shifts, onShifts, onChoose }: CalendarRangesProps) {
  const [now] = useState(readNow);
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <Group justify="space-between" align="baseline">
        <h4 className="range-title">By the calendar</h4>
        <button
          type="button"
          className="text-button"
          style={{ fontSize: 11.5 }}
          aria-expanded={isEditing}
          onClick={() => {
            setEditing(!isEditing);
          }}
        >
          Set shifts
        </button>
      </Group>
      {isEditing && (
        <ShiftEditor
          shifts={shifts}
          onShifts={(next) => {
            setEditing(false);
            onShifts(next);
          }}
        />
      )}
      <SimpleGrid cols={2} spacing={6} verticalSpacing={6}>
        {calendarRanges(zone, now, shifts).map(({ name, label }) => (
          <Button
            key={name}
            px={4}
            variant={isSameRange(range, { kind: "calendar", name, shifts }) ? "filled" : "default"}
            fw={400}
            onClick={() => {
              onChoose({ kind: "calendar", name, shifts });
            }}
          >
            {label}
          </Button>
        ))}
      </SimpleGrid>
    </>
  );
}

interface ShiftEditorProps {
  readonly shifts: Shifts;
  readonly onShifts: (shifts: Shifts) => void;
}

function ShiftEditor({ shifts, onShifts }: ShiftEditorProps) {
  const [text, setText] = useState(formatShifts(shifts));
  const found = parseShifts(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typeof found !== "string") {
          onShifts(found);
        }
      }}
    >
      <Group gap={6} align="flex-end" wrap="nowrap" mb={6}>
        <TextInput
          size="xs"
          flex={1}
          label="Shifts begin at"
          description="Each lasts until the next one. Kept in this browser."
          error={typeof found === "string" ? found : undefined}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
          }}
        />
        <Button type="submit" variant="default" disabled={typeof found === "string"}>
          Set
        </Button>
      </Group>
    </form>
  );
}

/** The ranges that were chosen last. */
function RecentRanges({ range: current, zone, onChoose }: ChoiceProps & { readonly range: Range }) {
  const [recent] = useState(readRecent);
  const others = recent.filter((range) => !isSameRange(range, current));
  return (
    others.length > 0 && (
      <>
        <h4 className="range-title">Recent</h4>
        <div role="group" aria-label="Recent ranges">
          {others.map((range) => (
            <button
              key={describeRange(range, zone)}
              type="button"
              className="text-button recent-range"
              onClick={() => {
                onChoose(range);
              }}
            >
              {describeRange(range, zone)}
            </button>
          ))}
        </div>
      </>
    )
  );
}

interface FixedWindowProps {
  readonly window: Window;
  readonly zone: Zone;
  readonly onApply: (window: Window) => void;
}

/** Days from a calendar, and the exact start and end. */
function FixedWindow({ window: shown, zone, onApply }: FixedWindowProps) {
  // A live window moves on; the text being typed must not change.
  const [chosen, setChosen] = useState(() => windowBetween(shown.start, shown.end));
  const [typed, setTyped] = useState<Window | null>(chosen);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== null) {
          onApply(typed);
        }
      }}
    >
      <h4 className="range-title">Fixed range: days, then exact times</h4>
      <div className="range-calendar">
        <Suspense>
          <RangeCalendar
            window={shown}
            zone={zone}
            onDays={(window) => {
              setChosen(window);
              setTyped(window);
            }}
          />
        </Suspense>
      </div>
      <WindowInputs key={`${String(chosen.start)} ${String(chosen.end)}`} window={chosen} zone={zone} onChange={setTyped} />
      <Button type="submit" fullWidth mt={6} disabled={typed === null}>
        Show
      </Button>
    </form>
  );
}
