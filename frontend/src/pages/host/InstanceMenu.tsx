import { Button, Group, Loader, Menu, MultiSelect, NumberInput, Text } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { instancesQuery } from "../../api/queries";
import { ErrorLine } from "../../components/StateView";
import { describeChoice, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import type { Window } from "../../logic/time";

interface InstanceMenuProps {
  readonly plan: PanelPlan;
  readonly host: string;
  readonly window: Window;
  readonly onChoose: (choice: InstanceChoice) => void;
}

const TOPS = [5, 10, 20];

/** Chooses the CPUs, devices or processes that a panel draws. */
export function InstanceMenu({ plan, host, window, onChoose }: InstanceMenuProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-start" closeOnItemClick>
      <Menu.Target>
        <Button size="compact-xs" variant="default" rightSection={<IconChevronDown size={12} />} fw={400}>
          {describeChoice(plan.choice, plan.stat.instance_title)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Which {plan.stat.instance_title === "" ? "instances" : `of: ${plan.stat.instance_title}`}</Menu.Label>
        <Menu.Item
          onClick={() => {
            onChoose({ kind: "all" });
          }}
        >
          all (at most 200 lines)
        </Menu.Item>
        {plan.stat.shape !== "histogram" && (
          <Menu.Item
            onClick={() => {
              onChoose({ kind: "heatmap", field: plan.fields[0]?.key ?? "" });
            }}
          >
            all as a heatmap (one row each)
          </Menu.Item>
        )}
        {TOPS.map((n) => (
          <Menu.Item
            key={n}
            onClick={() => {
              onChoose({ kind: "top", n });
            }}
          >
            {plan.fields[0]?.worse === "lower" ? `lowest ${String(n)}` : `top ${String(n)}`} by{" "}
            {plan.fields[0]?.column ?? "the first field"}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {isOpen && (
          <ParticularInstances
            plan={plan}
            host={host}
            window={window}
            onChoose={(choice) => {
              setOpen(false);
              onChoose(choice);
            }}
          />
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function ParticularInstances({ plan, host, window, onChoose }: InstanceMenuProps) {
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
