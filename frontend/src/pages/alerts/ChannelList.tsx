import { api } from "../../api/client";
import { Button, Group, Table, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { Instant } from "../../components/Instant";
import { isAdministrator, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import { KIND_LABELS, toKind } from "../../logic/alert";
import type { AlertChannelInfo, AlertChannelList } from "../../logic/api";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import { ChannelDialog } from "./ChannelDialog";
import { EditDelete } from "./EditDelete";
import { ListSection, SendingState } from "./ListSection";

interface ChannelListProps {
  readonly channels: AlertChannelList;
  readonly zone: Zone;
}

/** Where messages go. A channel is tested with a message that says so. */
export function ChannelList({ channels: { channels, scripts, services, n_waiting, waiting_since }, zone }: ChannelListProps) {
  const me = useMe();
  const mayChange = isAdministrator(me);
  // A channel, or null for a new one; undefined: no dialog.
  const [edited, setEdited] = useState<AlertChannelInfo | null | undefined>();
  return (
    <>
      <ListSection
        title="Channels"
        add={
          mayChange
            ? {
                label: "New channel",
                onAdd: () => {
                  setEdited(null);
                },
              }
            : null
        }
        note={
          waiting_since !== null && (
            <Text fz="sm" mb="xs">
              {`${counted(n_waiting, "message")} ${n_waiting === 1 ? "waits" : "wait"} to be sent,`}{" "}
              {nodes`since ${<Instant at={fromApi(waiting_since)} zone={zone} />}`}
            </Text>
          )
        }
        empty={
          channels.length > 0
            ? null
            : {
                kind: "empty",
                title: "No channels yet",
                next: mayChange
                  ? "Add one: a mail server, a chat, PagerDuty, a webhook, an Alertmanager or a script."
                  : "An administrator can add one.",
              }
        }
        columns={["Name", "Kind", "Reaches", "Used by", "State"]}
      >
        {channels.map((channel) => (
          <ChannelRow
            key={channel.id}
            channel={channel}
            services={services}
            zone={zone}
            mayChange={mayChange}
            onEdit={setEdited}
          />
        ))}
      </ListSection>
      {edited !== undefined && (
        <ChannelDialog
          channel={edited}
          scripts={scripts}
          services={services}
          onClose={() => {
            setEdited(undefined);
          }}
        />
      )}
    </>
  );
}

interface ChannelRowProps {
  readonly channel: AlertChannelInfo;
  readonly services: AlertChannelList["services"];
  readonly zone: Zone;
  readonly mayChange: boolean;
  readonly onEdit: (channel: AlertChannelInfo) => void;
}

function ChannelRow({ channel, services, zone, mayChange, onEdit }: ChannelRowProps) {
  const testing = useMutation({
    mutationFn: () => api.POST("/alert-channels/{id}/test", { params: { path: { id: channel.id } } }),
  });
  const kind = toKind(channel.kind);
  const { name, settings } = channel;
  const service = settings?.kind === "service" ? services.find((known) => known.name === settings.service) : undefined;
  return (
    <Table.Tr>
      <Table.Td fw={600}>{name}</Table.Td>
      <Table.Td>{service?.label ?? (kind === null ? channel.kind : KIND_LABELS[kind])}</Table.Td>
      <Table.Td>
        {channel.endpoint}
        {settings?.kind === "service" && settings.target !== "" && (
          <Text fz="xs" className="soft">
            {settings.target}
          </Text>
        )}
        {settings?.kind === "email" && (
          <Text fz="xs" className="soft">
            {settings.recipients.join(", ")}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{channel.routes.length === 0 ? <span className="soft">no route</span> : channel.routes.join(", ")}</Table.Td>
      <Table.Td>
        <SendingState settings={settings} isEnabled={channel.is_enabled} />
        {channel.held_until !== null && (
          <Text fz="xs">{nodes`The receiver asked for a pause until ${<Instant at={fromApi(channel.held_until)} zone={zone} />}.`}</Text>
        )}
      </Table.Td>
      <Table.Td>
        {mayChange && (
          <Group gap={4} justify="flex-end">
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Test ${name}`}
              loading={testing.isPending}
              onClick={() => {
                testing.mutate();
              }}
            >
              Test
            </Button>
            <EditDelete
              name={name}
              deleteTitle={`Delete the channel ${name}?`}
              deleteText="A channel that a route uses cannot be deleted. Messages that were sent stay in the list."
              onEdit={() => {
                onEdit(channel);
              }}
              onDelete={() => api.DELETE("/alert-channels/{id}", { params: { path: { id: channel.id } } })}
            />
          </Group>
        )}
        {testing.data && (
          <Text fz="sm" role="status" className={testing.data.is_sent ? undefined : "alerts-failed"} maw={420}>
            {testing.data.is_sent ? `Sent. The receiver said: ${testing.data.answer}` : `Not sent: ${testing.data.answer}`}
          </Text>
        )}
        <ErrorLine error={testing.error} />
      </Table.Td>
    </Table.Tr>
  );
}
