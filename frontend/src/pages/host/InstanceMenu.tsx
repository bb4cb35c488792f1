import { Button, Loader, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { describeChoice, idleField, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import type { Window } from "../../logic/time";

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
  const choice = describeChoice(plan.choice, plan.stat.instance_title);
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-start" closeOnItemClick>
      <Menu.Target>
        <Button
          size="compact-xs"
          variant="default"
          rightSection={<IconChevronDown size={12} />}
          fw={400}
          className="instance-menu"
          aria-label={choice}
          data-kind={plan.isChosen ? "chosen" : plan.choice.kind}
        >
          {choice}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{`Which ${plan.stat.instance_title === "" ? "instances" : `of: ${plan.stat.instance_title}`}`}</Menu.Label>
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
        {idleField(plan.stat) !== null && (
          <Menu.Item
            onClick={() => {
              onChoose({ kind: "balance" });
            }}
          >
            all CPUs: busy, and the imbalance
          </Menu.Item>
        )}
        {TOPS.map((n) => (
          <Menu.Item
            key={n}
            onClick={() => {
              onChoose({ kind: "top", n });
            }}
          >
            {`${
              plan.fields[0]?.worse === "lower" ? `lowest ${String(n)}` : `top ${String(n)}`
            } by ${plan.fields[0]?.column ?? "the first field"}`}
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
