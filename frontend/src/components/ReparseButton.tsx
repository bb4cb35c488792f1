import { api } from "../api/client";
import { Button, Group, Progress, Text, Tooltip } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { REPARSE_KEYS, reparsesQuery } from "../api/queries";
import type { Reparse, ReparseCreate } from "../logic/api";
import { describeReparse, findReparse, isActive, percentDone, progressInBytes } from "../logic/job";
import { mayWrite, useMe } from "./me";
import { ErrorLine } from "./StateView";

interface ReparseButtonProps {
  /** What to reparse: one stream, or the streams of a spec or a host. */
  readonly request: ReparseCreate;
  /** Part of the button's accessible name, where a page has several. */
  readonly what: string;
  readonly label?: string;
}

/** Starts a reparse and shows its progress. Only for users who may write. */
export function ReparseButton({ request, what, label = "Reparse" }: ReparseButtonProps) {
  const me = useMe();
  const client = useQueryClient();
  const [startedId, setStartedId] = useState<number | null>(null);
  const list = useQuery({ ...reparsesQuery, enabled: mayWrite(me) });
  const reparse = findReparse(list.data?.reparses ?? [], request, startedId);
  const starting = useMutation({
    mutationFn: () => api.POST("/reparses", { body: request }),
    onSuccess: (made) => {
      setStartedId(made.id);
      void client.invalidateQueries({ queryKey: reparsesQuery.queryKey });
    },
  });
  const stopping = useMutation({
    mutationFn: (id: number) => api.DELETE("/reparses/{id}", { params: { path: { id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: reparsesQuery.queryKey }),
  });
  const isOver = reparse !== null && !isActive(reparse);
  useEffect(() => {
    if (isOver) {
      for (const queryKey of REPARSE_KEYS) {
        void client.invalidateQueries({ queryKey });
      }
    }
  }, [isOver, client]);

  if (!mayWrite(me)) {
    return (
      <Text fz="sm" className="soft">
        Ask an operator to reparse it.
      </Text>
    );
  }
  return (
    <Group gap="sm">
      {reparse !== null && isActive(reparse) ? (
        <RunningReparse
          reparse={reparse}
          what={what}
          isStopping={stopping.isPending}
          onStop={() => {
            stopping.mutate(reparse.id);
          }}
        />
      ) : (
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconRefresh size={14} aria-hidden />}
          loading={starting.isPending}
          aria-label={`${label}: ${what}`}
          onClick={() => {
            starting.mutate();
          }}
        >
          {label}
        </Button>
      )}
      {reparse !== null && !isActive(reparse) && (
        <Text fz="sm" role="status" {...(reparse.state === "failed" ? { c: "var(--bad)" } : {})}>
          {reparse.state === "done" ? "Reparsed: " : ""}
          {describeReparse(reparse)}
        </Text>
      )}
      <ErrorLine error={starting.error ?? stopping.error} />
    </Group>
  );
}

interface RunningReparseProps {
  readonly reparse: Reparse;
  readonly what: string;
  readonly isStopping: boolean;
  readonly onStop: () => void;
}

function RunningReparse({ reparse, what, isStopping, onStop }: RunningReparseProps) {
  const percent = percentDone(progressInBytes(reparse)) ?? 0;
  return (
    <Group gap="sm" wrap="nowrap" role="group" aria-label={`Reparsing: ${what}`}>
      <Progress w={120} style={{ flex: "none" }} value={percent} aria-label={`Reparsing: ${what}`} />
      <Tooltip label="The old samples are shown until the reparse is done">
        <Text fz="sm">
          {percent} %, {describeReparse(reparse)}
        </Text>
      </Tooltip>
      <Button size="compact-xs" variant="default" loading={isStopping} onClick={onStop}>
        Stop
      </Button>
    </Group>
  );
}
