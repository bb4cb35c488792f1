import { Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { factsQuery } from "../../api/queries";
import { FactValue } from "../../components/FactValue";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { FactChange, HostFact } from "../../logic/api";
import { describeEarliest } from "../../logic/event";
import { countRecent, factSections, windowAround } from "../../logic/fact";
import { formatCount } from "../../logic/number";
import { fromApi, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

interface FactsProps {
  readonly host: string;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** What a host is (system, CPUs, memory, mounts), and when that changed. */
export function Facts({ host, zone, clock }: FactsProps) {
  const facts = useQuery(factsQuery(host));
  const now = useNow(MINUTE);
  if (facts.data === undefined) {
    return <PendingView query={facts} what="host facts" />;
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
  const { facts: known, changes, known_since: knownSince, read_at: readAt, n_changes_left_out: nLeftOut } = facts.data;
  const nRecent = countRecent(changes, now);
  const changed = (
    <section key="changes" aria-label="Changes">
      <Title order={2}>{nRecent === 0 ? "Changes" : `Changes: ${formatCount(nRecent)} in the last 24 hours`}</Title>
      {changes.length === 0 ? (
        <Text fz="sm" className="soft">
          {nodes`Nothing has changed${knownSince !== null && <> {nodes`since the first report, ${<Instant at={fromApi(knownSince)} zone={zone} />}`}</>}.`}
        </Text>
      ) : (
        <ChangeTable host={host} changes={changes} zone={zone} clock={clock} />
      )}
      {nLeftOut > 0 && (
        <Text fz="sm" className="soft">
          {`${counted(nLeftOut, "older change")} not listed.`}
        </Text>
      )}
    </section>
  );
  const all = (
    <section key="facts" aria-label="Facts">
      <Title order={2}>This host</Title>
      <FactTable facts={known} knownSince={knownSince} zone={zone} />
      <Text fz="sm" className="soft">
        {nodes`Last report ${<Instant at={fromApi(readAt)} zone={zone} />}. No date: unchanged since the first report${
          knownSince !== null && (
            <>
              , <Instant at={fromApi(knownSince)} zone={zone} />
            </>
          )
        }.`}
      </Text>
    </section>
  );
  return <div className="host-facts">{nRecent > 0 ? [changed, all] : [all, changed]}</div>;
}

interface FactTableProps {
  readonly facts: readonly HostFact[];
  readonly knownSince: string | null;
  readonly zone: Zone;
}

function FactTable({ facts, knownSince, zone }: FactTableProps) {
  return (
    <ScrollCard label="Facts about this host">
      <Table aria-label="Facts about this host" verticalSpacing={3} className="fact-table">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Fact</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>Changed</Table.Th>
          </Table.Tr>
        </Table.Thead>
        {factSections(facts).map((section) => (
          <Table.Tbody key={section.title}>
            <Table.Tr>
              <Table.Th colSpan={3} scope="rowgroup">
                {section.title}
              </Table.Th>
            </Table.Tr>
            {section.facts.map((fact) => (
              <Table.Tr key={`${fact.key} ${fact.item}`}>
                <Table.Td>
                  <FactName fact={fact} />
                </Table.Td>
                <Table.Td className="fact-value">
                  <FactValue factKey={fact.key} value={fact.value} text={fact.text} zone={zone} />
                </Table.Td>
                <Table.Td>{fact.since !== knownSince && <Instant at={fromApi(fact.since)} zone={zone} />}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        ))}
      </Table>
    </ScrollCard>
  );
}

interface ChangeTableProps {
  readonly host: string;
  readonly changes: readonly FactChange[];
  readonly zone: Zone;
  readonly clock: Clock;
}

function ChangeTable({ host, changes, zone, clock }: ChangeTableProps) {
  return (
    <ScrollCard label="Changes of facts">
      <Table aria-label="Changes of facts" verticalSpacing={3} className="fact-table">
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
                <div className="soft fact-earliest">{describeEarliest(zone, fromApi(change.at), fromApi(change.not_before))}</div>
              </Table.Td>
              <Table.Td>
                <FactName fact={change} />
              </Table.Td>
              <Table.Td className="fact-value">
                <FactValue factKey={change.key} value={change.before} text={change.before_text} zone={zone} />
              </Table.Td>
              <Table.Td className="fact-value">
                <FactValue factKey={change.key} value={change.after} text={change.after_text} zone={zone} />
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

function FactName({ fact }: { readonly fact: Pick<HostFact, "label" | "item"> }) {
  return (
    <>
      {fact.label} {fact.item !== "" && <span className="mono">{fact.item}</span>}
    </>
  );
}
