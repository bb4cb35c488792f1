import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { factsQuery } from "../../api/queries";
import { FactValue } from "../../components/FactValue";
import { ScrollCard } from "../../components/ScrollCard";
import { toWindow } from "../../logic/comparison";
import type { Comparison } from "../../logic/api";
import { type FactDifference, factDifferences } from "../../logic/fact_difference";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";

/**
 * Return the host facts that differ between both sides of a comparison of one host. Missing: null for several hosts, a host group,
 * a host without facts, and until they are known.
 */
export function useFactDifferences({ hosts, against }: Comparison, incident: Window): readonly FactDifference[] | null {
  const [host = "", ...others] = hosts;
  const last = against.windows.at(-1);
  const isKnown = others.length === 0 && against.kind !== "group" && last !== undefined;
  const own = useQuery({ ...factsQuery(host), enabled: isKnown }).data;
  const ofBaseline = useQuery({ ...factsQuery(against.host ?? host), enabled: isKnown }).data;
  return isKnown && own !== undefined && ofBaseline !== undefined
    ? factDifferences({ of: ofBaseline, at: toWindow(last).end }, { of: own, at: incident.end })
    : null;
}

/** The facts that differ, baseline first. */
export function FactDifferences({ differences, zone }: { readonly differences: readonly FactDifference[]; readonly zone: Zone }) {
  return differences.length === 0 ? (
    <Text fz="sm" className="soft">
      The facts of the host are the same on both sides.
    </Text>
  ) : (
    <ScrollCard label="Facts that differ">
      <Table aria-label="Facts that differ" verticalSpacing={3}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Fact</Table.Th>
            <Table.Th>Baseline</Table.Th>
            <Table.Th>Incident</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {differences.map(({ baseline, incident }) => {
            const fact = incident ?? baseline;
            return (
              <Table.Tr key={fact?.label}>
                <Table.Td>{fact?.label}</Table.Td>
                {[baseline, incident].map((side, index) => (
                  <Table.Td key={index} className="fact-value">
                    <FactValue factKey={fact?.key ?? ""} value={side?.value ?? null} text={side?.text ?? null} zone={zone} />
                  </Table.Td>
                ))}
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}
