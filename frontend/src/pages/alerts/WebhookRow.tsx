import { api } from "../../api/client";
import { Button, Group, Table, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { WEBHOOKS_KEY } from "../../api/webhooks";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ErrorLine } from "../../components/StateView";
import type { Topic, WebhookInfo } from "../../logic/api";
import { formatWithUnit } from "../../logic/number";
import { SECOND } from "../../logic/time";
import { describeTopics, describeWaiting, heldUntil } from "../../logic/webhook";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import type { Clock } from "../../state/url";
import { DEFAULT_WATCH_VIEW, encodeWatchView } from "../../state/watch";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import { EditDelete } from "./EditDelete";

interface WebhookRowProps {
  readonly webhook: WebhookInfo;
  /** All that a webhook can be told of. */
  readonly topics: readonly Topic[];
  /** Whether its deliveries are on the page already. */
  readonly isAlone: boolean;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly mayChange: boolean;
  readonly onEdit: (webhook: WebhookInfo) => void;
}

/** A webhook: what it receives, how its deliveries go, and a test with what the receiver said. */
export function WebhookRow({ webhook, topics, isAlone, zone, clock, mayChange, onEdit }: WebhookRowProps) {
  const { id, name, n_failed } = webhook;
  const held = heldUntil(webhook, useNow(SECOND));
  return (
    <Table.Tr>
      <Table.Td fw={600} style={{ overflowWrap: "anywhere" }}>
        {name}
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{webhook.endpoint}</Table.Td>
      <Table.Td>{describeTopics(webhook.topics, topics)}</Table.Td>
      <Table.Td>
        {describeWaiting(webhook)}
        {n_failed > 0 && <div className="alerts-failed">{`${counted(n_failed, "message")} failed`}</div>}
        {!isAlone && (
          <PageLink
            to="/rules"
            search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "webhooks", webhook: id })}
            display="block"
            fz="sm"
            aria-label={`Last deliveries: ${name}`}
          >
            Last deliveries
          </PageLink>
        )}
      </Table.Td>
      <Table.Td>
        {webhook.is_enabled ? "sends" : "off"}
        {held !== null && <Text fz="xs">{nodes`Next attempt ${<Instant at={held} zone={zone} />}; the last one failed.`}</Text>}
      </Table.Td>
      <Table.Td>{mayChange && <Actions webhook={webhook} onEdit={onEdit} />}</Table.Td>
    </Table.Tr>
  );
}

function Actions({ webhook, onEdit }: Pick<WebhookRowProps, "webhook" | "onEdit">) {
  const { id, name } = webhook;
  const testing = useMutation({ mutationFn: () => api.POST("/webhooks/{id}/test", { params: { path: { id } } }) });
  return (
    <>
      <Group gap={4} justify="flex-end">
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Send a test: ${name}`}
          loading={testing.isPending}
          onClick={() => {
            testing.mutate();
          }}
        >
          Send a test
        </Button>
        <EditDelete
          name={name}
          deleteTitle={`Delete the webhook ${name}?`}
          deleteText="Its receiver gets nothing more. What waits for it and its list of deliveries are deleted, too."
          queryKey={WEBHOOKS_KEY}
          onEdit={() => {
            onEdit(webhook);
          }}
          onDelete={() => api.DELETE("/webhooks/{id}", { params: { path: { id } } })}
        />
      </Group>
      {testing.isPending && (
        <Text fz="sm" className="soft" role="status">
          Waiting for the receiver, up to 30 s…
        </Text>
      )}
      {testing.data && (
        <Text
          fz="sm"
          role="status"
          className={testing.data.is_sent ? undefined : "alerts-failed"}
          maw={420}
          style={{ overflowWrap: "anywhere" }}
        >
          {testing.data.is_sent ? `Sent. The receiver said: ${testing.data.answer}` : `Not sent: ${testing.data.answer}`}
          {` (${formatWithUnit(testing.data.seconds, 3, "s")})`}
        </Text>
      )}
      <ErrorLine error={testing.error} />
    </>
  );
}
