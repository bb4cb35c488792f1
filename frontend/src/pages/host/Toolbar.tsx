import { ActionIcon, Button, Group, Select, Tooltip } from "@mantine/core";
import {
  IconArrowsDiff,
  IconChartLine,
  IconChevronLeft,
  IconChevronRight,
  IconDownload,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconSelectAll,
  IconZoomOut,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Connection } from "../../api/live";
import type { BaselineInfo } from "../../logic/api";
import type { Command } from "../../logic/keys";
import { isGrowing, type Range } from "../../logic/range";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { BandBaseline, Tool } from "./graph";
import { CopyLink } from "../../components/CopyLink";
import { RangePicker } from "../../components/RangePicker";
import { words } from "../../words";

interface ToolbarProps {
  readonly range: Range;
  readonly window: Window;
  readonly zone: Zone;
  readonly tool: Tool;
  readonly connection: Connection;
  readonly baselines: readonly Pick<BaselineInfo, "id" | "name">[];
  readonly bandBaseline: BandBaseline | null;
  readonly overlayMenu: ReactNode;
  readonly onBand: (id: number | null) => void;
  readonly onRange: (range: Range) => void;
  readonly onCommand: (command: Command) => void;
  /** The menu of saved views. */
  readonly viewMenu: ReactNode;
  /** The link to what a live page shows now; null for a fixed window. */
  readonly frozenLink: string | null;
}

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  off: words.host.toolbar.fixedTimesFollow,
  connecting: words.host.toolbar.connecting,
  open: words.host.toolbar.followingFreeze,
  lost: words.host.toolbar.connectionLost,
};

/** The controls of the window that all graphs share. */
export function Toolbar({
  range,
  window: shown,
  zone,
  tool,
  connection,
  baselines,
  bandBaseline,
  overlayMenu,
  onBand,
  onRange,
  onCommand,
  viewMenu,
  frozenLink,
}: ToolbarProps) {
  const isLive = isGrowing(range);
  return (
    <Group gap={6} className="no-print">
      {viewMenu}
      <RangePicker range={range} window={shown} zone={zone} onChange={onRange} />
      <ActionIcon.Group>
        <Tooltip label={words.host.toolbar.backHalfVisibleRange}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={words.host.toolbar.back}
            onClick={() => {
              onCommand("back");
            }}
          >
            <IconChevronLeft size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={words.host.toolbar.forwardHalfVisibleRange}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={words.host.toolbar.forward}
            onClick={() => {
              onCommand("forward");
            }}
          >
            <IconChevronRight size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={words.host.toolbar.zoomOutDoubleClick}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={words.host.toolbar.zoomOut}
            onClick={() => {
              onCommand("zoom-out");
            }}
          >
            <IconZoomOut size={16} />
          </ActionIcon>
        </Tooltip>
      </ActionIcon.Group>
      <Tooltip label={CONNECTIONS[connection]}>
        <Button
          variant={isLive ? "light" : "default"}
          color={connection === "lost" ? "yellow" : "blue"}
          aria-pressed={isLive}
          leftSection={isLive ? <IconPlayerPause size={14} /> : <IconPlayerPlay size={14} />}
          onClick={() => {
            onCommand("live");
          }}
        >
          {isLive
            ? connection === "lost"
              ? words.host.toolbar.liveReconnecting
              : words.host.toolbar.live
            : words.host.toolbar.goLive}
        </Button>
      </Tooltip>
      <Tooltip label={words.host.toolbar.selectTimeRangeDragging}>
        <Button
          variant={tool === "mark" ? "filled" : "default"}
          color={tool === "mark" ? "orange.8" : "gray"}
          aria-pressed={tool === "mark"}
          leftSection={<IconSelectAll size={14} />}
          onClick={() => {
            onCommand("mark-tool");
          }}
        >
          {words.host.toolbar.select}{" "}
        </Button>
      </Tooltip>
      <Tooltip label={words.host.toolbar.compareSelectionVisibleRange}>
        <Button
          variant="default"
          leftSection={<IconArrowsDiff size={14} />}
          onClick={() => {
            onCommand("compare");
          }}
        >
          {words.common.compare}
        </Button>
      </Tooltip>
      <Tooltip label={words.host.toolbar.exportAllSamplesSelection}>
        <Button
          variant="default"
          leftSection={<IconDownload size={14} />}
          onClick={() => {
            onCommand("csv");
          }}
        >
          {words.host.toolbar.export}
        </Button>
      </Tooltip>
      <Tooltip label={words.host.toolbar.drawAnyMetricWithout}>
        <Button
          variant="default"
          leftSection={<IconChartLine size={14} />}
          onClick={() => {
            onCommand("explore");
          }}
        >
          {words.host.toolbar.explore}
        </Button>
      </Tooltip>
      <Tooltip label={words.host.toolbar.addPanelAnyField}>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => {
            onCommand("add-panel");
          }}
        >
          {words.host.toolbar.panel}
        </Button>
      </Tooltip>
      {(baselines.length > 0 || bandBaseline !== null) && (
        <Tooltip label={words.host.toolbar.showBaselinesBandBehind}>
          <Select
            size="xs"
            w={168}
            aria-label={words.host.toolbar.baselineBand}
            placeholder={words.host.toolbar.noBaselineBand}
            clearable
            data={bandOptions(baselines, bandBaseline)}
            value={bandBaseline === null ? null : String(bandBaseline.id)}
            onChange={(value) => {
              onBand(value === null ? null : Number(value));
            }}
          />
        </Tooltip>
      )}
      {overlayMenu}
      <CopyLink frozen={frozenLink} />
    </Group>
  );
}

/** Return the baselines for the menu, including an archived one that a link names. */
function bandOptions(baselines: ToolbarProps["baselines"], bandBaseline: BandBaseline | null) {
  const known =
    bandBaseline === null || baselines.some(({ id }) => id === bandBaseline.id) ? baselines : [...baselines, bandBaseline];
  return known.map(({ id, name }) => ({ value: String(id), label: words.host.toolbar.baseline(name) }));
}
