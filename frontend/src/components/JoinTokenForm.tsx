import { Checkbox, NumberInput, Select, TextInput } from "@mantine/core";
import type { QueryKey } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../api/client";
import type { NewJoinToken } from "../logic/api";
import { isHostCount, LIFETIMES, MAX_USES } from "../logic/join_token";
import { formatCount } from "../logic/number";
import { describeDuration, SECOND, toDurationMs } from "../logic/time";
import { LABEL_HEIGHT, RowForm } from "./RowForm";
import { useServerForm } from "./useServerForm";

interface JoinTokenFormProps {
  readonly action: string;
  /** The default name of the token. */
  readonly name: string;
  readonly isNamed?: boolean;
  readonly renews?: readonly QueryKey[];
  /** Shows the new token, whose secret is shown once; `forget` ends that. */
  readonly children: (made: NewJoinToken, forget: () => void) => ReactNode;
}

/** The form for a token that hosts enrol with. */
export function JoinTokenForm({ action, name, isNamed = false, renews = [], children }: JoinTokenFormProps) {
  const { form, submission, saved, forget } = useServerForm({
    initialValues: { name: "", max_uses: 50, lifetime_s: LIFETIMES[0], host_pattern: "", allows_takeover: false },
    validate: { max_uses: (n) => (isHostCount(n) ? null : `1 to ${formatCount(MAX_USES)}`) },
    send: (values) =>
      api.POST("/join-tokens", {
        body: {
          ...values,
          name: values.name.trim() === "" ? name : values.name.trim(),
          host_pattern: values.host_pattern.trim(),
          tags: [],
        },
      }),
    renews,
  });
  return (
    <>
      <RowForm {...submission} action={action}>
        {isNamed && (
          <TextInput
            size="xs"
            w={200}
            label="Purpose"
            placeholder="new web servers"
            maxLength={200}
            {...form.getInputProps("name")}
          />
        )}
        <NumberInput
          size="xs"
          w={110}
          label="Hosts, at most"
          min={1}
          max={MAX_USES}
          allowDecimal={false}
          {...form.getInputProps("max_uses")}
        />
        <Select
          size="xs"
          w={110}
          label="Valid for"
          allowDeselect={false}
          data={LIFETIMES.map((seconds) => ({ value: seconds, label: describeDuration(toDurationMs(seconds * SECOND)) }))}
          {...form.getInputProps("lifetime_s")}
        />
        <TextInput
          size="xs"
          w={200}
          label="Host names (optional)"
          placeholder="web* db?"
          maxLength={1000}
          {...form.getInputProps("host_pattern")}
        />
        <Checkbox
          size="xs"
          mt={LABEL_HEIGHT + 7}
          label="Replace hosts with the same name"
          title="For hosts that are installed again: the token that sends under the name so far is revoked."
          {...form.getInputProps("allows_takeover", { type: "checkbox" })}
        />
      </RowForm>
      {saved && children(saved, forget)}
    </>
  );
}
