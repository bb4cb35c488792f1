import { api } from "../../api/client";
import { Button, Paper, Select, Table, Text, TextInput, Title } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { hostsQuery } from "../../api/queries";
import { rulesQuery, watchMutesQuery } from "../../api/watch";
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
import { nullable, useServerForm } from "../../components/useServerForm";

const STATES = { planned: "planned", muted: "muted now", ended: "ended" } as const;

/** Mutes and maintenance windows: those that count, that are planned, and that ended lately. */
export function MuteList({ zone }: { readonly zone: Zone }) {
  const me = useMe();
  const mutes = useQuery(watchMutesQuery);
  return (
    <>
      <Text fz="sm" className="soft" mb="sm">
        During a mute, such as a maintenance window, episodes send no alerts. They are recorded and listed.
      </Text>
      <ScrollCard label="Mutes">
        {mutes.data === undefined ? (
          <PendingView query={mutes} what="the mutes" />
        ) : mutes.data.mutes.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: "Nothing is muted",
              next: "Plan a maintenance window here, or mute what is on from its row.",
            }}
          />
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
  const ending = useMutation({
    mutationFn: (id: number) => api.DELETE("/watch/mutes/{id}", { params: { path: { id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["watch"] }),
  });
  return (
    <>
      <ErrorLine error={ending.error} />
      <Table aria-label="Mutes">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Covers</Table.Th>
            <Table.Th>From</Table.Th>
            <Table.Th>Until</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Reason</Table.Th>
            <Table.Th>By</Table.Th>
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
                <Table.Td>{mute.end === null ? "until it is ended" : <Instant at={fromApi(mute.end)} zone={zone} />}</Table.Td>
                <Table.Td>{STATES[state]}</Table.Td>
                <Table.Td>{mute.reason}</Table.Td>
                <Table.Td>{mute.created_by}</Table.Td>
                <Table.Td>
                  {mayWrite(me) && state !== "ended" && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`End now: mute of ${what}`}
                      onClick={() => {
                        ending.mutate(mute.id);
                      }}
                    >
                      End now
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
  const hosts = useQuery(hostsQuery);
  const rules = useQuery(rulesQuery);
  const [first] = useState(nextHours);
  const { form, submission } = useServerForm({
    initialValues: { host: null as string | null, tag: "", source: null as string | null, window: nullable(first), reason: "" },
    validate: { window: isNotEmpty() },
    send: ({ tag, window, ...body }) => {
      const { start, end } = window ?? first;
      return api.POST("/watch/mutes", {
        body: { ...body, tag: tag.trim() === "" ? null : tag.trim(), start: toIso(start), end: toIso(end) },
      });
    },
    renews: [["watch"]],
    onSaved: (_, { resetField }) => {
      resetField("reason");
    },
  });
  return (
    <Paper className="card" p="md" mt="md">
      <Title order={2} fz="md" mb="xs">
        New mute
      </Title>
      <RowForm {...submission} action="Mute">
        <Select
          size="xs"
          w={170}
          label="Host"
          placeholder="All hosts"
          clearable
          searchable
          data={(hosts.data?.hosts ?? []).map(({ name }) => name)}
          {...form.getInputProps("host")}
        />
        <TextInput size="xs" w={120} label="Tag" {...form.getInputProps("tag")} />
        <Select
          size="xs"
          w={240}
          label="Rule"
          placeholder="All rules"
          clearable
          searchable
          data={(rules.data?.rules ?? []).map(({ name, title }) => ({ value: name, label: title }))}
          {...form.getInputProps("source")}
        />
        <div style={{ flex: 1, minWidth: 320 }}>
          <WindowInputs window={first} zone={zone} {...form.getInputProps("window")} />
        </div>
        <ReasonField size="xs" w={220} {...form.getInputProps("reason")} />
      </RowForm>
    </Paper>
  );
}
