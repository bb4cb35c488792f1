import { Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { factsQuery } from "../../api/queries";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { FactChange, HostFact } from "../../logic/api";
import { factLabel, factMoment, formatFact, sortFacts, windowAround } from "../../logic/fact";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

interface FactsProps {
  readonly host: string;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** What a host is (system, CPUs, memory, mounts), and when that changed. */
export function Facts({ host, zone, clock }: FactsProps) {
  const facts = useQuery(factsQuery(host));
  if (facts.data === undefined) {
    return (
      <StateView
        state={
          facts.error === null
            ? { kind: "loading", what: "host facts" }
            : { kind: "error", error: facts.error, onRetry: () => void facts.refetch() }
        }
      />
    );
  }
  if (facts.data.read_at === null) {
    return (
      <StateView
        state={{
          kind: "empty",
          title: "No facts about this host",
          next: "An agent reports them if its stats.conf has the line host_facts; files of other tools do not hold them.",
        }}
      />
    );
  }
  return (
    <div className="host-facts">
      <section aria-label="Facts">
        <FactTable facts={sortFacts(facts.data.facts)} zone={zone} />
        <Text fz="sm" className="soft">
          Read <Instant at={fromApi(facts.data.read_at)} zone={zone} />
        </Text>
      </section>
      <section aria-label="Changes">
        <Title order={2}>Changes</Title>
        {facts.data.changes.length === 0 ? (
          <Text fz="sm" className="soft">
            No fact has changed since the agent first reported.
          </Text>
        ) : (
          <ChangeTable host={host} changes={facts.data.changes} zone={zone} clock={clock} />
        )}
      </section>
    </div>
  );
}

function FactTable({ facts, zone }: { readonly facts: readonly HostFact[]; readonly zone: Zone }) {
  return (
    <ScrollCard label="Facts about this host">
      <Table aria-label="Facts about this host" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Fact</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>Since</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {facts.map((fact) => (
            <Table.Tr key={`${fact.key} ${fact.item}`}>
              <Table.Td>
                <FactName fact={fact} />
              </Table.Td>
              <Table.Td>
                <FactValue factKey={fact.key} value={fact.value} zone={zone} />
              </Table.Td>
              <Table.Td>
                <Instant at={fromApi(fact.since)} zone={zone} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

interface ChangeTableProps extends FactsProps {
  readonly changes: readonly FactChange[];
}

function ChangeTable({ host, changes, zone, clock }: ChangeTableProps) {
  return (
    <ScrollCard label="Changes of facts">
      <Table aria-label="Changes of facts" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Seen at</Table.Th>
            <Table.Th>Fact</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
            <Table.Th>
              <VisuallyHidden>Graphs</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map((change) => (
            <Table.Tr key={`${change.at} ${change.key} ${change.item}`}>
              <Table.Td>
                <Instant at={fromApi(change.at)} zone={zone} />
              </Table.Td>
              <Table.Td>
                <FactName fact={change} />
              </Table.Td>
              <Table.Td>
                <FactValue factKey={change.key} value={change.before} zone={zone} />
              </Table.Td>
              <Table.Td>
                <FactValue factKey={change.key} value={change.after} zone={zone} />
              </Table.Td>
              <Table.Td>
                <PageLink
                  to="/hosts/$host"
                  params={{ host }}
                  search={encodeHostView({
                    ...DEFAULT_HOST_VIEW,
                    clock,
                    range: { kind: "fixed", window: windowAround(change.at) },
                  })}
                  fz="sm"
                >
                  Graphs
                </PageLink>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

function FactName({ fact }: { readonly fact: Pick<HostFact, "key" | "item"> }) {
  return (
    <>
      {factLabel(fact.key)} {fact.item !== "" && <span className="mono">{fact.item}</span>}
    </>
  );
}

function FactValue({ factKey, value, zone }: { readonly factKey: string; readonly value: string | null; readonly zone: Zone }) {
  if (value === null) {
    return <span className="soft">none</span>;
  }
  const moment = factMoment(factKey, value);
  return moment === null ? formatFact(factKey, value) : <Instant at={moment} zone={zone} />;
}
