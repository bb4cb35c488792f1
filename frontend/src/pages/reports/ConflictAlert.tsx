import { Alert, Button, Group } from "@mantine/core";
import { ApiError } from "../../api/client";
import { ErrorLine } from "../../components/StateView";

interface ConflictAlertProps {
  readonly error: Error | null;
  /** Loads what is there now; what was typed here is dropped. */
  readonly onLoad: () => void;
}

/** What went wrong when something of a report was saved; where another user changed it first, the way on. */
export function ConflictAlert({ error, onLoad }: ConflictAlertProps) {
  if (error === null || !isConflict(error)) {
    return <ErrorLine error={error} />;
  }
  return (
    <Alert color="orange" title="Changed by another user: load again" role="alert">
      <Group justify="space-between" gap="xs">
        <span>{error.message}</span>
        <Button size="compact-sm" variant="default" onClick={onLoad}>
          Reload and discard your change
        </Button>
      </Group>
    </Alert>
  );
}

/** Other conflicts, such as that of a comparison to freeze, name no revision. */
function isConflict(error: Error): boolean {
  return error instanceof ApiError && error.status === 409 && "revision" in error.details;
}
