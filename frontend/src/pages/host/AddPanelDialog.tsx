import { Group, MultiSelect, NumberInput, SegmentedControl, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { instancesQuery } from "../../api/queries";
import { FieldCard } from "../../components/FieldHelp";
import { FormDialog } from "../../components/FormDialog";
import { ErrorLine } from "../../components/StateView";
import type { StatInfo } from "../../logic/api";
import { type CustomPanel, fieldOptions, type InstanceChoice } from "../../logic/panel";
import type { Window } from "../../logic/time";

interface AddPanelDialogProps {
  readonly host: string;
  readonly window: Window;
  /** The names of the stats that this host sends. */
  readonly stats: readonly StatInfo[];
  readonly onAdd: (panel: CustomPanel) => void;
  readonly onClose: () => void;
}

type Kind = "top" | "all" | "only";

/** Adds a panel for any fields that this host sends; the panel is part of the link. */
export function AddPanelDialog({ host, window: shown, stats, onAdd, onClose }: AddPanelDialogProps) {
  const [statName, setStatName] = useState(stats[0]?.name ?? null);
  const [fields, setFields] = useState<readonly string[]>([]);
  const [kind, setKind] = useState<Kind>("top");
  const [n, setN] = useState(5);
  const [names, setNames] = useState<readonly string[]>([]);
  const stat = stats.find(({ name }) => name === statName) ?? null;
  const hasInstances = stat !== null && stat.instance_title !== "";
  const choice: InstanceChoice = !hasInstances
    ? { kind: "one" }
    : kind === "top"
      ? { kind, n }
      : kind === "all"
        ? { kind }
        : { kind, names };
  const isComplete = stat !== null && fields.length > 0 && (choice.kind !== "only" || choice.names.length > 0);

  return (
    <FormDialog
      title="Add a panel"
      size="lg"
      action="Add panel"
      isReady={isComplete}
      onSubmit={() => {
        if (stat !== null) {
          onAdd({ stat: stat.name, fields, choice });
        }
      }}
      onClose={onClose}
    >
      <Select
        label="Stat"
        searchable
        allowDeselect={false}
        data={stats.map(({ name, title }) => ({ value: name, label: `${title} (${name})` }))}
        value={statName}
        onChange={(value) => {
          setStatName(value);
          setFields([]);
          setNames([]);
        }}
      />
      {stat && (
        <MultiSelect
          key={stat.name}
          label="Fields"
          description="Fields with different units get separate panels"
          searchable
          limit={200}
          data={fieldOptions(stat).map(({ group, items }) => ({ group, items: [...items] }))}
          value={[...fields]}
          onChange={setFields}
        />
      )}
      {hasInstances && (
        <Group align="flex-end" gap="sm">
          <SegmentedControl
            size="xs"
            aria-label={`Which ${stat.instance_title}`}
            value={kind}
            data={[
              { value: "top", label: "top" },
              { value: "all", label: "all" },
              { value: "only", label: "selected" },
            ]}
            onChange={setKind}
          />
          {kind === "top" && (
            <NumberInput
              size="xs"
              w={90}
              min={1}
              max={200}
              aria-label="Number of instances"
              value={n}
              onChange={(value) => {
                setN(typeof value === "number" ? value : n);
              }}
            />
          )}
          {kind === "only" && <InstanceNames host={host} stat={stat} window={shown} names={names} onChange={setNames} />}
        </Group>
      )}
      {stat?.fields
        .filter(({ key }) => fields.includes(key))
        .map((field) => (
          <FieldCard key={field.key} field={field} />
        ))}
      {stats.length === 0 && <Text fz="sm">This host has no samples yet.</Text>}
    </FormDialog>
  );
}

interface InstanceNamesProps {
  readonly host: string;
  readonly stat: StatInfo;
  readonly window: Window;
  readonly names: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}

function InstanceNames({ host, stat, window: shown, names, onChange }: InstanceNamesProps) {
  // The list is not refreshed while a live window moves on.
  const [asked] = useState(shown);
  const instances = useQuery(instancesQuery(host, stat.name, asked));
  return (
    <div style={{ flex: 1 }}>
      <MultiSelect
        size="xs"
        aria-label={`Which ${stat.instance_title}`}
        placeholder={instances.isPending ? "loading …" : stat.instance_title}
        searchable
        limit={200}
        data={instances.data?.instances.map(({ name }) => name) ?? []}
        value={[...names]}
        onChange={onChange}
      />
      <ErrorLine error={instances.error} />
    </div>
  );
}
