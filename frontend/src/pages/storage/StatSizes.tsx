import { Button, Table, Title, Tooltip } from "@mantine/core";
import { useState } from "react";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { StatStorage } from "../../logic/api";
import { formatBytes, formatCount } from "../../logic/number";
import { bySize, formatBytesPerValue, formatGrowth } from "../../logic/storage";
import { SizeBar } from "./SizeBar";
import { counted } from "../../logic/counted";

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
        By stat
      </Title>
      <ScrollCard label="Sizes by stat">
        {sized.length === 0 ? (
          <StateView state={{ kind: "empty", title: "No samples are stored yet" }} />
        ) : (
          <Table aria-label="Sizes by stat">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Stat</Table.Th>
                <Table.Th className="number">Size</Table.Th>
                <Table.Th aria-hidden />
                <Table.Th className="number">
                  <Tooltip label="Storage of one printed number, with its share of timestamp and index (estimated)">
                    <span>Bytes per value</span>
                  </Tooltip>
                </Table.Th>
                <Table.Th className="number">Index</Table.Th>
                <Table.Th className="number">
                  <Tooltip label="Samples of past days, packed; graphs, comparisons and exports read them like the others">
                    <span>Sealed</span>
                  </Tooltip>
                </Table.Th>
                <Table.Th className="number">Samples</Table.Th>
                <Table.Th className="number">Growth per day</Table.Th>
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
          {isAll ? "Show the largest" : `Show all ${counted(sized.length, "stat")}`}
        </Button>
      )}
    </section>
  );
}
