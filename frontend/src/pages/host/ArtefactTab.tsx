import { Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { artefactListQuery } from "../../api/artefacts";
import { ArtefactRow } from "../../components/ArtefactRow";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { HostInfo } from "../../logic/api";
import { eventsWindow } from "../../logic/event";
import { formatCount } from "../../logic/number";
import { liveEnd, resolveRange } from "../../logic/range";
import { MINUTE } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { DEFAULT_ARTEFACT_LIST, encodeArtefactList } from "../../state/artefacts";
import { readNow, useNow } from "../../state/clock";
import type { HostViewState } from "./useHostView";
import { counted } from "../../logic/counted";

const MAX_LISTED = 200;

interface ArtefactTabProps {
  readonly host: Pick<HostInfo, "name">;
  readonly state: HostViewState;
  readonly zone: Zone;
}

/** The artefacts of the host in the shown window. */
export function ArtefactTab({ host, state, zone }: ArtefactTabProps) {
  const { clock } = state.view;
  const now = useNow(MINUTE);
  const window = eventsWindow(resolveRange(state.view.range, liveEnd(now, null), zone));
  const found = useQuery(
    artefactListQuery({ hosts: [host.name], tools: [], search: "", start: window.start, end: window.end }, 0, MAX_LISTED),
  );
  const page = found.data;
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text fz="sm" className="soft" role="status">
          {formatWindow(zone, window)} {zoneLabel(zone, window.end)}
          {page !== undefined && `: ${counted(page.n_total, "artefact")}`}
          {page !== undefined && page.n_total > MAX_LISTED && ` (${formatCount(MAX_LISTED)})`}
        </Text>
        <PageLink fz="sm" to="/artefacts" search={encodeArtefactList({ ...DEFAULT_ARTEFACT_LIST, clock, hosts: [host.name] })}>
          {`All artefacts of ${host.name}`}
        </PageLink>
      </Group>
      <ScrollCard label="Artefacts">
        {page === undefined ? (
          <PendingView query={found} what="artefacts" />
        ) : page.artefacts.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: "No artefacts in this window",
              next: "Ask a question with normstat-agent ask, import a file on the page Import, or choose a longer window.",
            }}
          />
        ) : (
          <Table aria-label="Artefacts">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{`When (${zoneLabel(zone, readNow())})`}</Table.Th>
                <Table.Th>Tool</Table.Th>
                <Table.Th>Question or command</Table.Th>
                <Table.Th>Contents</Table.Th>
                <Table.Th>By</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {page.artefacts.map((artefact) => (
                <ArtefactRow key={artefact.id} artefact={artefact} zone={zone} clock={clock} hasHost={false} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
    </>
  );
}
