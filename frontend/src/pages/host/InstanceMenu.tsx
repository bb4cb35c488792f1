import { Button, Loader, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { describeChoice, idleField, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import type { Window } from "../../logic/time";
import { words } from "../../words";

export interface InstanceMenuProps {
  readonly plan: PanelPlan;
  readonly host: string;
  readonly window: Window;
  readonly onChoose: (choice: InstanceChoice) => void;
}

const SelectedInstances = lazy(() => import("./SelectedInstances").then((module) => ({ default: module.SelectedInstances })));

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
        <Menu.Label>
          {words.host.instanceMenu.which(
            plan.stat.instance_title === ""
              ? words.host.instanceMenu.instances
              : words.host.instanceMenu.of(plan.stat.instance_title),
          )}
        </Menu.Label>
        <Menu.Item
          onClick={() => {
            onChoose({ kind: "all" });
          }}
        >
          {words.host.instanceMenu.allAtMostLines}
        </Menu.Item>
        {plan.stat.shape !== "histogram" && (
          <Menu.Item
            onClick={() => {
              onChoose({ kind: "heatmap", field: plan.fields[0]?.key ?? "" });
            }}
          >
            {words.host.instanceMenu.allHeatmapOneRow}
          </Menu.Item>
        )}
        {idleField(plan.stat) !== null && (
          <Menu.Item
            onClick={() => {
              onChoose({ kind: "balance" });
            }}
          >
            {words.host.instanceMenu.allCpusBusyImbalance}
          </Menu.Item>
        )}
        {TOPS.map((n) => (
          <Menu.Item
            key={n}
            onClick={() => {
              onChoose({ kind: "top", n });
            }}
          >
            {words.host.instanceMenu.by(
              plan.fields[0]?.worse === "lower"
                ? words.host.instanceMenu.lowest(String(n))
                : words.host.instanceMenu.top(String(n)),
              plan.fields[0]?.column ?? words.host.instanceMenu.theFirstField,
            )}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Suspense fallback={<Loader size="xs" m="xs" />}>
          {isOpen && (
            <SelectedInstances
              plan={plan}
              host={host}
              window={window}
              onChoose={(choice) => {
                setOpen(false);
                onChoose(choice);
              }}
            />
          )}
        </Suspense>
      </Menu.Dropdown>
    </Menu>
  );
}
