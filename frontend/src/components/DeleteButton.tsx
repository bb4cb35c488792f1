import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "./ConfirmDialog";

interface DeleteButtonProps {
  /** What the button is called where several stand on a page. */
  readonly label?: string;
  readonly size?: "compact-sm";
  readonly title: string;
  /** What is lost. */
  readonly children: ReactNode;
  readonly onDelete: () => Promise<unknown>;
  /** Shows the page without what was deleted. */
  readonly onDeleted: () => Promise<unknown>;
}

/** A button that deletes a thing after a question; a failure is shown where it was asked. */
export function DeleteButton({ label, size, title, children, onDelete, onDeleted }: DeleteButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const deleting = useMutation({
    mutationFn: onDelete,
    onSuccess: async () => {
      setAsking(false);
      await onDeleted();
    },
  });
  return (
    <>
      <Button
        variant="default"
        {...(size === undefined ? {} : { size })}
        {...(label === undefined ? {} : { "aria-label": label })}
        onClick={() => {
          deleting.reset();
          setAsking(true);
        }}
      >
        Delete
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={title}
          action="Delete"
          isPending={deleting.isPending}
          error={deleting.error}
          onConfirm={() => {
            deleting.mutate();
          }}
          onClose={() => {
            setAsking(false);
          }}
        >
          {children}
        </ConfirmDialog>
      )}
    </>
  );
}
