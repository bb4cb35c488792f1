import { ActionIcon, Button, CopyButton, Group, Select, Tooltip } from "@mantine/core";
import {
  IconArrowsDiff,
  IconCheck,
  IconChevronLeft,
  IconChevronRight,
  IconDownload,
  IconLink,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconSelectAll,
  IconZoomOut,
} from "@tabler/icons-react";
import type { Connection } from "../../api/live";
import type { BaselineInfo } from "../../logic/api";
import type { Command } from "../../logic/keys";
import type { Range } from "../../logic/range";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { currentLink } from "../../state/url";
import type { BandBaseline, Tool } from "./graph";
import { RangePicker } from "./RangePicker";

interface ToolbarProps {
  readonly range: Range;
  readonly window: Window;
  readonly zone: Zone;
  readonly tool: Tool;
  readonly connection: Connection;
  readonly baselines: readonly Pick<BaselineInfo, "id" | "name">[];
  readonly bandBaseline: BandBaseline | null;
  readonly onBand: (id: number | null) => void;
  readonly onRange: (range: Range) => void;
  readonly onCommand: (command: Command) => void;
}

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  off: "the window stands still; follow new samples (l)",
  connecting: "connecting to the server … (l pauses)",
  open: "live: follows new samples (l pauses)",
  lost: "the connection was lost; trying again, meanwhile asking every few seconds (l pauses)",
};

/** Everything about the window that all graphs share. */
export function Toolbar({
  range,
  window: shown,
  zone,
  tool,
  connection,
  baselines,
  bandBaseline,
  onBand,
  onRange,
  onCommand,
}: ToolbarProps) {
  const isLive = range.kind === "live";
  return (
    <Group gap={6} className="no-print">
      <RangePicker range={range} window={shown} zone={zone} onChange={onRange} />
      <ActionIcon.Group>
        <Tooltip label="half a window back (←)">
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
        <Tooltip label="half a window forward (→)">
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
        <Tooltip label="zoom out (− or double-click)">
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
      <Tooltip label="Marking tool: then drag over a graph (m); or drag with Shift">
        <Button
          variant={tool === "mark" ? "filled" : "default"}
          color={tool === "mark" ? "orange.8" : "gray"}
          aria-pressed={tool === "mark"}
          leftSection={<IconSelectAll size={14} />}
          onClick={() => {
            onCommand("mark-tool");
          }}
        >
          Mark
        </Button>
      </Tooltip>
      <Tooltip label="Compare the window, or what is marked, with a baseline (c)">
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
      <Tooltip label="Every sample of the window, or of what is marked (d)">
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
      <Tooltip label="A graph of any field of any stat (a)">
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
        <Tooltip label="The band of a baseline behind every graph: p5 to p95 and median (g)">
          <Select
            size="xs"
            w={168}
            aria-label="Band behind the graphs"
            placeholder="Band: off"
            clearable
            data={bandOptions(baselines, bandBaseline)}
            value={bandBaseline === null ? null : String(bandBaseline.id)}
            onChange={(value) => {
              onBand(value === null ? null : Number(value));
            }}
          />
        </Tooltip>
      )}
      <CopyButton value={currentLink()}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? "copied" : "copy the link to what is shown"}>
            <ActionIcon variant="default" size={30} aria-label="Copy link" onClick={copy}>
              {copied ? <IconCheck size={15} /> : <IconLink size={15} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}

/** Baselines for a menu; one that a link names may be archived by now. */
function bandOptions(baselines: ToolbarProps["baselines"], bandBaseline: BandBaseline | null) {
  const known =
    bandBaseline === null || baselines.some(({ id }) => id === bandBaseline.id) ? baselines : [...baselines, bandBaseline];
  return known.map(({ id, name }) => ({ value: String(id), label: `Band: ${name}` }));
}
