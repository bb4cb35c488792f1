import { Button, Popover, SimpleGrid, Text, TextInput } from "@mantine/core";
import { IconChevronDown, IconClock } from "@tabler/icons-react";
import { useState } from "react";
import { WindowInputs } from "./WindowInputs";
import { calendarRanges, parseRange, PRESETS, type Range } from "../logic/range";
import { describeDuration, lengthOf, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import { readRecent, rememberRange } from "../state/recent";

interface RangePickerProps {
  readonly range: Range;
  /** The window that the range resolves to now. */
  readonly window: Window;
  readonly zone: Zone;
  readonly onChange: (range: Range) => void;
}

/** Chooses the window of all graphs: the last minutes, hours or days, or a start and an end. */
export function RangePicker({ range, window: shown, zone, onChange }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false);
  const label =
    range.kind === "live"
      ? `Last ${describeDuration(range.length)}, ${zoneLabel(zone, shown.end)}`
      : `${formatWindow(zone, shown)} ${zoneLabel(zone, shown.end)} (${describeDuration(lengthOf(shown))})`;
  const choose = (next: Range): void => {
    setOpen(false);
    rememberRange(next);
    onChange(next);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} width={380} position="bottom-start" shadow="md" trapFocus withinPortal>
      <Popover.Target>
        <Button
          variant="default"
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
      <Popover.Dropdown>
        {isOpen && <TypedRange zone={zone} onChoose={choose} />}
        <Text fz="xs" fw={600} className="soft" mt={6} mb={4}>
          Live: the last
        </Text>
        <SimpleGrid cols={5} spacing={6} verticalSpacing={6}>
          {PRESETS.map((length) => (
            <Button
              key={length}
              px={0}
              variant={range.kind === "live" && range.length === length ? "filled" : "default"}
              onClick={() => {
                choose({ kind: "live", length });
              }}
            >
              {describeDuration(length)}
            </Button>
          ))}
        </SimpleGrid>
        {isOpen && <KnownRanges zone={zone} onChoose={choose} />}
        <Text fz="xs" fw={600} className="soft" mt="md" mb={4}>
          Fixed range
        </Text>
        {isOpen && (
          <FixedWindow
            window={shown}
            zone={zone}
            onApply={(next) => {
              choose({ kind: "fixed", window: next });
            }}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

interface RangeChoiceProps {
  readonly zone: Zone;
  readonly onChoose: (range: Range) => void;
}

/** One line for any range, as people write it. */
function TypedRange({ zone, onChoose }: RangeChoiceProps) {
  const [text, setText] = useState("");
  const found = text.trim() === "" ? null : parseRange(text, zone, readNow());
  const problem = typeof found === "string" ? found : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (found !== null && typeof found !== "string") {
          onChoose(found);
        }
      }}
    >
      <TextInput
        size="xs"
        data-autofocus
        aria-label="Range"
        placeholder="now-3h, yesterday 9-11, 09:05 to 09:20"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
        }}
      />
      <Text fz="xs" className="soft" mih={18} role="status">
        {problem ?? (found === null || typeof found === "string" ? "Type a range and press Enter" : describeRange(found, zone))}
      </Text>
    </form>
  );
}

function describeRange(range: Range, zone: Zone): string {
  return range.kind === "live"
    ? `Live: the last ${describeDuration(range.length)}`
    : `${formatWindow(zone, range.window)} (${describeDuration(lengthOf(range.window))})`;
}

/** Today, yesterday and the shifts in the page's zone, and the ranges that were chosen last. */
function KnownRanges({ zone, onChoose }: RangeChoiceProps) {
  const [named] = useState(() => calendarRanges(zone, readNow()));
  const [recent] = useState(readRecent);
  return (
    <>
      <Text fz="xs" fw={600} className="soft" mt="md" mb={4}>
        By the calendar
      </Text>
      <SimpleGrid cols={2} spacing={6} verticalSpacing={6}>
        {named.map(({ label, window }) => (
          <Button
            key={label}
            px={4}
            variant="default"
            fw={400}
            onClick={() => {
              onChoose({ kind: "fixed", window });
            }}
          >
            {label}
          </Button>
        ))}
      </SimpleGrid>
      {recent.length > 0 && (
        <>
          <Text fz="xs" fw={600} className="soft" mt="md" mb={4}>
            Recent
          </Text>
          <div role="group" aria-label="Recent ranges">
            {recent.map((range) => (
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
      )}
    </>
  );
}

interface FixedWindowProps {
  readonly window: Window;
  readonly zone: Zone;
  readonly onApply: (window: Window) => void;
}

function FixedWindow({ window: shown, zone, onApply }: FixedWindowProps) {
  // A live window moves on; the text being typed must not change.
  const [start] = useState(shown);
  const [typed, setTyped] = useState<Window | null>(shown);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== null) {
          onApply(typed);
        }
      }}
    >
      <WindowInputs window={start} zone={zone} onChange={setTyped} />
      <Button type="submit" fullWidth mt={6} disabled={typed === null}>
        Show
      </Button>
    </form>
  );
}
