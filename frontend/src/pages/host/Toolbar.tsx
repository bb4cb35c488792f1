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
  off: "Fixed times. Follow new samples (l)",
  connecting: "Connecting to the server … (l to freeze)",
  open: "Live: following new samples. Freeze: stop here, with these times in the link (l)",
  lost: "Connection lost. Reconnecting; polling every few seconds until then (l to freeze)",
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
        <Tooltip label="Back by half the visible range (←)">
          <ActionIcon
            variant="default"
            size={30}
            aria-label="Back"
            onClick={() => {
              onCommand("back");
            }}
          >
            <IconChevronLeft size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Forward by half the visible range (→)">
          <ActionIcon
            variant="default"
            size={30}
            aria-label="Forward"
            onClick={() => {
              onCommand("forward");
            }}
          >
            <IconChevronRight size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Zoom out (− or double-click)">
          <ActionIcon
            variant="default"
            size={30}
            aria-label="Zoom out"
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
          {isLive ? (connection === "lost" ? "Live (reconnecting)" : "Live") : "Go live"}
        </Button>
      </Tooltip>
      <Tooltip label="Select a time range by dragging over a graph (m, or Shift + drag)">
        <Button
          variant={tool === "mark" ? "filled" : "default"}
          color={tool === "mark" ? "orange.8" : "gray"}
          aria-pressed={tool === "mark"}
          leftSection={<IconSelectAll size={14} />}
          onClick={() => {
            onCommand("mark-tool");
          }}
        >
          Select{" "}
        </Button>
      </Tooltip>
      <Tooltip label="Compare the selection (or the visible range) with a baseline (c)">
        <Button
          variant="default"
          leftSection={<IconArrowsDiff size={14} />}
          onClick={() => {
            onCommand("compare");
          }}
        >
          Compare
        </Button>
      </Tooltip>
      <Tooltip label="Export all samples of the selection (or the visible range) (d)">
        <Button
          variant="default"
          leftSection={<IconDownload size={14} />}
          onClick={() => {
            onCommand("csv");
          }}
        >
          Export…
        </Button>
      </Tooltip>
      <Tooltip label="Draw any metric without adding a panel (e)">
        <Button
          variant="default"
          leftSection={<IconChartLine size={14} />}
          onClick={() => {
            onCommand("explore");
          }}
        >
          Explore
        </Button>
      </Tooltip>
      <Tooltip label="Add a panel for any field (a)">
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => {
            onCommand("add-panel");
          }}
        >
          Panel
        </Button>
      </Tooltip>
      {(baselines.length > 0 || bandBaseline !== null) && (
        <Tooltip label="Show a baseline's band behind every graph: p5 to p95 and median (g)">
          <Select
            size="xs"
            w={168}
            aria-label="Baseline band"
            placeholder="No baseline band"
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
  return known.map(({ id, name }) => ({ value: String(id), label: `Baseline: ${name}` }));
}
