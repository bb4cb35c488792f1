import { Button, Group, Loader, MultiSelect, NumberInput, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { instancesQuery } from "../../api/queries";
import { ErrorLine } from "../../components/StateView";
import type { InstanceMenuProps } from "./InstanceMenu";

/** The first instances, as many as wanted, or some by name. */
export function SelectedInstances({ plan, host, window, onChoose }: InstanceMenuProps) {
  const instances = useQuery(instancesQuery(host, plan.stat.name, window));
  const [names, setNames] = useState<readonly string[]>(plan.choice.kind === "only" ? plan.choice.names : []);
  const [n, setN] = useState(plan.choice.kind === "top" ? plan.choice.n : 5);
  return (
    <div style={{ padding: "4px 10px 8px", width: 300 }}>
      <Group gap={6} wrap="nowrap" mb={8}>
        <Text fz="sm">top</Text>
        <NumberInput
          size="xs"
          w={80}
          min={1}
          max={200}
          aria-label="Number of instances"
          value={n}
          onChange={(value) => {
            setN(typeof value === "number" ? value : n);
          }}
        />
        <Button
          variant="default"
          onClick={() => {
            onChoose({ kind: "top", n });
          }}
        >
          Show
        </Button>
      </Group>
      {instances.isPending ? (
        <Loader size="xs" />
      ) : (
        <MultiSelect
          size="xs"
          label="selected"
          searchable
          limit={200}
          comboboxProps={{ withinPortal: false }}
          data={
            instances.data?.instances.map(({ name, label }) => ({
              value: name,
              label: label === "" ? name : `${name} (${label})`,
            })) ?? []
          }
          value={[...names]}
          onChange={setNames}
        />
      )}
      <ErrorLine error={instances.error} />
      <Button
        mt={8}
        fullWidth
        disabled={names.length === 0}
        onClick={() => {
          onChoose({ kind: "only", names });
        }}
      >
        Show selected{" "}
      </Button>
    </div>
  );
}
