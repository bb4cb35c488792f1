import { Modal, ScrollArea, Table, Text } from "@mantine/core";
import { useMemo } from "react";
import type { SeriesBlock } from "../../logic/block";
import { formatValue } from "../../logic/number";
import type { PanelPlan } from "../../logic/panel";
import { describeResolution, tableRows, windowOf } from "../../logic/series";
import { toIso } from "../../logic/time";
import { formatInstant, zoneLabel } from "../../logic/zone";
import type { GraphContext } from "./graph";
import { useInstanceLabels } from "./useInstanceLabels";

const MAX_ROWS = 500;

interface SamplesDialogProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly onClose: () => void;
}

/** The points of a graph as a table. */
export function SamplesDialog({ plan, graph, block, onClose }: SamplesDialogProps) {
  const { zone } = graph;
  const rows = tableRows(block, MAX_ROWS);
  const drawn = useMemo(() => windowOf(block), [block]);
  const labels = useInstanceLabels(plan, graph, drawn);
  const decimalsOf = (key: string): number => plan.fields.find((field) => field.key === key)?.decimals ?? 0;
  const [newest] = rows;
  return (
    <Modal opened onClose={onClose} title={`${plan.title}: points`} size="xl">
      <Text fz="sm" className="soft" mb="xs">
        {`${describeResolution(block)}. Showing at most the newest ${String(MAX_ROWS)} rows; the CSV has all samples.`}
      </Text>
      <ScrollArea.Autosize mah="65vh">
        <Table stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>
                Time
                {newest && ` (${zoneLabel(zone, newest.time)})`}
              </Table.Th>
              {block.series.map((series) => (
                <Table.Th key={`${series.instance} ${series.field}`} className="number">
                  {series.instance}
                  {labels.has(series.instance) && ` (${labels.get(series.instance) ?? ""})`}{" "}
                  {plan.fields.find(({ key }) => key === series.field)?.column ?? series.field}
                  {series.unit !== "" && ` (${series.unit})`}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={toIso(row.time)}>
                <Table.Td className="mono">{formatInstant(zone, row.time)}</Table.Td>
                {row.values.map((value, index) => {
                  const series = block.series[index];
                  return (
                    <Table.Td key={`${series?.instance ?? ""} ${series?.field ?? ""}`} className="number">
                      {formatValue(value, decimalsOf(series?.field ?? ""))}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </Modal>
  );
}
