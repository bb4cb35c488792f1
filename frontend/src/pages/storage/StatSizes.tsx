import { Button, Table, Title, Tooltip } from "@mantine/core";
import { useState } from "react";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { StatStorage } from "../../logic/api";
import { formatBytes, formatCount } from "../../logic/number";
import { bySize, formatBytesPerValue, formatGrowth } from "../../logic/storage";
import { SizeBar } from "./SizeBar";
import { words } from "../../words";

const FIRST = 15;

/** The storage used by each stat, and the bytes per value. */
export function StatSizes({ stats }: { readonly stats: readonly StatStorage[] }) {
  const [isAll, setAll] = useState(false);
  const sized = bySize(stats, ({ stat, table_bytes, index_bytes, sealed_bytes }) => ({
    name: stat,
    bytes: table_bytes + index_bytes + sealed_bytes,
  }));
  const shown = isAll ? sized : sized.slice(0, FIRST);
  return (
    <section className="storage-section" aria-labelledby="storage-stats">
      <Title order={2} id="storage-stats">
        {words.storage.statSizes.byStat}
      </Title>
      <ScrollCard label={words.storage.statSizes.sizesByStat}>
        {sized.length === 0 ? (
          <StateView state={{ kind: "empty", title: words.storage.statSizes.noSamplesStoredYet }} />
        ) : (
          <Table aria-label={words.storage.statSizes.sizesByStat}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.common.stat}</Table.Th>
                <Table.Th className="number">{words.common.size}</Table.Th>
                <Table.Th aria-hidden />
                <Table.Th className="number">
                  <Tooltip label={words.storage.statSizes.storageOnePrintedNumber}>
                    <span>{words.storage.statSizes.bytesPerValue}</span>
                  </Tooltip>
                </Table.Th>
                <Table.Th className="number">{words.storage.statSizes.index}</Table.Th>
                <Table.Th className="number">
                  <Tooltip label={words.storage.statSizes.packedSamplesPastDays}>
                    <span>{words.storage.statSizes.sealed}</span>
                  </Tooltip>
                </Table.Th>
                <Table.Th className="number">{words.common.samples}</Table.Th>
                <Table.Th className="number">{words.common.growthPerDay}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map(({ name, bytes, share, item }) => (
                <Table.Tr key={name}>
                  <Table.Td className="mono">{name}</Table.Td>
                  <Table.Td className="number">{formatBytes(bytes)}</Table.Td>
                  <Table.Td className="size-cell">
                    <SizeBar share={share} />
                  </Table.Td>
                  <Table.Td className="number">{formatBytesPerValue(item.bytes_per_value, item.n_values)}</Table.Td>
                  <Table.Td className="number">{formatBytes(item.index_bytes)}</Table.Td>
                  <Table.Td className="number">{formatBytes(item.sealed_bytes)}</Table.Td>
                  <Table.Td className="number">{formatCount(item.n_samples)}</Table.Td>
                  <Table.Td className="number">{formatGrowth(item.bytes_per_day)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {sized.length > FIRST && (
        <Button
          mt={8}
          size="compact-sm"
          variant="default"
          onClick={() => {
            setAll(!isAll);
          }}
        >
          {isAll ? words.storage.statSizes.showTheLargest : words.storage.statSizes.showAllStat(sized.length)}
        </Button>
      )}
    </section>
  );
}
