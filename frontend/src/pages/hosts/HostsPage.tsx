import { Badge, Button, Group, Table, Text, TextInput, Title, Tooltip } from "@mantine/core";
import { useDisclosure, useDocumentTitle } from "@mantine/hooks";
import { IconPlus, IconSearch, IconTrendingUp } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { hostsQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Age, Instant } from "../../components/Instant";
import { useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { StateBadge } from "../../components/StateBadge";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { HostInfo } from "../../logic/api";
import { describeClockOffset, describeRise, filterHosts } from "../../logic/host";
import { formatCount, plural } from "../../logic/number";
import { fromApi, SECOND } from "../../logic/time";
import { useNow, zoneOf } from "../../state/clock";
import { type Clock, decodeListView, DEFAULT_HOST_VIEW, encodeHostView, encodeListView, type ListView } from "../../state/url";
import { AddHost } from "./AddHost";

/** The list of hosts, with a form to add one. */
export function HostsPage() {
  useDocumentTitle("Hosts · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeListView(search), [search]);
  const navigate = useNavigate();
  const me = useMe();
  const hosts = useQuery(hostsQuery);
  const [isAdding, adding] = useDisclosure(false);
  const all = hosts.data?.hosts ?? [];
  const shown = filterHosts(all, view.filter);
  const setView = (change: Partial<ListView>): void => {
    void navigate({ to: "/hosts", search: encodeListView({ ...view, ...change }), replace: true });
  };

  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb="sm">
        <Group gap="sm">
          <Title order={1}>Hosts</Title>
          {hosts.data && (
            <Text fz="sm" className="soft">
              {plural(all.length, "host")}
              {shown.length < all.length && `, ${formatCount(shown.length)} shown`}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          {all.length > 1 && (
            <TextInput
              size="xs"
              aria-label="Filter hosts"
              placeholder="Filter by name or OS"
              leftSection={<IconSearch size={14} />}
              value={view.filter}
              onChange={(event) => {
                setView({ filter: event.currentTarget.value });
              }}
            />
          )}
          <Button
            variant={isAdding ? "default" : "light"}
            leftSection={<IconPlus size={14} />}
            aria-expanded={isAdding}
            onClick={adding.toggle}
          >
            Add a host
          </Button>
        </Group>
      </Group>
      {(isAdding || hosts.data?.hosts.length === 0) && <AddHost isAdministrator={me.role === "administrator"} />}
      <ScrollCard label="Hosts">
        {hosts.data === undefined ? (
          <StateView
            state={
              hosts.error
                ? { kind: "error", error: hosts.error, onRetry: () => void hosts.refetch() }
                : { kind: "loading", what: "hosts" }
            }
          />
        ) : shown.length === 0 ? (
          <StateView
            state={
              all.length === 0
                ? {
                    kind: "empty",
                    title: "No hosts yet",
                    next: "Run the command above on a host that you want to monitor. The host appears here once it sends data, usually within 15 seconds; this page refreshes by itself.",
                  }
                : { kind: "empty", title: `No hosts match “${view.filter}”`, next: "Clear the filter to see all hosts." }
            }
          />
        ) : (
          <HostTable hosts={shown} view={view} />
        )}
      </ScrollCard>
    </div>
  );
}

function HostTable({ hosts, view }: { readonly hosts: readonly HostInfo[]; readonly view: ListView }) {
  const now = useNow(SECOND);
  const zone = zoneOf(view.clock);
  return (
    <Table aria-label="Hosts">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Host</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>Last seen</Table.Th>
          <Table.Th>Last sample</Table.Th>
          <Table.Th className="number">Live / all streams</Table.Th>
          <Table.Th className="number">Rejected lines</Table.Th>
          <Table.Th className="number">Clock</Table.Th>
          <Table.Th>System</Table.Th>
          <Table.Th>Agent</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {hosts.map((host) => (
          <Table.Tr key={host.name}>
            <Table.Td>
              <PageLink
                to="/hosts/$host"
                params={{ host: host.name }}
                search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock: view.clock })}
                fw={600}
              >
                {host.name}
              </PageLink>
            </Table.Td>
            <Table.Td>
              <StateBadge state={host.state} />
            </Table.Td>
            <Table.Td>
              {host.last_seen_at === null ? (
                <span className="soft">never</span>
              ) : (
                <Age at={fromApi(host.last_seen_at)} now={now} zone={zone} />
              )}
            </Table.Td>
            <Table.Td>
              {host.last_sample_at === null ? (
                <span className="soft">none</span>
              ) : (
                <Instant at={fromApi(host.last_sample_at)} zone={zone} />
              )}
            </Table.Td>
            <Table.Td className="number">
              <PageLink
                to="/hosts/$host"
                params={{ host: host.name }}
                search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock: view.clock, tab: "streams" })}
              >
                {formatCount(host.n_streams_live)} / {formatCount(host.n_streams)}
              </PageLink>
            </Table.Td>
            <Table.Td className="number">
              <Rejected host={host} clock={view.clock} />
            </Table.Td>
            <Table.Td className="number">
              <Tooltip label="Offset of the host's clock from the server's">
                <span>{describeClockOffset(host.clock_offset_s)}</span>
              </Tooltip>
            </Table.Td>
            <Table.Td>{host.os}</Table.Td>
            <Table.Td>{host.agent_version}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The number of rejected lines, with a warning when it rises suddenly. */
function Rejected({ host, clock }: { readonly host: HostInfo; readonly clock: Clock }) {
  if (host.n_rejected === 0) {
    return "0";
  }
  return (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      {host.has_reject_rise && (
        <Tooltip label={`Rejected lines are rising: ${describeRise(host)}`}>
          <Badge color="red" variant="outline" c="var(--bad)" leftSection={<IconTrendingUp size={13} aria-hidden />}>
            rising: {formatCount(host.n_rejected_last_hour)} in 1 h
          </Badge>
        </Tooltip>
      )}
      <PageLink
        to="/hosts/$host"
        params={{ host: host.name }}
        search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, tab: "streams", filter: "rejected" })}
        c="var(--bad)"
      >
        {formatCount(host.n_rejected)}
      </PageLink>
    </Group>
  );
}
