import { Button, Switch, Table, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import { PAST_KEYS, patternsQuery } from "../../api/past";
import { CauseDialog } from "../../components/CauseDialog";
import { FilteredList } from "../../components/FilteredList";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PastLink } from "../../components/PastLink";
import { ErrorLine } from "../../components/StateView";
import type { PastIncident } from "../../logic/api";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";

const PER_PAGE = 50;

interface PatternTableProps {
  readonly host: string;
  readonly page: number;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly onPage: (page: number) => void;
  readonly onAllHosts: () => void;
}

/** The incidents of which a person named the cause. One that is switched off is not found by comparisons. */
export function PatternTable({ host, page, zone, clock, onPage, onAllHosts }: PatternTableProps) {
  const list = useQuery(patternsQuery(host, page * PER_PAGE, PER_PAGE));
  const isWriter = mayWrite(useMe());
  const [changed, setChanged] = useState<PastIncident | null>(null);
  const client = useQueryClient();
  const switching = useMutation({
    mutationFn: ({ id, is_off }: PastIncident) =>
      api.PATCH("/past-incidents/{id}", { body: { is_off: !is_off }, params: { path: { id } } }),
    onSuccess: () => Promise.all(PAST_KEYS.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
  return (
    <>
      <ErrorLine error={switching.error} />
      <FilteredList
        label="Patterns"
        query={list}
        n={list.data?.incidents.length ?? 0}
        isFiltered={host !== ""}
        onAll={onAllHosts}
        next="Save a comparison and name its cause: the next incident that looks like it will say so."
        pages={{
          one: "pattern",
          page,
          size: PER_PAGE,
          nShown: list.data?.incidents.length ?? 0,
          nTotal: list.data?.n_total ?? 0,
          onPage,
        }}
      >
        <Table aria-label="Patterns" className="watch-table watch-cards">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              <Table.Th>Host</Table.Th>
              <Table.Th>Cause</Table.Th>
              <Table.Th>What helped</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th>In use</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {list.data?.incidents.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td data-label="When">
                  <PastLink incident={one} clock={clock}>
                    <Instant at={fromApi(one.start)} zone={zone} />
                  </PastLink>
                </Table.Td>
                <Table.Td data-label="Host">{one.hosts.join(", ")}</Table.Td>
                <Table.Td data-label="Cause">
                  <Text fz="sm">{one.cause}</Text>
                  {one.origin !== "" && (
                    <Text fz="xs" className="soft">
                      {one.origin}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td data-label="What helped">{one.remedy}</Table.Td>
                <Table.Td data-label="By">{one.named_by}</Table.Td>
                <Table.Td data-label="In use" style={{ whiteSpace: "nowrap" }}>
                  <Switch
                    size="xs"
                    display="inline-block"
                    mr="sm"
                    aria-label={`Use “${one.cause}”`}
                    checked={!one.is_off}
                    disabled={!isWriter || switching.isPending}
                    onChange={() => {
                      switching.mutate(one);
                    }}
                  />
                  {isWriter && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={`Change “${one.cause}”`}
                      onClick={() => {
                        setChanged(one);
                      }}
                    >
                      Change…
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </FilteredList>
      {changed !== null && (
        <CauseDialog
          incident={changed}
          onClose={() => {
            setChanged(null);
          }}
        />
      )}
    </>
  );
}
