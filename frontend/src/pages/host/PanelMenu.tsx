import { ActionIcon, Menu, Text, useComputedColorScheme } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { parquetAddress, csvAddress } from "../../api/addresses";
import { mayWrite, useMe } from "../../components/me";
import type { PanelPlan } from "../../logic/panel";
import type { Window } from "../../logic/time";
import type { GraphContext } from "./graph";
import { SeveralHosts } from "./SeveralHosts";

export type PanelDialog = "look" | "table" | "related" | "view" | "report";

/** What can be saved of a panel: a picture in the colours of the page or on white, the samples of the lines, or a link. */
export type Taken = "png" | "svg" | "png-on-white" | "svg-on-white" | "csv" | "link";

interface PanelMenuProps {
  readonly plan: PanelPlan;
  readonly host: string;
  readonly window: Window;
  /** Whether there are lines to take. */
  readonly isDrawn: boolean;
  readonly onOpen: (dialog: PanelDialog) => void;
  readonly isFull: boolean;
  readonly onFull: GraphContext["onFull"];
  readonly onTake: (what: Taken) => void;
  readonly onRemove: ((plan: PanelPlan) => void) | null;
}

/** What can be done with a panel. */
export function PanelMenu(props: PanelMenuProps) {
  const { plan, host, window: shown, isDrawn, isFull, onOpen, onFull, onTake, onRemove } = props;
  const isDark = useComputedColorScheme("light", { getInitialValueInEffect: false }) === "dark";
  const item = (what: Taken, label: string) => (
    <Menu.Item
      key={what}
      disabled={!isDrawn && what !== "link"}
      onClick={() => {
        onTake(what);
      }}
    >
      {label}
    </Menu.Item>
  );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" aria-label={`Menu of ${plan.title}`}>
          <IconDots size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          onClick={() => {
            onOpen("look");
          }}
        >
          Axis and lines…
        </Menu.Item>
        <Menu.Item
          disabled={!isDrawn}
          onClick={() => {
            onOpen("table");
          }}
        >
          Show points as a table
        </Menu.Item>
        <Menu.Item
          disabled={!isDrawn}
          onClick={() => {
            onOpen("related");
          }}
        >
          What moves with this?
        </Menu.Item>
        {onFull && (
          <Menu.Item
            rightSection={
              <Text fz="xs" className="soft">
                f
              </Text>
            }
            onClick={() => {
              onFull(isFull ? null : plan.id);
            }}
          >
            {isFull ? "Leave full screen" : "Full screen"}
          </Menu.Item>
        )}
        <Menu.Item
          onClick={() => {
            onOpen("view");
          }}
        >
          Add to a view…
        </Menu.Item>
        {mayWrite(useMe()) && (
          <Menu.Item
            onClick={() => {
              onOpen("report");
            }}
          >
            Add to report
          </Menu.Item>
        )}
        <SeveralHosts plan={plan} host={host} window={shown} />
        {onRemove && (
          <Menu.Item
            onClick={() => {
              onRemove(plan);
            }}
          >
            Remove panel
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Label>Copy and download</Menu.Label>
        {item("link", "Copy link to this panel and window")}
        {item("png", "PNG picture")}
        {item("svg", "SVG picture")}
        {isDark && item("png-on-white", "PNG picture on white")}
        {isDark && item("svg-on-white", "SVG picture on white")}
        {item("csv", "CSV of the lines shown (all samples)")}
        <Menu.Item component="a" href={csvAddress(host, shown, plan.stat.name)} download>
          {`CSV of ${plan.stat.name} in this window (all samples)`}
        </Menu.Item>
        <Menu.Item component="a" href={parquetAddress(host, shown, plan.stat.name)} download>
          {`Parquet of ${plan.stat.name} in this window (all samples)`}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
