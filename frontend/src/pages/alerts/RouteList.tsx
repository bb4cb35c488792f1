import { api } from "../../api/client";
import { ActionIcon, Group, Table, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { isAdministrator, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import { describeMatch, describeSending, moved } from "../../logic/alert";
import type { AlertChannelInfo, AlertRouteInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import type { Zone } from "../../logic/zone";
import { counted } from "../../logic/counted";
import { EditDelete } from "./EditDelete";
import { ListSection, SendingState } from "./ListSection";
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
    mutationFn: (ids: number[]) => api.PUT("/alert-routes/order", { body: { ids } }),
    onSettled: () => client.invalidateQueries({ queryKey: ["alerts", "routes"] }),
  });
  return (
    <>
      <ListSection
        title="Routes"
        add={
          mayChange && channels.length > 0
            ? {
                label: "New route",
                onAdd: () => {
                  setEdited(null);
                },
              }
            : null
        }
        note={<ErrorLine error={ordering.error} />}
        empty={
          routes.length > 0
            ? null
            : {
                kind: "empty",
                title: "No routes yet",
                next:
                  channels.length === 0
                    ? "A route needs a channel to send to."
                    : "Add one: it says which episodes go to which channel.",
              }
        }
        columns={["Name", "Which episodes", "What it sends", "State"]}
      >
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
      </ListSection>
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
    </>
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
  const { name, settings } = route;
  const nameOf = (id: number): string => channels.find((channel) => channel.id === id)?.name ?? String(id);
  return (
    <Table.Tr>
      <Table.Td fw={600}>{name}</Table.Td>
      <Table.Td>{settings !== null && describeMatch(settings)}</Table.Td>
      <Table.Td>{settings !== null && describeSending(settings, nameOf)}</Table.Td>
      <Table.Td>
        <SendingState settings={settings} isEnabled={route.is_enabled} />
        {route.n_open > 0 && (
          <Text fz="xs" className="soft">
            {`${counted(route.n_open, "alert")} open`}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {mayChange && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <ActionIcon
              aria-label={`Move ${name} up`}
              disabled={isFirst}
              onClick={() => {
                onMove(-1);
              }}
            >
              <IconArrowUp size={15} />
            </ActionIcon>
            <ActionIcon
              aria-label={`Move ${name} down`}
              disabled={isLast}
              onClick={() => {
                onMove(1);
              }}
            >
              <IconArrowDown size={15} />
            </ActionIcon>
            <EditDelete
              name={name}
              deleteTitle={`Delete the route ${name}?`}
              deleteText={`It stops sending, including the end of its open alerts (${formatCount(route.n_open)}).`}
              onEdit={() => {
                onEdit(route);
              }}
              onDelete={() => api.DELETE("/alert-routes/{id}", { params: { path: { id: route.id } } })}
            />
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
