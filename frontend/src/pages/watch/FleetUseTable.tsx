import { Group, Table, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fleetUseQuery } from "../../api/use";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { FleetUse, FleetUseCell, FleetUseRow } from "../../logic/api";
import { fromApi } from "../../logic/time";
import { countHosts, searchHosts } from "../../logic/use_matrix";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { words } from "../../words";
import "../../components/use_cell.css";

interface FleetUseTableProps {
  readonly clock: Clock;
}

/** The worst of utilisation, saturation and errors of each resource of every host, the worst host first. */
export function FleetUseTable({ clock }: FleetUseTableProps) {
  const fleet = useQuery(fleetUseQuery);
  const zone = useZone(clock);
  const [filter, setFilter] = useState("");
  if (fleet.data === undefined) {
    return <PendingView query={fleet} what={words.watch.fleetUse.theResources} />;
  }
  const { hosts, end } = fleet.data;
  if (hosts.length === 0) {
    return <StateView state={{ kind: "empty", title: words.watch.fleetUse.noHosts, next: words.watch.fleetUse.addOne }} />;
  }
  return (
    <>
      <Group gap="md" mb="sm">
        <Text fz="sm" role="status">
          {words.watch.fleetUse.summary(
            { nCritical: countHosts(hosts, "critical"), nWarning: countHosts(hosts, "warning"), nHosts: hosts.length },
            <Instant at={fromApi(end)} zone={zone} />,
          )}
        </Text>
        {hosts.length > 1 && (
          <TextInput
            size="xs"
            aria-label={words.watch.fleetUse.filter}
            placeholder={words.watch.fleetUse.filter}
            leftSection={<IconSearch size={14} />}
            value={filter}
            onChange={(event) => {
              setFilter(event.currentTarget.value);
            }}
          />
        )}
      </Group>
      <Hosts fleet={fleet.data} hosts={searchHosts(hosts, filter)} clock={clock} />
    </>
  );
}

interface HostsProps {
  readonly fleet: FleetUse;
  readonly hosts: readonly FleetUseRow[];
  readonly clock: Clock;
}

function Hosts({ fleet, hosts, clock }: HostsProps) {
  return (
    <ScrollCard label={words.watch.fleetUse.resources}>
      <Table aria-label={words.watch.fleetUse.resources} verticalSpacing={4} withColumnBorders miw={1020} layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={150}>{words.common.host}</Table.Th>
            {Object.keys(fleet.resources).map((resource) => (
              <Table.Th key={resource}>{words.host.useTab.resources(resource)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {hosts.map((row) => (
            <Table.Tr key={row.host}>
              <Table.Th scope="row" className="use-host">
                <PageLink
                  fz="inherit"
                  to="/hosts/$host"
                  params={{ host: row.host }}
                  search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, tab: "use" })}
                >
                  {row.host}
                </PageLink>
              </Table.Th>
              {row.cells.map((cell) => (
                <Cell key={cell.resource} cell={cell} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

function Cell({ cell }: { readonly cell: FleetUseCell }) {
  return (
    <Table.Td className="use-cell" data-state={cell.state}>
      {cell.kind === null ? (
        <span className="soft">{words.watch.fleetUse.notRecorded}</span>
      ) : (
        <>
          <span className="use-value">{cell.text}</span>
          <Text fz={12} className="soft">
            <span className="use-state">{words.host.useTab.state(cell.state)}</span>
            {` · ${words.host.useTab.kind(cell.kind)} · ${words.watch.fleetUse.known(cell.n_recorded, cell.n_questions)}`}
          </Text>
        </>
      )}
    </Table.Td>
  );
}
