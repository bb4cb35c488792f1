import { Button, Table, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { retryWebhookDelivery, webhookDeliveriesQuery, WEBHOOKS_KEY } from "../../api/webhooks";
import { Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import type { WebhookDelivery, WebhookInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { canRetry, DELIVERY_STATES, TOPIC_WORDS } from "../../logic/webhook";
import type { Zone } from "../../logic/zone";
import { words } from "../../words";

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
  const title = words.webhooks.list.lastDeliveries;
  const shown = deliveries.data?.deliveries;
  return (
    <section>
      <Title order={2} fz="md" mb="xs">
        {title}
      </Title>
      {mayChange && !webhook.is_enabled && webhook.n_failed > 0 && (
        <Text fz="sm" mb="xs">
          {words.webhooks.deliveries.isOff}
        </Text>
      )}
      <ScrollCard label={title}>
        {shown === undefined ? (
          <PendingView isCompact query={deliveries} what={words.webhooks.deliveries.theDeliveries} />
        ) : shown.length === 0 ? (
          <StateView
            isCompact
            state={{ kind: "empty", title: words.webhooks.deliveries.none, next: words.webhooks.deliveries.noneNext }}
          />
        ) : (
          <Table aria-label={title} className="alerts-table">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.webhooks.deliveries.noted}</Table.Th>
                <Table.Th>{words.watch.onNow.what}</Table.Th>
                <Table.Th>{words.common.state}</Table.Th>
                <Table.Th>{words.webhooks.deliveries.answer}</Table.Th>
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
          {words.webhooks.deliveries.showMore(formatCount(limit))}
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
    mutationFn: () => retryWebhookDelivery(delivery.id),
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
          {n_tries > 0 && ` (${words.watch.alerts.nTries(n_tries)})`}
        </span>
        {sent_at !== null && (
          <>
            {" "}
            <Instant at={fromApi(sent_at)} zone={zone} />
          </>
        )}
        {state === "queued" && n_tries > 0 && words.watch.alerts.nextTry(<Instant at={fromApi(next_try_at)} zone={zone} />)}
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>
        {answer === "" ? <span className="soft">{words.webhooks.deliveries.noAnswer}</span> : answer}
      </Table.Td>
      <Table.Td>
        {mayRetry && (
          <Button
            size="compact-sm"
            variant="default"
            loading={retrying.isPending}
            aria-label={words.webhooks.deliveries.retryNo(String(delivery.id))}
            onClick={() => {
              retrying.mutate();
            }}
          >
            {words.webhooks.deliveries.retry}
          </Button>
        )}
        <ErrorLine error={retrying.error} />
      </Table.Td>
    </Table.Tr>
  );
}
