import { Button, Group, Table, Text, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteChannel, testChannel } from "../../api/alerts";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Instant } from "../../components/Instant";
import { isAdministrator, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, StateView } from "../../components/StateView";
import { KIND_LABELS, toKind } from "../../logic/alert";
import type { AlertChannelInfo, AlertChannelList } from "../../logic/api";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { words } from "../../words";
import { ChannelDialog } from "./ChannelDialog";

interface ChannelListProps {
  readonly channels: AlertChannelList;
  readonly zone: Zone;
}

/** Where messages go. A channel is tested with a message that says so. */
export function ChannelList({ channels: { channels, scripts, n_waiting, waiting_since }, zone }: ChannelListProps) {
  const me = useMe();
  const mayChange = isAdministrator(me);
  // A channel, or null for a new one; undefined: no dialog.
  const [edited, setEdited] = useState<AlertChannelInfo | null | undefined>();
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} fz="md">
          {words.watch.alerts.channels}
        </Title>
        {mayChange && (
          <Button
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              setEdited(null);
            }}
          >
            {words.watch.alerts.newChannel}
          </Button>
        )}
      </Group>
      {waiting_since !== null && (
        <Text fz="sm" mb="xs">
          {words.watch.alerts.nWaiting(n_waiting)} {words.watch.onNow.since(<Instant at={fromApi(waiting_since)} zone={zone} />)}
        </Text>
      )}
      <ScrollCard label={words.watch.alerts.channels}>
        {channels.length === 0 ? (
          <StateView
            isCompact
            state={{
              kind: "empty",
              title: words.watch.alerts.noChannels,
              next: mayChange ? words.watch.alerts.noChannelsNext : words.watch.alerts.askAdministrator,
            }}
          />
        ) : (
          <Table aria-label={words.watch.alerts.channels} className="alerts-table">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.common.name}</Table.Th>
                <Table.Th>{words.common.kind}</Table.Th>
                <Table.Th>{words.watch.alerts.reaches}</Table.Th>
                <Table.Th>{words.watch.alerts.usedBy}</Table.Th>
                <Table.Th>{words.common.state}</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {channels.map((channel) => (
                <ChannelRow key={channel.id} channel={channel} zone={zone} mayChange={mayChange} onEdit={setEdited} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {edited !== undefined && (
        <ChannelDialog
          channel={edited}
          scripts={scripts}
          onClose={() => {
            setEdited(undefined);
          }}
        />
      )}
    </section>
  );
}

interface ChannelRowProps {
  readonly channel: AlertChannelInfo;
  readonly zone: Zone;
  readonly mayChange: boolean;
  readonly onEdit: (channel: AlertChannelInfo) => void;
}

function ChannelRow({ channel, zone, mayChange, onEdit }: ChannelRowProps) {
  const client = useQueryClient();
  const [isDeleting, setDeleting] = useState(false);
  const testing = useMutation({ mutationFn: () => testChannel(channel.id) });
  const deleting = useMutation({
    mutationFn: () => deleteChannel(channel.id),
    onSuccess: async () => {
      setDeleting(false);
      await client.invalidateQueries({ queryKey: ["alerts"] });
    },
  });
  const kind = toKind(channel.kind);
  const { name, settings } = channel;
  return (
    <Table.Tr>
      <Table.Td fw={600}>{name}</Table.Td>
      <Table.Td>{kind === null ? channel.kind : KIND_LABELS[kind]}</Table.Td>
      <Table.Td>
        {channel.endpoint}
        {settings?.kind === "email" && (
          <Text fz="xs" className="soft">
            {settings.recipients.join(", ")}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {channel.routes.length === 0 ? <span className="soft">{words.watch.alerts.noRoute}</span> : channel.routes.join(", ")}
      </Table.Td>
      <Table.Td>
        {settings === null ? (
          <span className="alerts-failed">{words.watch.alerts.unreadable}</span>
        ) : channel.is_enabled ? (
          words.watch.alerts.on
        ) : (
          words.watch.alerts.off
        )}
        {channel.held_until !== null && (
          <Text fz="xs">{words.watch.alerts.heldUntil(<Instant at={fromApi(channel.held_until)} zone={zone} />)}</Text>
        )}
      </Table.Td>
      <Table.Td>
        {mayChange && (
          <Group gap={4} justify="flex-end">
            <Button
              size="compact-sm"
              variant="default"
              aria-label={words.watch.alerts.testName(name)}
              loading={testing.isPending}
              onClick={() => {
                testing.mutate();
              }}
            >
              {words.watch.alerts.test}
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={words.watch.alerts.editName(name)}
              onClick={() => {
                onEdit(channel);
              }}
            >
              {words.common.edit}
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={words.watch.alerts.deleteName(name)}
              onClick={() => {
                setDeleting(true);
              }}
            >
              {words.common.delete}
            </Button>
          </Group>
        )}
        {testing.data && (
          <Text fz="sm" role="status" className={testing.data.is_sent ? undefined : "alerts-failed"} maw={420}>
            {testing.data.is_sent
              ? words.watch.alerts.testSent(testing.data.answer)
              : words.watch.alerts.testFailed(testing.data.answer)}
          </Text>
        )}
        <ErrorLine error={testing.error} />
        {isDeleting && (
          <ConfirmDialog
            title={words.watch.alerts.deleteChannel(name)}
            action={words.common.delete}
            isPending={deleting.isPending}
            error={deleting.error}
            onConfirm={() => {
              deleting.mutate();
            }}
            onClose={() => {
              setDeleting(false);
            }}
          >
            {words.watch.alerts.deleteChannelText}
          </ConfirmDialog>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
