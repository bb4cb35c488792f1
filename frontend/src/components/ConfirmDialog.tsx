import { Button, Group, Modal, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ErrorLine } from "./StateView";

interface ConfirmDialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks for confirmation before something is deleted. */
export function ConfirmDialog({ title, children, action, isPending, error, onConfirm, onClose }: ConfirmDialogProps) {
  return (
    <Modal opened onClose={onClose} title={title}>
      <Text fz="sm" component="div" mb="md">
        {children}
      </Text>
      <ErrorLine error={error} />
      <Group justify="flex-end" mt="sm">
        <Button variant="default" data-autofocus onClick={onClose}>
          Cancel
        </Button>
        <Button color="red" loading={isPending} onClick={onConfirm}>
          {action}
        </Button>
      </Group>
    </Modal>
  );
}
