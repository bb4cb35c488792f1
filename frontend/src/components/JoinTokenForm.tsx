import { Checkbox, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import type { JoinTokenCreate } from "../logic/api";
import { isHostCount, LIFETIMES, MAX_USES } from "../logic/join_token";
import { describeDuration, SECOND, toDurationMs } from "../logic/time";
import { LABEL_HEIGHT, RowForm } from "./RowForm";

interface JoinTokenFormProps {
  readonly action: string;
  /** The name of the token where nobody types one. */
  readonly name: string;
  readonly isNamed?: boolean;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onSubmit: (body: JoinTokenCreate) => void;
}

/** The form for a token that hosts enrol with. */
export function JoinTokenForm({ action, name, isNamed = false, isPending, error, onSubmit }: JoinTokenFormProps) {
  const [purpose, setPurpose] = useState("");
  const [uses, setUses] = useState<number | string>(50);
  const [lifetime, setLifetime] = useState<number>(LIFETIMES[0]);
  const [pattern, setPattern] = useState("");
  const [takesOver, setTakesOver] = useState(false);
  return (
    <RowForm
      action={action}
      isReady={isHostCount(uses)}
      isPending={isPending}
      error={error}
      onSubmit={() => {
        onSubmit({
          name: purpose.trim() === "" ? name : purpose.trim(),
          lifetime_s: lifetime,
          max_uses: Number(uses),
          host_pattern: pattern.trim(),
          tags: [],
          allows_takeover: takesOver,
        });
      }}
    >
      {isNamed && (
        <TextInput
          size="xs"
          w={200}
          label="Purpose"
          placeholder="new web servers"
          maxLength={200}
          value={purpose}
          onChange={(event) => {
            setPurpose(event.currentTarget.value);
          }}
        />
      )}
      <NumberInput
        size="xs"
        w={110}
        label="Hosts, at most"
        min={1}
        max={MAX_USES}
        allowDecimal={false}
        value={uses}
        onChange={setUses}
      />
      <Select
        size="xs"
        w={110}
        label="Valid for"
        allowDeselect={false}
        data={LIFETIMES.map((seconds) => ({ value: String(seconds), label: describeDuration(toDurationMs(seconds * SECOND)) }))}
        value={String(lifetime)}
        onChange={(value) => {
          setLifetime(LIFETIMES.find((known) => String(known) === value) ?? LIFETIMES[0]);
        }}
      />
      <TextInput
        size="xs"
        w={200}
        label="Host names (optional)"
        placeholder="web* db?"
        maxLength={1000}
        value={pattern}
        onChange={(event) => {
          setPattern(event.currentTarget.value);
        }}
      />
      <Checkbox
        size="xs"
        mt={LABEL_HEIGHT + 7}
        label="Replace hosts with the same name"
        title="For hosts that are installed again: the token that sends under the name so far is revoked."
        checked={takesOver}
        onChange={(event) => {
          setTakesOver(event.currentTarget.checked);
        }}
      />
    </RowForm>
  );
}
