import { TextInput } from "@mantine/core";
import { useState } from "react";
import { fromApi, toIso } from "../../logic/time";
import { formatInstant, parseInstant } from "../../logic/zone";
import { readNow } from "../../state/clock";

interface MomentInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** An instant, typed as everywhere: date and time, time of today, or `now-15m`; in UTC, as reports print it. */
export function MomentInput({ label, value, onChange }: MomentInputProps) {
  const [text, setText] = useState(formatInstant("UTC", fromApi(value)));
  const found = parseInstant(text, "UTC", readNow());
  return (
    <TextInput
      label={label}
      description="2026-11-21 09:05:00, 09:05 (today), now-15m, or ISO 8601 with a zone"
      spellCheck={false}
      value={text}
      error={found === null ? "That is not a time. Write 2026-11-21 10:00:00, 10:00 or now-15m." : null}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        const at = parseInstant(typed, "UTC", readNow());
        onChange(at === null ? "" : toIso(at));
      }}
    />
  );
}
