import { ActionIcon, Button, Group, Table, Text, Title } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconPlus } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteRoute, orderRoutes } from "../../api/alerts";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { isAdministrator, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, StateView } from "../../components/StateView";
import { describeMatch, describeSending, moved } from "../../logic/alert";
import type { AlertChannelInfo, AlertRouteInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import type { Zone } from "../../logic/zone";
import { words } from "../../words";
import { RouteDialog } from "./RouteDialog";

interface RouteListProps {
  readonly routes: readonly AlertRouteInfo[];
  readonly channels: readonly AlertChannelInfo[];
  readonly zone: Zone;
}

/** Which episodes become messages, in the order in which routes are asked. */
export function RouteList({ routes, channels, zone }: RouteListProps) {
  const me = useMe();
  const client = useQueryClient();
  const mayChange = isAdministrator(me);
  // A route, or null for a new one; undefined: no dialog.
  const [edited, setEdited] = useState<AlertRouteInfo | null | undefined>();
  const ids = routes.map(({ id }) => id);
  const ordering = useMutation({
    mutationFn: orderRoutes,
    onSettled: () => client.invalidateQueries({ queryKey: ["alerts", "routes"] }),
  });
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} fz="md">
          {words.watch.alerts.routes}
        </Title>
        {mayChange && channels.length > 0 && (
          <Button
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              setEdited(null);
            }}
          >
            {words.watch.alerts.newRoute}
          </Button>
        )}
      </Group>
      <ErrorLine error={ordering.error} />
      <ScrollCard label={words.watch.alerts.routes}>
        {routes.length === 0 ? (
          <StateView
            isCompact
            state={{
              kind: "empty",
              title: words.watch.alerts.noRoutes,
              next: channels.length === 0 ? words.watch.alerts.noRoutesNoChannels : words.watch.alerts.noRoutesNext,
            }}
          />
        ) : (
          <Table aria-label={words.watch.alerts.routes} className="alerts-table">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.common.name}</Table.Th>
                <Table.Th>{words.watch.alerts.takes}</Table.Th>
                <Table.Th>{words.watch.alerts.does}</Table.Th>
                <Table.Th>{words.common.state}</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {routes.map((route, place) => (
                <RouteRow
                  key={route.id}
                  route={route}
                  channels={channels}
                  mayChange={mayChange}
                  isFirst={place === 0}
                  isLast={place === routes.length - 1}
                  onEdit={setEdited}
                  onMove={(by) => {
                    ordering.mutate(moved(ids, route.id, by));
                  }}
                />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {edited !== undefined && (
        <RouteDialog
          route={edited}
          channels={channels}
          zone={zone}
          onClose={() => {
            setEdited(undefined);
          }}
        />
      )}
    </section>
  );
}

interface RouteRowProps {
  readonly route: AlertRouteInfo;
  readonly channels: readonly AlertChannelInfo[];
  readonly mayChange: boolean;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onEdit: (route: AlertRouteInfo) => void;
  readonly onMove: (by: -1 | 1) => void;
}

function RouteRow({ route, channels, mayChange, isFirst, isLast, onEdit, onMove }: RouteRowProps) {
  const client = useQueryClient();
  const [isDeleting, setDeleting] = useState(false);
  const deleting = useMutation({
    mutationFn: () => deleteRoute(route.id),
    onSuccess: async () => {
      setDeleting(false);
      await client.invalidateQueries({ queryKey: ["alerts"] });
    },
  });
  const { name, settings } = route;
  const nameOf = (id: number): string => channels.find((channel) => channel.id === id)?.name ?? String(id);
  return (
    <Table.Tr>
      <Table.Td fw={600}>{name}</Table.Td>
      <Table.Td>{settings !== null && describeMatch(settings)}</Table.Td>
      <Table.Td>{settings !== null && describeSending(settings, nameOf)}</Table.Td>
      <Table.Td>
        {settings === null ? (
          <span className="alerts-failed">{words.watch.alerts.unreadable}</span>
        ) : route.is_enabled ? (
          words.watch.alerts.on
        ) : (
          words.watch.alerts.off
        )}
        {route.n_open > 0 && (
          <Text fz="xs" className="soft">
            {words.watch.alerts.nOpen(route.n_open)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {mayChange && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <ActionIcon
              aria-label={words.watch.alerts.earlierName(name)}
              disabled={isFirst}
              onClick={() => {
                onMove(-1);
              }}
            >
              <IconArrowUp size={15} />
            </ActionIcon>
            <ActionIcon
              aria-label={words.watch.alerts.laterName(name)}
              disabled={isLast}
              onClick={() => {
                onMove(1);
              }}
            >
              <IconArrowDown size={15} />
            </ActionIcon>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={words.watch.alerts.editName(name)}
              onClick={() => {
                onEdit(route);
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
        {isDeleting && (
          <ConfirmDialog
            title={words.watch.alerts.deleteRoute(name)}
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
            {words.watch.alerts.deleteRouteText(formatCount(route.n_open))}
          </ConfirmDialog>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
