import { Button, Code, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnectedX, IconRefresh } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { nodes } from "./nodes";

/** The server's code where there are no samples: nothing is wrong, and the message says which there are. */
const NO_DATA = "no_data";

/** The states of a view without data; in `ready` and `partial` the view draws itself. */
export type PendingState =
  | { readonly kind: "loading"; readonly what?: string }
  | { readonly kind: "error"; readonly error: Error; readonly onRetry?: () => void }
  | { readonly kind: "empty"; readonly title: string; readonly next?: ReactNode };

interface StateViewProps {
  readonly state: PendingState;
  /** Small enough for the inside of a panel. */
  readonly isCompact?: boolean;
}

/** Shows that data is loading, failed to load or is missing, and what to do next. */
export function StateView({ state, isCompact = false }: StateViewProps) {
  const gap = isCompact ? 4 : "sm";
  const padding = isCompact ? "xs" : "xl";
  switch (state.kind) {
    case "loading":
      return (
        <Group justify="center" p={padding} gap="xs" role="status">
          <Loader size={isCompact ? "xs" : "sm"} color="gray" />
          <Text fz="sm" className="soft">
            {`Loading${state.what === undefined ? "" : ` ${state.what}`} …`}
          </Text>
        </Group>
      );
    case "empty":
      return (
        <Stack align="center" ta="center" gap={gap} p={padding}>
          <Text fw={600} fz={isCompact ? "sm" : "md"}>
            {state.title}
          </Text>
          {state.next !== undefined && (
            <Text component="div" fz="sm" className="soft" maw={640}>
              {state.next}
            </Text>
          )}
        </Stack>
      );
    case "error":
      return <ErrorView error={state.error} isCompact={isCompact} {...(state.onRetry ? { onRetry: state.onRetry } : {})} />;
  }
}

interface PendingViewProps {
  readonly query: { readonly error: Error | null; readonly refetch: () => Promise<unknown> };
  /** What is loading. */
  readonly what?: string;
  readonly isCompact?: boolean;
}

/** Shows that a query is loading, or that it failed, with a way to ask again. */
export function PendingView({ query: { error, refetch }, what, isCompact = false }: PendingViewProps) {
  return (
    <StateView
      isCompact={isCompact}
      state={
        error
          ? { kind: "error", error, onRetry: () => void refetch() }
          : { kind: "loading", ...(what === undefined ? {} : { what }) }
      }
    />
  );
}

function ErrorView({
  error,
  onRetry,
  isCompact,
}: {
  readonly error: Error;
  readonly onRetry?: () => void;
  readonly isCompact: boolean;
}) {
  const api = error instanceof ApiError ? error : null;
  if (api?.code === NO_DATA) {
    return <StateView isCompact={isCompact} state={{ kind: "empty", title: error.message }} />;
  }
  const Icon = api?.status === 0 ? IconPlugConnectedX : IconAlertTriangle;
  return (
    <Stack align="center" ta="center" gap={isCompact ? 4 : "sm"} p={isCompact ? "xs" : "xl"} role="alert">
      <Group gap={8} wrap="nowrap">
        <Icon size={isCompact ? 16 : 20} color="var(--bad)" aria-hidden />
        {isCompact ? (
          <Text fw={600} fz="sm">
            {error.message}
          </Text>
        ) : (
          <Title order={3}>{error.message}</Title>
        )}
      </Group>
      <Group gap={8} justify="center">
        {api && (
          <Text fz="xs" className="soft" component="span">
            {nodes`code ${<Code>{api.code}</Code>}`}
            {api.requestId !== "" && <> {nodes`request ${<Code>{api.requestId}</Code>}`}</>}
          </Text>
        )}
        {onRetry && (
          <Button size="compact-xs" variant="default" leftSection={<IconRefresh size={13} />} onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** The error of a form, on one line. */
export function ErrorLine({ error }: { readonly error: Error | null }) {
  if (error === null) {
    return null;
  }
  const api = error instanceof ApiError ? error : null;
  if (api?.code === NO_DATA) {
    return (
      <Text fz="sm" className="soft" role="status">
        {error.message}
      </Text>
    );
  }
  return (
    <Text fz="sm" c="var(--bad)" role="alert">
      {error.message}
      {api !== null && api.requestId !== "" && (
        <Text span fz="xs" className="soft">
          {` (${api.code}, request ${api.requestId})`}
        </Text>
      )}
    </Text>
  );
}
