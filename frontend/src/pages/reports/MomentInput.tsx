import { TextInput } from "@mantine/core";
import { useState } from "react";
import { fromApi, toIso } from "../../logic/time";
import { formatInstant, parseInstant } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { words } from "../../words";

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
      description={words.components.windowInputs.timeExamples}
      spellCheck={false}
      value={text}
      error={found === null ? words.reports.noteForm.noTime : null}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        const at = parseInstant(typed, "UTC", readNow());
        onChange(at === null ? "" : toIso(at));
      }}
    />
  );
}
