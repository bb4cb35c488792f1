import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { ErrorLine } from "./StateView";
import type { Submission } from "./useServerForm";

interface RowFormProps extends Submission {
  readonly action: string;
  readonly isMinor?: boolean;
  /** Labelled fields of size xs. */
  readonly children: ReactNode;
}

// A field's label above it. The fields stand at the top, so that an error below one moves no other.
export const LABEL_HEIGHT = 22;

/** A form whose fields stand in one row, its button after them. */
export function RowForm({ action, isMinor = false, isPending, error, onSubmit, children }: RowFormProps) {
  return (
    <form onSubmit={onSubmit}>
      <Group gap="xs" align="flex-start">
        {children}
        <Button mt={LABEL_HEIGHT} size="xs" type="submit" variant={isMinor ? "default" : "filled"} loading={isPending}>
          {action}
        </Button>
      </Group>
      <ErrorLine error={error} />
    </form>
  );
}
