import { Table } from "@mantine/core";
import { ScrollCard } from "../../components/ScrollCard";
import type { ExperimentAnalysis } from "../../logic/api";
import { formatInterval, formatPercent, formatTimes } from "../../logic/experiment";
import { formatDigits } from "../../logic/number";

/** The means of repeats, with intervals, ratios, speed-up and efficiency. */
export function LevelTable({ analysis }: { readonly analysis: ExperimentAnalysis }) {
  const unit = analysis.result?.unit ?? "";
  const ofUnit = unit === "" ? "" : ` (${unit})`;
  const { variant } = analysis;
  return (
    <ScrollCard label="Means of repeats">
      <Table aria-label="Means of repeats">
        <Table.Thead>
          <Table.Tr>
            {variant !== null && <Table.Th>{variant.name}</Table.Th>}
            <Table.Th>{analysis.factor?.name ?? "Level"}</Table.Th>
            <Table.Th className="number">Runs</Table.Th>
            <Table.Th className="number">
              Mean
              {ofUnit}
            </Table.Th>
            <Table.Th className="number">95 % interval</Table.Th>
            <Table.Th className="number">× reference</Table.Th>
            {variant !== null && <Table.Th className="number">{`× ${analysis.base}`}</Table.Th>}
            <Table.Th className="number">Speed-up</Table.Th>
            <Table.Th className="number">Efficiency</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {analysis.levels.map((level) => (
            <Table.Tr key={`${level.variant}\n${level.level}`}>
              {variant !== null && <Table.Td>{level.variant}</Table.Td>}
              <Table.Td>{level.level === "" ? "all runs" : level.level}</Table.Td>
              <Table.Td className="number">{level.result.n}</Table.Td>
              <Table.Td className="number">{formatDigits(level.result.mean)}</Table.Td>
              <Table.Td className="number">
                {level.result.low === null ? (
                  <span className="soft">none: one run</span>
                ) : (
                  formatInterval(level.result.low, level.result.high)
                )}
              </Table.Td>
              <Table.Td className="number">{formatTimes(level.times_reference?.value ?? null)}</Table.Td>
              {variant !== null && <Table.Td className="number">{formatTimes(level.times_base?.value ?? null)}</Table.Td>}
              <Table.Td className="number">{formatTimes(level.speedup?.value ?? null)}</Table.Td>
              <Table.Td className="number">{formatPercent(level.efficiency?.value ?? null)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}
