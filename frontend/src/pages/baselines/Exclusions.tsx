import { ActionIcon, Button, Group, Table, Text, Tooltip } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deleteExclusion, EXCLUSION_KEYS, exclusionsQuery } from "../../api/baselines";
import { ExcludeDialog } from "../../components/ExcludeDialog";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import { toWindow } from "../../logic/comparison";
import { resolveRange } from "../../logic/range";
import { fromApi, HOUR, wholeSecond } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { words } from "../../words";

/** Periods that all baselines ignore. */
export function Exclusions({ zone }: { readonly zone: Zone }) {
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  const [initial] = useState(() => resolveRange({ kind: "live", length: HOUR }, wholeSecond(readNow()), zone));
  const exclusions = useQuery(exclusionsQuery);
  const deletion = useDeletion("exclusion", EXCLUSION_KEYS);
  const known = deletion.remaining(exclusions.data?.exclusions ?? [], ({ id }) => id);
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text fz="sm" className="soft">
          {words.baselines.exclusions.baselinesIgnoreThesePeriods}
        </Text>
        {mayWrite(me) && (
          <Button
            variant="default"
            onClick={() => {
              setAdding(true);
            }}
          >
            {words.baselines.exclusions.excludeAPeriod}
          </Button>
        )}
      </Group>
      <ScrollCard label={words.baselines.exclusions.excludedPeriods}>
        {exclusions.data === undefined ? (
          <PendingView query={exclusions} what={words.baselines.exclusions.excludedPeriods2} />
        ) : known.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: words.baselines.exclusions.noExcludedPeriods,
              next: words.baselines.exclusions.selectTimeRangeHosts,
            }}
          />
        ) : (
          <Table aria-label={words.baselines.exclusions.excludedPeriods}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.common.name}</Table.Th>
                <Table.Th>{words.baselines.exclusions.window(zoneLabel(zone, readNow()))}</Table.Th>
                <Table.Th>{words.common.host}</Table.Th>
                <Table.Th>{words.common.note}</Table.Th>
                <Table.Th>{words.baselines.exclusions.excludedBy}</Table.Th>
                <Table.Th>{words.baselines.exclusions.excluded}</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {known.map((exclusion) => (
                <Table.Tr key={exclusion.id}>
                  <Table.Td fw={600}>{exclusion.name}</Table.Td>
                  <Table.Td>{formatWindow(zone, toWindow(exclusion))}</Table.Td>
                  <Table.Td>{exclusion.host ?? words.baselines.exclusions.all}</Table.Td>
                  <Table.Td maw={420} style={{ whiteSpace: "pre-wrap" }}>
                    {exclusion.note}
                  </Table.Td>
                  <Table.Td>{exclusion.created_by}</Table.Td>
                  <Table.Td>
                    <Instant at={fromApi(exclusion.created_at)} zone={zone} />
                  </Table.Td>
                  <Table.Td>
                    {mayWrite(me) && (
                      <Tooltip label={words.baselines.exclusions.includeBaselinesAgain}>
                        <ActionIcon
                          aria-label={words.baselines.exclusions.includeAgain(exclusion.name)}
                          onClick={() => {
                            deletion.remove(exclusion.id, words.baselines.exclusions.baselinesIncludeAgain(exclusion.name), () =>
                              deleteExclusion(exclusion.id),
                            );
                          }}
                        >
                          <IconTrash size={15} />
                        </ActionIcon>
                      </Tooltip>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {isAdding && (
        <ExcludeDialog
          host={null}
          window={initial}
          zone={zone}
          onClose={() => {
            setAdding(false);
          }}
        />
      )}
    </>
  );
}
