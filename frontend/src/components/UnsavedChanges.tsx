import { useBlocker } from "@tanstack/react-router";
import { ConfirmDialog } from "./ConfirmDialog";

interface UnsavedChangesProps {
  /** Of what is edited. */
  readonly name: string;
  /** Whether there are changes that are not saved. */
  readonly isUnsaved: boolean;
}

/** Asks before a page with unsaved changes is left. */
export function UnsavedChanges({ name, isUnsaved }: UnsavedChangesProps) {
  const leaving = useBlocker({ shouldBlockFn: () => isUnsaved, enableBeforeUnload: () => isUnsaved, withResolver: true });
  return leaving.status !== "blocked" ? null : (
    <ConfirmDialog
      title="Leave without saving?"
      action="Leave"
      isPending={false}
      error={null}
      onConfirm={leaving.proceed}
      onClose={leaving.reset}
    >
      {`Your changes to ${name} are not saved.`}
    </ConfirmDialog>
  );
}
