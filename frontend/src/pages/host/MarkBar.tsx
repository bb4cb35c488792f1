import { ActionIcon, Button, Group, Text, Tooltip } from "@mantine/core";
import { IconArrowsDiff, IconBookmarkOff, IconBookmarkPlus, IconDownload, IconX, IconZoomIn } from "@tabler/icons-react";
import { describeDuration, lengthOf, type Window } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";

interface MarkBarProps {
  readonly mark: Window;
  readonly zone: Zone;
  readonly mayWrite: boolean;
  readonly onBaseline: () => void;
  readonly onExclude: () => void;
  readonly onCompare: () => void;
  readonly onExport: () => void;
  readonly onZoom: () => void;
  readonly onClear: () => void;
}

/** What can be done with the marked window. */
export function MarkBar({ mark, zone, mayWrite, onBaseline, onExclude, onCompare, onExport, onZoom, onClear }: MarkBarProps) {
  return (
    <Group className="mark-bar no-print" gap="xs" role="region" aria-label="Marked window">
      <Text fz="sm">
        <b>Marked</b> {formatWindow(zone, mark)} {zoneLabel(zone, mark.end)} ({describeDuration(lengthOf(mark))})
      </Text>
      <Tooltip label={mayWrite ? "This is what the host normally does (b)" : "Operators and administrators may mark baselines"}>
        <Button variant="default" leftSection={<IconBookmarkPlus size={14} />} disabled={!mayWrite} onClick={onBaseline}>
          Mark as baseline…
        </Button>
      </Tooltip>
      <Tooltip
        label={
          mayWrite
            ? "This was not normal: baselines that hold it leave it out (x)"
            : "Operators and administrators may mark incidents"
        }
      >
        <Button variant="default" leftSection={<IconBookmarkOff size={14} />} disabled={!mayWrite} onClick={onExclude}>
          Mark as incident…
        </Button>
      </Tooltip>
      <Tooltip label="Compare this window with a baseline (c)">
        <Button leftSection={<IconArrowsDiff size={14} />} onClick={onCompare}>
          Compare with baseline…
        </Button>
      </Tooltip>
      <Button variant="default" leftSection={<IconDownload size={14} />} onClick={onExport}>
        Export…
      </Button>
      <Button variant="default" leftSection={<IconZoomIn size={14} />} onClick={onZoom}>
        Zoom in
      </Button>
      <Tooltip label="Drop the mark (Esc)">
        <ActionIcon aria-label="Drop the mark" onClick={onClear}>
          <IconX size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
