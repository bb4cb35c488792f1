import { Button, Paper, Select, Table, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { hostsQuery } from "../../api/queries";
import { createWatchMute, endWatchMute, rulesQuery, watchMutesQuery } from "../../api/watch";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import { WindowInputs } from "../../components/WindowInputs";
import type { WatchMute } from "../../logic/api";
import { fromApi, HOUR, SECOND, toEpochMs, toIso, type Window } from "../../logic/time";
import { describeMute, muteState, wholeSeconds } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { readNow, useNow } from "../../state/clock";
import { ReasonField } from "../../components/NameAndNote";
import { RowForm } from "../../components/RowForm";
import { words } from "../../words";

const STATES = { planned: words.watch.mutes.planned, muted: words.watch.mutes.muted, ended: words.watch.mutes.ended } as const;

/** Mutes and maintenance windows: those that count, that are planned, and that ended lately. */
export function MuteList({ zone }: { readonly zone: Zone }) {
  const me = useMe();
  const mutes = useQuery(watchMutesQuery);
  return (
    <>
      <Text fz="sm" className="soft" mb="sm">
        {words.watch.mutes.whatMutesAre}
      </Text>
      <ScrollCard label={words.watch.watchPage.mutes}>
        {mutes.data === undefined ? (
          <PendingView query={mutes} what={words.watch.mutes.theMutes} />
        ) : mutes.data.mutes.length === 0 ? (
          <StateView state={{ kind: "empty", title: words.watch.mutes.none, next: words.watch.mutes.noneNext }} />
        ) : (
          <MuteTable mutes={mutes.data.mutes} zone={zone} />
        )}
      </ScrollCard>
      {mayWrite(me) && <MuteForm zone={zone} />}
    </>
  );
}

function MuteTable({ mutes, zone }: { readonly mutes: readonly WatchMute[]; readonly zone: Zone }) {
  const me = useMe();
  const now = useNow(SECOND);
  const client = useQueryClient();
  const ending = useMutation({ mutationFn: endWatchMute, onSuccess: () => client.invalidateQueries({ queryKey: ["watch"] }) });
  return (
    <>
      <ErrorLine error={ending.error} />
      <Table aria-label={words.watch.watchPage.mutes}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.watch.mutes.covers}</Table.Th>
            <Table.Th>{words.common.from}</Table.Th>
            <Table.Th>{words.watch.mutes.until}</Table.Th>
            <Table.Th>{words.common.state}</Table.Th>
            <Table.Th>{words.common.reason}</Table.Th>
            <Table.Th>{words.common.by}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {mutes.map((mute) => {
            const state = muteState(mute, now);
            const what = describeMute(mute);
            return (
              <Table.Tr key={mute.id}>
                <Table.Td>{what}</Table.Td>
                <Table.Td>
                  <Instant at={fromApi(mute.start)} zone={zone} />
                </Table.Td>
                <Table.Td>
                  {mute.end === null ? words.watch.mutes.untilEnded : <Instant at={fromApi(mute.end)} zone={zone} />}
                </Table.Td>
                <Table.Td>{STATES[state]}</Table.Td>
                <Table.Td>{mute.reason}</Table.Td>
                <Table.Td>{mute.created_by}</Table.Td>
                <Table.Td>
                  {mayWrite(me) && state !== "ended" && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={words.watch.mutes.endMute(what)}
                      onClick={() => {
                        ending.mutate(mute.id);
                      }}
                    >
                      {words.watch.mutes.endNow}
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </>
  );
}

function nextHours(): Window {
  const now = readNow();
  return wholeSeconds({ start: now, end: toEpochMs(now + 2 * HOUR) });
}

function MuteForm({ zone }: { readonly zone: Zone }) {
  const client = useQueryClient();
  const hosts = useQuery(hostsQuery);
  const rules = useQuery(rulesQuery);
  const [first] = useState(nextHours);
  const [window, setWindow] = useState<Window | null>(first);
  const [host, setHost] = useState<string | null>(null);
  const [tag, setTag] = useState("");
  const [rule, setRule] = useState<string | null>(null);
  const [reason, setReason] = useState("");
  const creating = useMutation({
    mutationFn: ({ start, end }: Window) =>
      createWatchMute({
        host,
        tag: tag.trim() === "" ? null : tag.trim(),
        source: rule,
        start: toIso(start),
        end: toIso(end),
        reason,
      }),
    onSuccess: async () => {
      setReason("");
      await client.invalidateQueries({ queryKey: ["watch"] });
    },
  });
  return (
    <Paper className="card" p="md" mt="md">
      <Title order={2} fz="md" mb="xs">
        {words.watch.mutes.newMute}
      </Title>
      <RowForm
        action={words.watch.mutes.create}
        isReady={window !== null}
        isPending={creating.isPending}
        error={creating.error}
        onSubmit={() => {
          if (window !== null) {
            creating.mutate(window);
          }
        }}
      >
        <Select
          size="xs"
          w={170}
          label={words.common.host}
          placeholder={words.watch.watchPage.allHosts}
          clearable
          searchable
          value={host}
          data={(hosts.data?.hosts ?? []).map(({ name }) => name)}
          onChange={setHost}
        />
        <TextInput
          size="xs"
          w={120}
          label={words.watch.mutes.tag}
          value={tag}
          onChange={(event) => {
            setTag(event.currentTarget.value);
          }}
        />
        <Select
          size="xs"
          w={240}
          label={words.watch.watchPage.rule}
          placeholder={words.watch.watchPage.allRules}
          clearable
          searchable
          value={rule}
          data={(rules.data?.rules ?? []).map(({ name, title }) => ({ value: name, label: title }))}
          onChange={setRule}
        />
        <div style={{ flex: 1, minWidth: 320 }}>
          <WindowInputs window={first} zone={zone} onChange={setWindow} />
        </div>
        <ReasonField size="xs" w={220} value={reason} onChange={setReason} />
      </RowForm>
    </Paper>
  );
}
