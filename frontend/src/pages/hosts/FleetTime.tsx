import { ActionIcon, Button, Group, Slider, TextInput, Tooltip } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { sliderEnd, SLIDER_MINUTES, sliderPlace, wholeMinute } from "../../logic/fleet";
import { type EpochMs, MINUTE, toEpochMs } from "../../logic/time";
import { formatInstant, parseInstant, type Zone } from "../../logic/zone";

interface FleetTimeProps {
  readonly at: EpochMs | null;
  readonly now: EpochMs;
  readonly zone: Zone;
  readonly onChange: (at: EpochMs | null) => void;
}

/** The moment that the page shows: now, or one of the past, by slider or typed. */
export function FleetTime({ at, now, zone, onChange }: FleetTimeProps) {
  const [isOpen, setOpen] = useState(at !== null);
  if (!isOpen && at === null) {
    return (
      <Tooltip label="Show the hosts as they were at another time">
        <ActionIcon
          aria-label="Go back in time"
          variant="default"
          size={30}
          onClick={() => {
            setOpen(true);
          }}
        >
          <IconHistory size={16} />
        </ActionIcon>
      </Tooltip>
    );
  }
  return (
    <Group gap="xs" className="fleet-time" wrap="nowrap">
      <MomentSlider key={`s${String(at)}`} at={at} now={now} zone={zone} onChange={onChange} />
      <MomentInput key={`i${String(at)}`} at={at} now={now} zone={zone} onChange={onChange} />
      <Button
        variant={at === null ? "light" : "filled"}
        onClick={() => {
          setOpen(false);
          onChange(null);
        }}
      >
        Now
      </Button>
    </Group>
  );
}

function MomentSlider({ at, now, zone, onChange }: FleetTimeProps) {
  // The scale stands still while it is dragged.
  const [end] = useState(() => sliderEnd(at, now));
  const [place, setPlace] = useState(() => sliderPlace(at ?? now, end));
  const moment = (minutes: number): EpochMs => toEpochMs(end + minutes * MINUTE);
  return (
    <Slider
      className="fleet-slider"
      size="sm"
      min={-SLIDER_MINUTES}
      max={0}
      step={1}
      value={place}
      label={(minutes) => formatInstant(zone, moment(minutes)).slice(0, 16)}
      thumbLabel="Moment, one minute a step"
      onChange={setPlace}
      onChangeEnd={(minutes) => {
        onChange(moment(minutes));
      }}
    />
  );
}

function MomentInput({ at, now, zone, onChange }: FleetTimeProps) {
  const [text, setText] = useState(at === null ? "" : formatInstant(zone, at).replace(/:00$/, ""));
  const [hasProblem, setProblem] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const found = parseInstant(text, zone, now);
        setProblem(found === null || found > now);
        if (found !== null && found <= now) {
          onChange(wholeMinute(found, now));
        }
      }}
    >
      <TextInput
        size="xs"
        w={150}
        aria-label="Moment"
        placeholder="06:59 or now-3h"
        error={hasProblem ? "a time before now" : undefined}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
        }}
      />
    </form>
  );
}
