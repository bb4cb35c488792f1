import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { functionsQuery, type StackReference } from "../../api/flames";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { type FlameColumn, formatAmount, formatPart } from "../../logic/flame_text";
import { formatCount } from "../../logic/number";
import type { FlameView } from "../../state/flame";
import { words } from "../../words";

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
  const says = words.flame.functions;
  if (found.data === undefined) {
    return <PendingView query={found} what={says.functions} />;
  }
  const { functions, n_functions, whole } = found.data;
  if (functions.length === 0) {
    return <StateView state={{ kind: "empty", title: says.none, next: says.noneNext }} />;
  }
  return (
    <>
      <Text fz="xs" className="soft" mb={4}>
        {says.some(formatCount(functions.length), formatCount(n_functions))}
      </Text>
      <ScrollCard label={words.flame.tabs.functions}>
        <Table aria-label={words.flame.tabs.functions}>
          <Table.Thead>
            <Table.Tr>
              <RankHeader
                title={says.own}
                isOn={!view.byTotal}
                onRank={() => {
                  onView({ byTotal: false });
                }}
              />
              <Table.Th className="number">{says.share}</Table.Th>
              <RankHeader
                title={says.total}
                isOn={view.byTotal}
                onRank={() => {
                  onView({ byTotal: true });
                }}
              />
              <Table.Th className="number">{says.share}</Table.Th>
              <Table.Th>{says.function}</Table.Th>
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
                    title={says.showCalls(name)}
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
