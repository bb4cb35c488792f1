import { useCallbackRef, useHotkeys } from "@mantine/hooks";
import { useEffect } from "react";
import { undo, useUndo } from "../state/undo";
import { UndoToast } from "./UndoToast";

/** Shows what was just done on any page, with the way back. What waits to be deleted is sent when the browser leaves the page. */
export function UndoOutlet() {
  const { shown } = useUndo();
  useEffect(() => {
    const leave = (): void => {
      undo.flush();
    };
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
    };
  }, []);
  return shown && <ShownUndo key={shown.id} id={shown.id} text={shown.text} action={shown.action} onUndo={shown.onUndo} />;
}

interface ShownUndoProps {
  readonly id: number;
  readonly text: string;
  readonly action: string;
  readonly onUndo: (() => void) | null;
}

function ShownUndo({ id, text, action, onUndo }: ShownUndoProps) {
  const close = useCallbackRef(() => {
    undo.close(id);
  });
  const goBack = (): void => {
    onUndo?.();
    close();
  };
  useHotkeys([["mod+z", goBack]]);
  return <UndoToast text={text} action={action} onUndo={onUndo && goBack} onClose={close} />;
}
