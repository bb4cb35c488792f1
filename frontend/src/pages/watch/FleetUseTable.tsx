import { Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fleetUseQuery } from "../../api/use";
import { Instant } from "../../components/Instant";
import { FilterBox } from "../../components/ListFilters";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { FleetUse, FleetUseCell, FleetUseRow } from "../../logic/api";
import { fromApi } from "../../logic/time";
import { countHosts, nameResource, searchHosts } from "../../logic/use_matrix";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import type { ReactNode } from "react";
import { nodes } from "../../components/nodes";
import "../../components/use_cell.css";

const fleetUseSummary = (
  count: { readonly nCritical: number; readonly nWarning: number; readonly nHosts: number },
  at: ReactNode,
) =>
  nodes`${String(count.nCritical)} of ${String(count.nHosts)} hosts critical, ${String(count.nWarning)} with a warning; means of the minute before ${at}`;

const stateText = (state: string) =>
  ({ fine: "fine", warning: "warning", critical: "critical", no_limit: "no limit known" })[state] ?? state;

const kindText = (kind: string) => ({ utilisation: "utilisation", saturation: "saturation", errors: "errors" })[kind] ?? kind;

interface FleetUseTableProps {
  readonly clock: Clock;
}

/** The worst of utilisation, saturation and errors of each resource of every host, the worst host first. */
export function FleetUseTable({ clock }: FleetUseTableProps) {
  const fleet = useQuery(fleetUseQuery);
  const zone = useZone(clock);
  const [filter, setFilter] = useState("");
  if (fleet.data === undefined) {
    return <PendingView query={fleet} what="the resources of all hosts" />;
  }
  const { hosts, end } = fleet.data;
  if (hosts.length === 0) {
    return <StateView state={{ kind: "empty", title: "No hosts", next: "Add one on the page Hosts." }} />;
  }
  return (
    <>
      <Group gap="md" mb="sm">
        <Text fz="sm" role="status">
          {fleetUseSummary(
            { nCritical: countHosts(hosts, "critical"), nWarning: countHosts(hosts, "warning"), nHosts: hosts.length },
            <Instant at={fromApi(end)} zone={zone} />,
          )}
        </Text>
        {hosts.length > 1 && <FilterBox label="Filter hosts" value={filter} onChange={setFilter} />}
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
    <ScrollCard label="Utilisation, saturation and errors of all hosts">
      <Table
        aria-label="Utilisation, saturation and errors of all hosts"
        verticalSpacing={4}
        withColumnBorders
        miw={1020}
        layout="fixed"
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={150}>Host</Table.Th>
            {Object.keys(fleet.resources).map((resource) => (
              <Table.Th key={resource}>{nameResource(resource)}</Table.Th>
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
        <span className="soft">not recorded</span>
      ) : (
        <>
          <span className="use-value">{cell.text}</span>
          <Text fz={12} className="soft">
            <span className="use-state">{stateText(cell.state)}</span>
            {` · ${kindText(cell.kind)} · ${String(cell.n_recorded)} of ${String(cell.n_questions)} recorded`}
          </Text>
        </>
      )}
    </Table.Td>
  );
}
