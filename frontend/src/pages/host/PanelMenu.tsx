import { ActionIcon, Menu, Text, useComputedColorScheme } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { parquetAddress, csvAddress } from "../../api/endpoints";
import { mayWrite, useMe } from "../../components/me";
import type { PanelPlan } from "../../logic/panel";
import type { Window } from "../../logic/time";
import type { GraphContext } from "./graph";
import { SeveralHosts } from "./SeveralHosts";
import { words } from "../../words";

export type PanelDialog = "look" | "table" | "view" | "report";

/** What somebody takes away: a picture in the colours of the page or on white, the samples of the lines, or a link. */
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
        <ActionIcon size="sm" aria-label={words.host.panelMenu.menuOf(plan.title)}>
          <IconDots size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          onClick={() => {
            onOpen("look");
          }}
        >
          {words.host.panelMenu.axisAndLines}
        </Menu.Item>
        <Menu.Item
          disabled={!isDrawn}
          onClick={() => {
            onOpen("table");
          }}
        >
          {words.host.panelMenu.showPointsTable}
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
            {isFull ? words.host.panelMenu.leaveFullScreen : words.host.panelMenu.fullScreen}
          </Menu.Item>
        )}
        <Menu.Item
          onClick={() => {
            onOpen("view");
          }}
        >
          {words.host.panelMenu.addToAView}
        </Menu.Item>
        {mayWrite(useMe()) && (
          <Menu.Item
            onClick={() => {
              onOpen("report");
            }}
          >
            {words.reports.addToReport.addToReport}
          </Menu.Item>
        )}
        <SeveralHosts plan={plan} host={host} window={shown} />
        {onRemove && (
          <Menu.Item
            onClick={() => {
              onRemove(plan);
            }}
          >
            {words.host.panelMenu.removePanel}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Label>{words.host.panelMenu.takeWithYou}</Menu.Label>
        {item("link", words.host.panelMenu.copyLinkPanelWindow)}
        {item("png", words.host.panelMenu.pngPicture)}
        {item("svg", words.host.panelMenu.svgPicture)}
        {isDark && item("png-on-white", words.host.panelMenu.pngPictureOnWhite)}
        {isDark && item("svg-on-white", words.host.panelMenu.svgPictureOnWhite)}
        {item("csv", words.host.panelMenu.csvLinesShownAll)}
        <Menu.Item component="a" href={csvAddress(host, shown, plan.stat.name)} download>
          {words.host.panelMenu.csvWindowAllSamples(plan.stat.name)}
        </Menu.Item>
        <Menu.Item component="a" href={parquetAddress(host, shown, plan.stat.name)} download>
          {words.host.panelMenu.parquetWindowAllSamples(plan.stat.name)}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
