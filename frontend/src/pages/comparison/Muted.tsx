import { api } from "../../api/client";
import { Button, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { MUTE_KEYS, mutesQuery } from "../../api/comparison";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import type { Comparison, StatInfo } from "../../logic/api";
import { seriesTitle } from "../../logic/comparison";
import { describeMute, matchesWords } from "../../logic/group";
import { formatScore } from "../../logic/number";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { type Place, seriesLink } from "./link";

interface MutedProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
  readonly filter: string;
  readonly place: Place;
  readonly zone: Zone;
}

/** Muted findings, and the mutes. */
export function Muted({ comparison, stats, filter, place, zone }: MutedProps) {
  const rows = comparison.muted.filter(({ host, stat, field, instance }) =>
    matchesWords(filter, `${host} ${stat} ${field} ${instance}`),
  );
  return (
    <>
      <MuteRules zone={zone} />
      <Title order={2} mt="md" mb={6}>
        Muted here
      </Title>
      {rows.length === 0 ? (
        <Text fz="sm" className="soft">
          {comparison.muted.length === 0 ? "No muted series would have been a finding." : `Nothing matches “${filter}”.`}
        </Text>
      ) : (
        <ScrollCard label="Muted series that would be findings">
          <Table aria-label="Muted series that would be findings">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Host</Table.Th>
                <Table.Th>Series</Table.Th>
                <Table.Th className="number">Change ratio</Table.Th>
                <Table.Th className="number">Significance</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Table.Tr key={`${row.host} ${row.stat} ${row.field} ${row.instance}`}>
                  <Table.Td>{row.host}</Table.Td>
                  <Table.Td>
                    <PageLink to="/hosts/$host" params={{ host: row.host }} search={seriesLink(row, place)}>
                      {seriesTitle(stats.find(({ name }) => name === row.stat) ?? null, row)}
                    </PageLink>
                  </Table.Td>
                  <Table.Td className="number">{formatScore(row.change_ratio)}</Table.Td>
                  <Table.Td className="number">{formatScore(row.significance)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollCard>
      )}
    </>
  );
}

function MuteRules({ zone }: { readonly zone: Zone }) {
  const me = useMe();
  const mutes = useQuery(mutesQuery);
  const deletion = useDeletion("mute", MUTE_KEYS);
  if (mutes.data === undefined) {
    return <PendingView isCompact query={mutes} what="muted series" />;
  }
  const known = deletion.remaining(mutes.data.mutes, ({ id }) => id);
  if (known.length === 0) {
    return <StateView isCompact state={{ kind: "empty", title: "Nothing is muted", next: "Use Mute… on a finding." }} />;
  }
  return (
    <>
      <ScrollCard label="Muted series">
        <Table aria-label="Muted series">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Series</Table.Th>
              <Table.Th>Reason</Table.Th>
              <Table.Th>Muted by</Table.Th>
              <Table.Th>Muted</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {known.map((mute) => (
              <Table.Tr key={mute.id}>
                <Table.Td>{describeMute(mute)}</Table.Td>
                <Table.Td>{mute.reason}</Table.Td>
                <Table.Td>{mute.created_by}</Table.Td>
                <Table.Td>
                  <Instant at={fromApi(mute.created_at)} zone={zone} />
                </Table.Td>
                <Table.Td>
                  {mayWrite(me) && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={`Unmute ${describeMute(mute)}`}
                      onClick={() => {
                        deletion.remove(mute.id, `Unmuted ${describeMute(mute)}`, () =>
                          api.DELETE("/mutes/{id}", { params: { path: { id: mute.id } } }),
                        );
                      }}
                    >
                      Unmute
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </>
  );
}
