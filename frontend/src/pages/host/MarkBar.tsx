import { ActionIcon, Button, Group, Text, Tooltip } from "@mantine/core";
import {
  IconArrowsDiff,
  IconBookmarkOff,
  IconBookmarkPlus,
  IconDownload,
  IconFlag,
  IconX,
  IconZoomIn,
} from "@tabler/icons-react";
import { describeDuration, lengthOf, type Window } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";

interface MarkBarProps {
  readonly mark: Window;
  readonly zone: Zone;
  readonly mayWrite: boolean;
  readonly onBaseline: () => void;
  readonly onExclude: () => void;
  readonly onCompare: () => void;
  readonly onNote: () => void;
  readonly onExport: () => void;
  readonly onZoom: () => void;
  readonly onClear: () => void;
}

/** The actions on the selected window. */
export function MarkBar({
  mark,
  zone,
  mayWrite,
  onBaseline,
  onExclude,
  onCompare,
  onNote,
  onExport,
  onZoom,
  onClear,
}: MarkBarProps) {
  return (
    <Group className="mark-bar no-print" gap="xs" role="region" aria-label="Selection">
      <Text fz="sm">
        <b>Selected</b> {formatWindow(zone, mark)} {zoneLabel(zone, mark.end)} ({describeDuration(lengthOf(mark))})
      </Text>
      <Tooltip
        label={mayWrite ? "Save the selection as normal behaviour (b)" : "Only operators and administrators can save baselines"}
      >
        <Button variant="default" leftSection={<IconBookmarkPlus size={14} />} disabled={!mayWrite} onClick={onBaseline}>
          Save as baseline…
        </Button>
      </Tooltip>
      <Tooltip
        label={mayWrite ? "Ignore the selection in all baselines (x)" : "Only operators and administrators can exclude periods"}
      >
        <Button variant="default" leftSection={<IconBookmarkOff size={14} />} disabled={!mayWrite} onClick={onExclude}>
          Exclude from baselines…
        </Button>
      </Tooltip>
      <Tooltip label="Compare the selection with a baseline (c)">
        <Button leftSection={<IconArrowsDiff size={14} />} onClick={onCompare}>
          Compare with baseline…
        </Button>
      </Tooltip>
      {mayWrite && (
        <Tooltip label="Note what happened in the selection (n)">
          <Button variant="default" leftSection={<IconFlag size={14} />} onClick={onNote}>
            Note event…
          </Button>
        </Tooltip>
      )}
      <Button variant="default" leftSection={<IconDownload size={14} />} onClick={onExport}>
        Export…
      </Button>
      <Button variant="default" leftSection={<IconZoomIn size={14} />} onClick={onZoom}>
        Zoom in
      </Button>
      <Tooltip label="Clear selection (Esc)">
        <ActionIcon aria-label="Clear selection" onClick={onClear}>
          <IconX size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
