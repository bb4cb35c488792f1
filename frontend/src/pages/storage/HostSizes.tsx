import { Button, Table, Title, Tooltip } from "@mantine/core";
import { useState } from "react";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { HostStorage } from "../../logic/api";
import { formatBytes, formatCount } from "../../logic/number";
import { bySize, formatGrowth } from "../../logic/storage";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { DeleteHostDialog } from "./DeleteHostDialog";
import { SizeBar } from "./SizeBar";
import { counted } from "../../logic/counted";

const FIRST = 15;

interface HostSizesProps {
  readonly hosts: readonly HostStorage[];
  readonly zone: Zone;
  readonly clock: Clock;
  readonly mayDelete: boolean;
}

/** The storage used by each host; administrators can delete hosts. */
export function HostSizes({ hosts, zone, clock, mayDelete }: HostSizesProps) {
  const [isAll, setAll] = useState(false);
  const [going, setGoing] = useState<HostStorage | null>(null);
  const sized = bySize(hosts, ({ host, sample_bytes, chunk_bytes }) => ({ name: host, bytes: sample_bytes + chunk_bytes }));
  const shown = isAll ? sized : sized.slice(0, FIRST);
  return (
    <section className="storage-section" aria-labelledby="storage-hosts">
      <Title order={2} id="storage-hosts">
        By host
      </Title>
      <ScrollCard label="Sizes by host">
        {sized.length === 0 ? (
          <StateView state={{ kind: "empty", title: "No hosts yet" }} />
        ) : (
          <Table aria-label="Sizes by host">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Host</Table.Th>
                <Table.Th className="number">
                  <Tooltip label="Samples and raw bytes; estimated from each host's number of samples">
                    <span>Size</span>
                  </Tooltip>
                </Table.Th>
                <Table.Th aria-hidden />
                <Table.Th className="number">Raw bytes</Table.Th>
                <Table.Th className="number">Samples</Table.Th>
                <Table.Th className="number">Growth per day</Table.Th>
                <Table.Th>First sample</Table.Th>
                {mayDelete && (
                  <Table.Th>
                    <span className="visually-hidden">Actions</span>
                  </Table.Th>
                )}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map(({ name, bytes, share, item }) => (
                <Table.Tr key={name}>
                  <Table.Td>
                    <PageLink
                      to="/hosts/$host"
                      params={{ host: name }}
                      search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock })}
                      fw={600}
                    >
                      {name}
                    </PageLink>
                  </Table.Td>
                  <Table.Td className="number">{formatBytes(bytes)}</Table.Td>
                  <Table.Td className="size-cell">
                    <SizeBar share={share} />
                  </Table.Td>
                  <Table.Td className="number">{formatBytes(item.chunk_bytes)}</Table.Td>
                  <Table.Td className="number">{formatCount(item.n_samples)}</Table.Td>
                  <Table.Td className="number">{formatGrowth(item.bytes_per_day)}</Table.Td>
                  <Table.Td>
                    {item.first_sample_at === null ? (
                      <span className="soft">none</span>
                    ) : (
                      <Instant at={fromApi(item.first_sample_at)} zone={zone} />
                    )}
                  </Table.Td>
                  {mayDelete && (
                    <Table.Td className="number">
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`Delete ${name}`}
                        onClick={() => {
                          setGoing(item);
                        }}
                      >
                        Delete…
                      </Button>
                    </Table.Td>
                  )}
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
          {isAll ? "Show the largest" : `Show all ${counted(sized.length, "host")}`}
        </Button>
      )}
      {going !== null && (
        <DeleteHostDialog
          host={going}
          zone={zone}
          onClose={() => {
            setGoing(null);
          }}
        />
      )}
    </section>
  );
}
