import { ActionIcon, Box, Button, Group, Kbd, Menu, Select, Tooltip } from "@mantine/core";
import {
  IconArrowsDiff,
  IconChevronLeft,
  IconChevronRight,
  IconDots,
  IconPlayerPause,
  IconPlayerPlay,
  IconSelectAll,
  IconZoomOut,
} from "@tabler/icons-react";
import { type ReactNode, useRef } from "react";
import type { Connection } from "../../api/live";
import type { BaselineInfo } from "../../logic/api";
import type { Command } from "../../logic/keys";
import { isGrowing, type Range } from "../../logic/range";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { BandBaseline, Tool } from "./graph";
import { CopyLink } from "../../components/CopyLink";
import { mayWrite, useMe } from "../../components/me";
import { RangePicker } from "../../components/RangePicker";
import { useOneStop } from "../../components/useOneStop";

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
  const frame = useRef<HTMLDivElement>(null);
  useOneStop(frame);
  const isLive = isGrowing(range);
  const isWriter = mayWrite(useMe());
  const options = bandOptions(baselines, bandBaseline);
  return (
    <Group gap={6} className="no-print host-tools" ref={frame} role="toolbar" aria-label="Time range and graphs">
      {viewMenu}
      <RangePicker range={range} window={shown} zone={zone} onChange={onRange} />
      <ActionIcon.Group visibleFrom="sm">
        {STEPS.map(({ command, label, help, Icon }) => (
          <Tooltip key={command} label={help}>
            <ActionIcon
              variant="default"
              size={30}
              aria-label={label}
              onClick={() => {
                onCommand(command);
              }}
            >
              <Icon size={16} />
            </ActionIcon>
          </Tooltip>
        ))}
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
          visibleFrom="sm"
          variant={tool === "mark" ? "filled" : "default"}
          color={tool === "mark" ? "orange.8" : "gray"}
          aria-pressed={tool === "mark"}
          leftSection={<IconSelectAll size={14} />}
          onClick={() => {
            onCommand("mark-tool");
          }}
        >
          Select
        </Button>
      </Tooltip>
      <Tooltip label="Compare the selection (or the visible range) with a baseline (c)">
        <Button
          visibleFrom="sm"
          variant="default"
          leftSection={<IconArrowsDiff size={14} />}
          onClick={() => {
            onCommand("compare");
          }}
        >
          Compare
        </Button>
      </Tooltip>
      {/* Its place is kept from the beginning: baselines come after the first graphs. */}
      <Box visibleFrom="sm" w={150}>
        <Tooltip label="Show a baseline's band behind every graph: p5 to p95 and median (g)">
          <Select
            size="xs"
            aria-label="Baseline band"
            placeholder={options.length === 0 ? "No baseline" : "No baseline band"}
            disabled={options.length === 0}
            clearable
            data={options}
            value={bandBaseline === null ? null : String(bandBaseline.id)}
            onChange={(value) => {
              onBand(value === null ? null : Number(value));
            }}
          />
        </Tooltip>
      </Box>
      <Box visibleFrom="sm">{overlayMenu}</Box>
      <Box visibleFrom="sm">
        <CopyLink frozen={frozenLink} />
      </Box>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="More actions for the graphs">
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {MORE.map(({ command, label, shortcut, isOnPhones }) => (
            <Menu.Item
              key={command}
              {...(isOnPhones ? { hiddenFrom: "sm" } : {})}
              rightSection={<Kbd size="xs">{shortcut}</Kbd>}
              disabled={command === "event" && !isWriter}
              onClick={() => {
                onCommand(command);
              }}
            >
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

const STEPS = [
  { command: "back", label: "Back", help: "Back by half the visible range (←)", Icon: IconChevronLeft },
  { command: "forward", label: "Forward", help: "Forward by half the visible range (→)", Icon: IconChevronRight },
  { command: "zoom-out", label: "Zoom out", help: "Zoom out (− or double-click)", Icon: IconZoomOut },
] as const;

/** The menu of what is seldom done; some of it has a button of its own where there is room. */
const MORE = [
  { command: "zoom-out", label: "Zoom out", shortcut: "−", isOnPhones: true },
  { command: "mark-tool", label: "Select a time range", shortcut: "m", isOnPhones: true },
  { command: "compare", label: "Compare with a baseline…", shortcut: "c", isOnPhones: true },
  { command: "event", label: "Note an event…", shortcut: "n", isOnPhones: false },
  { command: "csv", label: "Export…", shortcut: "d", isOnPhones: false },
  { command: "explore", label: "Explore any metric", shortcut: "e", isOnPhones: false },
  { command: "add-panel", label: "Add a panel…", shortcut: "a", isOnPhones: false },
] as const;

/** Return the baselines for the menu, including an archived one that a link names. */
function bandOptions(baselines: ToolbarProps["baselines"], bandBaseline: BandBaseline | null) {
  const known =
    bandBaseline === null || baselines.some(({ id }) => id === bandBaseline.id) ? baselines : [...baselines, bandBaseline];
  return known.map(({ id, name }) => ({ value: String(id), label: `Baseline: ${name}` }));
}
