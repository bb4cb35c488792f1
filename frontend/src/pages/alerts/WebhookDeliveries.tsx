import { api } from "../../api/client";
import { Button, Table, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { webhookDeliveriesQuery, WEBHOOKS_KEY } from "../../api/webhooks";
import { Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import type { WebhookDelivery, WebhookInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { canRetry, DELIVERY_STATES, TOPIC_WORDS } from "../../logic/webhook";
import type { Zone } from "../../logic/zone";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

const STEP = 50;
/** The server's limit. */
const MAX = 500;

interface WebhookDeliveriesProps {
  readonly webhook: WebhookInfo;
  readonly zone: Zone;
  readonly mayChange: boolean;
}

/** What was sent to a webhook, the latest first: whether it arrived, and what the receiver said. */
export function WebhookDeliveries({ webhook, zone, mayChange }: WebhookDeliveriesProps) {
  const [limit, setLimit] = useState(STEP);
  const deliveries = useQuery(webhookDeliveriesQuery(webhook.id, limit));
  const title = "Last deliveries";
  const shown = deliveries.data?.deliveries;
  return (
    <section>
      <Title order={2} fz="md" mb="xs">
        {title}
      </Title>
      {mayChange && !webhook.is_enabled && webhook.n_failed > 0 && (
        <Text fz="sm" mb="xs">
          This webhook is off. To send a failed message again, edit it and let it send messages.
        </Text>
      )}
      <ScrollCard label={title}>
        {shown === undefined ? (
          <PendingView isCompact query={deliveries} what="the deliveries" />
        ) : shown.length === 0 ? (
          <StateView
            isCompact
            state={{
              kind: "empty",
              title: "Nothing sent yet",
              next: "Messages appear here with the receiver's answer, for 30 days. A test is not listed.",
            }}
          />
        ) : (
          <Table aria-label={title} className="alerts-table">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Noted</Table.Th>
                <Table.Th>What it is</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Answer</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((delivery) => (
                <DeliveryRow
                  key={delivery.id}
                  delivery={delivery}
                  zone={zone}
                  mayRetry={mayChange && canRetry(delivery, webhook)}
                />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {shown !== undefined && shown.length >= limit && limit < MAX && (
        <Button
          mt="xs"
          size="compact-sm"
          variant="default"
          onClick={() => {
            setLimit(limit + STEP);
          }}
        >
          {`Show more than ${formatCount(limit)}`}
        </Button>
      )}
    </section>
  );
}

interface DeliveryRowProps {
  readonly delivery: WebhookDelivery;
  readonly zone: Zone;
  readonly mayRetry: boolean;
}

function DeliveryRow({ delivery, zone, mayRetry }: DeliveryRowProps) {
  const client = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => api.POST("/webhook-deliveries/{id}/retry", { params: { path: { id: delivery.id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY }),
  });
  const { topic, state, n_tries, sent_at, next_try_at, answer } = delivery;
  return (
    <Table.Tr>
      <Table.Td>
        <Instant at={fromApi(delivery.created_at)} zone={zone} />
      </Table.Td>
      <Table.Td>{TOPIC_WORDS[topic].label}</Table.Td>
      <Table.Td>
        <span className={state === "failed" ? "alerts-failed" : undefined}>
          {DELIVERY_STATES[state]}
          {n_tries > 0 && ` (${counted(n_tries, "attempt")})`}
        </span>
        {sent_at !== null && (
          <>
            {" "}
            <Instant at={fromApi(sent_at)} zone={zone} />
          </>
        )}
        {state === "queued" && n_tries > 0 && nodes`, next attempt ${<Instant at={fromApi(next_try_at)} zone={zone} />}`}
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>
        {answer === "" ? <span className="soft">no answer yet</span> : answer}
      </Table.Td>
      <Table.Td>
        {mayRetry && (
          <Button
            size="compact-sm"
            variant="default"
            loading={retrying.isPending}
            aria-label={`Send again: delivery ${String(delivery.id)}`}
            onClick={() => {
              retrying.mutate();
            }}
          >
            Send again
          </Button>
        )}
        <ErrorLine error={retrying.error} />
      </Table.Td>
    </Table.Tr>
  );
}
