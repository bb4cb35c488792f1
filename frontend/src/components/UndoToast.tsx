import { ActionIcon, Button, Paper, Portal, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useEffect } from "react";
import "./UndoToast.css";

// Long enough to read it, reach the button and press it.
const SHOWN_MS = 12_000;

interface UndoToastProps {
  readonly text: string;
  /** Undoes what was done; null if there is nothing to undo. */
  readonly onUndo: (() => void) | null;
  readonly onClose: () => void;
  /** The word on the button. */
  readonly action?: string;
}

/** Says for some seconds what was done, with a button that undoes it. Give it a key that changes with what was done. */
export function UndoToast({ text, onUndo, onClose, action = "Undo" }: UndoToastProps) {
  useEffect(() => {
    const timer = setTimeout(onClose, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [onClose]);
  return (
    <Portal>
      <Paper className="undo-toast no-print" shadow="md" withBorder role="status">
        <Text fz="sm">{text}</Text>
        {onUndo !== null && (
          <Button size="compact-sm" variant="light" flex="none" onClick={onUndo}>
            {action}
          </Button>
        )}
        <ActionIcon aria-label="Close message" onClick={onClose}>
          <IconX size={15} />
        </ActionIcon>
      </Paper>
    </Portal>
  );
}
