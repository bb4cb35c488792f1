import { Group, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostsQuery, statsQuery } from "../api/queries";
import { formatDivisor, parseDivisor } from "../logic/against";
import { divisorOptions } from "../logic/comparison";

interface DivisorChoiceProps {
  readonly host: string | null;
  readonly divisor: string | null;
  readonly onChange: (divisor: string | null) => void;
}

/** Chooses the series that all others are divided by, which gives the cost per transaction, system call or packet. */
export function DivisorChoice({ host, divisor, onChange }: DivisorChoiceProps) {
  const stats = useQuery(statsQuery).data?.stats ?? [];
  const sent = useQuery(hostsQuery).data?.hosts.find(({ name }) => name === host)?.stats ?? [];
  const known = divisor === null ? null : parseDivisor(divisor);
  const [instance, setInstance] = useState(known?.instance ?? "");
  const change = (series: string | null, of: string): void => {
    const next = series === null ? null : parseDivisor(series);
    onChange(next === null ? null : formatDivisor({ ...next, instance: of.trim() === "" ? null : of.trim() }));
  };
  const series = known === null ? null : formatDivisor({ ...known, instance: null });
  return (
    <>
      <Group gap="xs" grow mt={4}>
        <Select
          size="xs"
          label="Divide by"
          placeholder="none: compare raw values"
          searchable
          clearable
          data={divisorOptions(stats, sent).map(({ group, items }) => ({ group, items: [...items] }))}
          value={series}
          onChange={(value) => {
            change(value, instance);
          }}
        />
        <TextInput
          size="xs"
          label="Instance (if there are several)"
          placeholder="sum of all"
          value={instance}
          disabled={series === null}
          onChange={(event) => {
            setInstance(event.currentTarget.value);
            change(series, event.currentTarget.value);
          }}
        />
      </Group>
      <Text fz="xs" className="soft" mt={4}>
        Use this when the load itself changed, to compare the cost per transaction, system call or packet. Choose the series that
        counts them.
      </Text>
    </>
  );
}
