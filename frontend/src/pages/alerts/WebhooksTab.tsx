import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { webhooksQuery } from "../../api/webhooks";
import { CopyBox } from "../../components/CopyBox";
import { isAdministrator, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { PendingView } from "../../components/StateView";
import type { WebhookInfo, WebhookList } from "../../logic/api";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";
import { DEFAULT_WATCH_VIEW, encodeWatchView } from "../../state/watch";
import { nodes } from "../../components/nodes";
import { ListSection } from "./ListSection";
import { WebhookDeliveries } from "./WebhookDeliveries";
import { WebhookDialog } from "./WebhookDialog";
import { WebhookRow } from "./WebhookRow";
import "./alerts.css";

interface WebhooksTabProps {
  readonly zone: Zone;
  readonly clock: Clock;
  /** The webhook to show alone, with its deliveries; null for all. */
  readonly webhook: number | null;
}

/** Programs that are told of changes: all of them, or one with what was sent to it. */
export function WebhooksTab({ zone, clock, webhook }: WebhooksTabProps) {
  const webhooks = useQuery(webhooksQuery);
  // Here, so that the key stays readable from the list to the deliveries; the server does not tell it again.
  const [keyed, setKeyed] = useState<WebhookInfo | null>(null);
  if (webhooks.data === undefined) {
    return <PendingView query={webhooks} what="the webhooks" />;
  }
  const isKnown = webhooks.data.webhooks.some(({ id }) => id === keyed?.id);
  return (
    <Stack gap="lg">
      {webhook === null ? (
        <Text fz="sm" className="soft" maw={860}>
          {nodes`A webhook tells a program of changes: events, baselines, saved comparisons, runs of experiments. What rules and the continuous comparison find is sent by ${(
            <PageLink
              to="/rules"
              search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "alerts" })}
              fz="inherit"
              underline="always"
            >
              alerts
            </PageLink>
          )}.`}{" "}
          {nodes`${(
            <Anchor href="/docs/alerts#webhooks-of-changes" target="_blank" fz="inherit" underline="always">
              Webhooks
            </Anchor>
          )} in the documentation says what arrives and how a receiver checks the signature.`}
        </Text>
      ) : (
        <PageLink to="/rules" search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "webhooks" })} fz="sm">
          All webhooks
        </PageLink>
      )}
      {isKnown && keyed?.signing_key != null && (
        <Alert
          color="green"
          title={`Signing key of ${keyed.name} (shown only once)`}
          withCloseButton
          closeButtonLabel="Close"
          onClose={() => {
            setKeyed(null);
          }}
        >
          <Text fz="sm" mb="xs">
            Give it to the receiver: with it the receiver checks that a message comes from normstat. If it is lost, edit the
            webhook and make a new one.
          </Text>
          <CopyBox text={keyed.signing_key} what="the signing key" />
        </Alert>
      )}
      <Webhooks
        list={webhooks.data}
        zone={zone}
        clock={clock}
        webhook={webhook}
        onSaved={(saved) => {
          if (saved.signing_key !== null) {
            setKeyed(saved);
          }
        }}
      />
    </Stack>
  );
}

interface WebhooksProps extends WebhooksTabProps {
  readonly list: WebhookList;
  readonly onSaved: (webhook: WebhookInfo) => void;
}

function Webhooks({ list: { webhooks, topics }, zone, clock, webhook, onSaved }: WebhooksProps) {
  const mayChange = isAdministrator(useMe());
  // A webhook, or null for a new one; undefined: no dialog.
  const [edited, setEdited] = useState<WebhookInfo | null | undefined>();
  const shown = webhook === null ? webhooks : webhooks.filter(({ id }) => id === webhook);
  return (
    <>
      <ListSection
        title={webhook === null ? "Webhooks" : (shown[0]?.name ?? `Webhook ${String(webhook)}`)}
        add={
          mayChange && webhook === null
            ? {
                label: "New webhook",
                onAdd: () => {
                  setEdited(null);
                },
              }
            : null
        }
        empty={
          shown.length > 0
            ? null
            : webhook === null
              ? {
                  kind: "empty",
                  title: "No webhooks yet",
                  next: mayChange
                    ? "Add one to tell a chat bot, a deployment or a ticket system when an event is noted or a baseline changes."
                    : "A webhook tells a chat bot, a deployment or a ticket system of changes. An administrator can add one.",
                }
              : {
                  kind: "empty",
                  title: `There is no webhook ${String(webhook)}`,
                  next: "It was deleted. The others are under All webhooks.",
                }
        }
        columns={["Name", "Reaches", "Sends", "Deliveries", "State"]}
      >
        {shown.map((each) => (
          <WebhookRow
            key={each.id}
            webhook={each}
            topics={topics}
            isAlone={webhook !== null}
            zone={zone}
            clock={clock}
            mayChange={mayChange}
            onEdit={setEdited}
          />
        ))}
      </ListSection>
      {webhook !== null &&
        shown.map((each) => <WebhookDeliveries key={each.id} webhook={each} zone={zone} mayChange={mayChange} />)}
      {edited !== undefined && (
        <WebhookDialog
          webhook={edited}
          topics={topics}
          onSaved={onSaved}
          onClose={() => {
            setEdited(undefined);
          }}
        />
      )}
    </>
  );
}
