import { Group, MultiSelect, Text, TextInput, type TextInputProps, Tooltip } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { hostsQuery } from "../api/queries";
import { type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";

interface FilterBarProps {
  /** What is wrong with the typed times. */
  readonly problem: string | null;
  readonly children: ReactNode;
}

/** The filters of a list in one row. */
export function FilterBar({ problem, children }: FilterBarProps) {
  return (
    <>
      <Group gap="xs" mb={problem === null ? "sm" : 4} align="flex-end">
        {children}
      </Group>
      {problem !== null && (
        <Text fz="xs" mb="sm" role="status">
          {problem}
        </Text>
      )}
    </>
  );
}

interface FilterBoxProps extends Omit<TextInputProps, "label" | "onChange"> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A box for the words that a list is filtered by. */
export function FilterBox({ label, onChange, ...props }: FilterBoxProps) {
  return (
    <TextInput
      size="xs"
      w={240}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} />}
      {...props}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}

interface HostFilterProps {
  readonly hosts: readonly string[];
  readonly onChange: (hosts: string[]) => void;
}

/** The hosts whose rows a list shows. */
export function HostFilter({ hosts, onChange }: HostFilterProps) {
  const known = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  return (
    <MultiSelect
      size="xs"
      w={200}
      aria-label="Hosts"
      placeholder={hosts.length === 0 ? "all hosts" : ""}
      searchable
      clearable
      limit={100}
      maxValues={20}
      data={[...new Set([...hosts, ...known])]}
      value={[...hosts]}
      onChange={onChange}
    />
  );
}

interface TimeFilterProps {
  readonly from: string;
  readonly to: string;
  readonly zone: Zone;
  readonly onChange: (side: { readonly from: string } | { readonly to: string }) => void;
}

/** The times between which a list shows rows, as they are typed; `readTimes` reads them. */
export function TimeFilter({ from, to, zone, onChange }: TimeFilterProps) {
  const label = zoneLabel(zone, readNow());
  const common = { size: "xs", w: 150, spellCheck: false } as const;
  return (
    <>
      <Tooltip label={EXAMPLES}>
        <TextInput
          {...common}
          aria-label={`From (${label})`}
          placeholder="from: now-7d"
          value={from}
          onChange={(event) => {
            onChange({ from: event.currentTarget.value });
          }}
        />
      </Tooltip>
      <Tooltip label={EXAMPLES}>
        <TextInput
          {...common}
          aria-label={`To (${label})`}
          placeholder="to: now"
          value={to}
          onChange={(event) => {
            onChange({ to: event.currentTarget.value });
          }}
        />
      </Tooltip>
    </>
  );
}

const EXAMPLES = "2026-11-21 09:05, 09:05 (today), now-7d";
