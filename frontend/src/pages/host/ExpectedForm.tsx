import { api } from "../../api/client";
import { Button, Group, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { referencesQuery } from "../../api/queries";

import { ErrorLine } from "../../components/StateView";
import type { ExpectedValuePut, ReferenceRule } from "../../logic/api";
import { parseBound } from "../../logic/look";
import type { PanelPlan } from "../../logic/panel";

interface ExpectedFormProps {
  readonly host: string;
  readonly plan: PanelPlan;
  readonly rules: readonly ReferenceRule[];
}

/** Says what is expected of a series of the panel; an empty value takes it back. */
export function ExpectedForm({ host, plan, rules }: ExpectedFormProps) {
  const client = useQueryClient();
  const [field, setField] = useState(plan.fields[0]?.key ?? "");
  const [instance, setInstance] = useState("");
  const known = rules.find(
    (rule) => rule.is_expected && rule.stat === plan.stat.name && rule.field === field && (rule.instance ?? "") === instance,
  );
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? (known === undefined ? "" : String(known.value));
  const value = text.trim() === "" ? null : parseBound(text);
  const isWrong = text.trim() !== "" && value === null;
  const saving = useMutation({
    mutationFn: (body: ExpectedValuePut) => api.PUT("/references", { body }),
    onSuccess: (list) => {
      client.setQueryData(referencesQuery(host).queryKey, list);
      setTyped(null);
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!isWrong) {
      saving.mutate({ host, stat: plan.stat.name, field, instance: instance === "" ? null : instance, value, note: "" });
    }
  };
  return (
    <form onSubmit={submit} aria-label="Expected value">
      <Group gap="xs" align="flex-end" grow>
        <Select
          size="xs"
          label="Expected value"
          allowDeselect={false}
          data={plan.fields.map(({ key, column, unit }) => ({ value: key, label: unit === "" ? column : `${column} (${unit})` }))}
          value={field}
          onChange={(next) => {
            setField(next ?? field);
            setTyped(null);
          }}
        />
        {plan.stat.instance_title !== "" && (
          <TextInput
            size="xs"
            label={plan.stat.instance_title}
            placeholder="all"
            value={instance}
            onChange={(event) => {
              setInstance(event.currentTarget.value.trim());
              setTyped(null);
            }}
          />
        )}
        <TextInput
          size="xs"
          label="Value"
          placeholder="none"
          inputMode="decimal"
          value={text}
          error={isWrong}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
          }}
        />
        <Button size="xs" variant="default" type="submit" loading={saving.isPending} disabled={typed === null || isWrong}>
          Save
        </Button>
      </Group>
      <ErrorLine error={saving.error} />
    </form>
  );
}
