import { Alert, Code, Stack, Text } from "@mantine/core";
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
import { words } from "../../words";
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
    return <PendingView query={webhooks} what={words.webhooks.list.theWebhooks} />;
  }
  const isKnown = webhooks.data.webhooks.some(({ id }) => id === keyed?.id);
  return (
    <Stack gap="lg">
      {webhook === null ? (
        <Text fz="sm" className="soft" maw={860}>
          {words.webhooks.list.whatTheyAre(
            <PageLink
              to="/watch"
              search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "alerts" })}
              fz="inherit"
              underline="always"
            >
              {words.webhooks.list.byAlerts}
            </PageLink>,
          )}{" "}
          {words.webhooks.list.docs(<Code>docs/webhooks.md</Code>)}
        </Text>
      ) : (
        <PageLink to="/watch" search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "webhooks" })} fz="sm">
          {words.webhooks.list.allWebhooks}
        </PageLink>
      )}
      {isKnown && keyed?.signing_key != null && (
        <Alert
          color="green"
          title={words.webhooks.signingKey.shownOnce(keyed.name)}
          withCloseButton
          closeButtonLabel={words.common.close}
          onClose={() => {
            setKeyed(null);
          }}
        >
          <Text fz="sm" mb="xs">
            {words.webhooks.signingKey.help}
          </Text>
          <CopyBox text={keyed.signing_key} what={words.webhooks.signingKey.theKey} />
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
        title={
          webhook === null ? words.webhooks.list.webhooks : (shown[0]?.name ?? words.webhooks.list.webhookNo(String(webhook)))
        }
        add={
          mayChange && webhook === null
            ? {
                label: words.webhooks.list.newWebhook,
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
                  title: words.webhooks.list.noWebhooks,
                  next: mayChange ? words.webhooks.list.noWebhooksNext : words.webhooks.list.askAdministrator,
                }
              : { kind: "empty", title: words.webhooks.list.noWebhook(String(webhook)), next: words.webhooks.list.noWebhookNext }
        }
        columns={[
          words.common.name,
          words.watch.alerts.reaches,
          words.webhooks.list.toldOf,
          words.webhooks.list.deliveries,
          words.common.state,
        ]}
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
