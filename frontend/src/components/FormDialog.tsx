import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { ErrorLine } from "./StateView";

interface FormDialogProps {
  readonly title: string;
  readonly size?: "md" | "lg" | "xl";
  /** The button that submits; "Save" if it is not given. */
  readonly action?: string;
  readonly isDangerous?: boolean;
  /** Whether the form is complete. */
  readonly isReady?: boolean;
  readonly isPending?: boolean;
  readonly error?: Error | null;
  /** Stands beside the buttons. */
  readonly note?: ReactNode;
  /** Called only with a complete form, and not again while it is pending. */
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog with a form: its fields, what went wrong, and the buttons that cancel and submit it. */
export function FormDialog({
  title,
  size = "md",
  action = "Save",
  isDangerous = false,
  isReady = true,
  isPending = false,
  error = null,
  note,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  return (
    <Modal opened onClose={onClose} title={title} size={size}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isPending) {
            onSubmit();
          }
        }}
      >
        <Stack gap="sm">
          {children}
          <ErrorLine error={error} />
          <Group justify={note === undefined ? "flex-end" : "space-between"}>
            {note}
            <Group>
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={isPending} disabled={!isReady} {...(isDangerous ? { color: "red" } : {})}>
                {action}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
