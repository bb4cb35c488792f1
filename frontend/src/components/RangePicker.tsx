import { Button, Popover, SimpleGrid, Text } from "@mantine/core";
import { IconChevronDown, IconClock } from "@tabler/icons-react";
import { useState } from "react";
import { WindowInputs } from "./WindowInputs";
import { PRESETS, type Range } from "../logic/range";
import { describeDuration, lengthOf, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";

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
        <Text fz="xs" fw={600} className="soft" mb={4}>
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
