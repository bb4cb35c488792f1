import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { functionsQuery, type StackReference } from "../../api/flames";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { type FlameColumn, formatAmount, formatPart } from "../../logic/flame_text";
import { formatCount } from "../../logic/number";
import type { FlameView } from "../../state/flame";

const LISTED = 200;

interface FlameFunctionTableProps {
  readonly reference: StackReference;
  readonly view: FlameView;
  readonly onView: (changed: Partial<FlameView>) => void;
  readonly column: FlameColumn;
}

/** Functions by what ends in them or passes through them; each leads to its callers and callees. */
export function FlameFunctionTable({ reference, view, onView, column }: FlameFunctionTableProps) {
  const found = useQuery(functionsQuery(reference, view, LISTED));
  if (found.data === undefined) {
    return <PendingView query={found} what="functions" />;
  }
  const { functions, n_functions, whole } = found.data;
  if (functions.length === 0) {
    return <StateView state={{ kind: "empty", title: "No function matches", next: "Clear the search to see all functions." }} />;
  }
  return (
    <>
      <Text fz="xs" className="soft" mb={4}>
        {`${formatCount(functions.length)} of ${formatCount(n_functions)} functions, those with most first`}
      </Text>
      <ScrollCard label="Functions">
        <Table aria-label="Functions">
          <Table.Thead>
            <Table.Tr>
              <RankHeader
                title="Ends in it"
                isOn={!view.byTotal}
                onRank={() => {
                  onView({ byTotal: false });
                }}
              />
              <Table.Th className="number">Share</Table.Th>
              <RankHeader
                title="Passes through it"
                isOn={view.byTotal}
                onRank={() => {
                  onView({ byTotal: true });
                }}
              />
              <Table.Th className="number">Share</Table.Th>
              <Table.Th>Function</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {functions.map(({ id, name, own, total }) => (
              <Table.Tr key={id}>
                <Table.Td className="number">{formatAmount(own, column)}</Table.Td>
                <Table.Td className="number">{formatPart(own, whole)}</Table.Td>
                <Table.Td className="number">{formatAmount(total, column)}</Table.Td>
                <Table.Td className="number">{formatPart(total, whole)}</Table.Td>
                <Table.Td className="flame-name">
                  <button
                    type="button"
                    className="text-button"
                    title={`Callers and callees of ${name}`}
                    onClick={() => {
                      onView({ called: id, tab: "graph", focus: [] });
                    }}
                  >
                    {name}
                  </button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </>
  );
}

interface RankHeaderProps {
  readonly title: string;
  readonly isOn: boolean;
  readonly onRank: () => void;
}

/** A header that ranks the rows, highest first. */
export function RankHeader({ title, isOn, onRank }: RankHeaderProps) {
  return (
    <Table.Th className="number" aria-sort={isOn ? "descending" : "none"}>
      <button type="button" className="text-button" onClick={onRank}>
        {isOn ? `${title} ▾` : title}
      </button>
    </Table.Th>
  );
}
