import { api } from "../../api/client";
import { Button, Group, Table, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine } from "../../components/StateView";
import { describeMessageKind } from "../../logic/alert";
import type { EpisodeInfo, RouteSettings, RouteTrialResult } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { DAY, fromApi, toEpochMs, toIso } from "../../logic/time";
import { wholeSeconds } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { mayWrite, useMe } from "../../components/me";
import { readNow } from "../../state/clock";
import { counted } from "../../logic/counted";

const MAX_SHOWN = 20;

interface RouteTrialProps {
  readonly settings: RouteSettings;
  readonly zone: Zone;
}

/** Which messages a route would have sent in the last week. Nothing is sent. */
export function RouteTrial({ settings, zone }: RouteTrialProps) {
  const me = useMe();
  const trying = useMutation({
    mutationFn: () => {
      const now = readNow();
      const { start, end } = wholeSeconds({ start: toEpochMs(now - 7 * DAY), end: now });
      return api.POST("/alert-routes/try", { body: { settings, start: toIso(start), end: toIso(end) } });
    },
  });
  return !mayWrite(me) ? null : (
    <div>
      <Group gap="sm">
        <Title order={3} fz="sm">
          Try it on the past
        </Title>
        <Button
          size="compact-sm"
          variant="default"
          loading={trying.isPending}
          disabled={settings.channels.length === 0}
          onClick={() => {
            trying.mutate();
          }}
        >
          Try on the last 7 days
        </Button>
      </Group>
      <ErrorLine error={trying.error} />
      {trying.data && <Tried result={trying.data} zone={zone} />}
    </div>
  );
}

function Tried({ result, zone }: { readonly result: RouteTrialResult; readonly zone: Zone }) {
  const { n_messages, n_alerts, messages } = result;
  const episodes = new Map(result.episodes.map((episode) => [episode.id, episode]));
  const shown = useRef<HTMLDivElement>(null);
  // A new answer stands below the lower edge of the dialog.
  useEffect(() => {
    shown.current?.scrollIntoView({ block: "nearest" });
  }, [result]);
  return (
    <div ref={shown}>
      <Text fz="sm" mt={4} mb={4} role="status">
        {n_messages === 0
          ? "It would have sent nothing in the last 7 days."
          : `In the last 7 days it would have sent ${counted(n_messages, "message")} about ${counted(n_alerts, "alert")}. Nothing was sent now.`}
      </Text>
      {messages.length > 0 && (
        <ScrollCard label="Messages that it would have sent">
          <Table aria-label="Messages that it would have sent">
            <Table.Tbody>
              {messages.slice(0, MAX_SHOWN).map((message) => (
                <Table.Tr key={`${message.at} ${String(message.alert)} ${message.kind}`}>
                  <Table.Td>
                    <Instant at={fromApi(message.at)} zone={zone} />
                  </Table.Td>
                  <Table.Td>{describeMessageKind(message.kind)}</Table.Td>
                  <Table.Td>{describeFirst(message.episodes, episodes)}</Table.Td>
                  <Table.Td>{message.channels.join(", ")}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollCard>
      )}
      {n_messages > MAX_SHOWN && (
        <Text fz="sm" className="soft">
          {`The first ${formatCount(MAX_SHOWN)} of ${formatCount(n_messages)}.`}
        </Text>
      )}
    </div>
  );
}

/** Say what a message is about: its first episode, and how many more there are. */
function describeFirst(ids: readonly number[], episodes: ReadonlyMap<number, EpisodeInfo>): string {
  const first = episodes.get(ids[0] ?? -1);
  if (first === undefined) {
    return "";
  }
  const text = `${first.host ?? "normstat"}: ${first.title} ${first.instance}`.trim();
  return ids.length === 1 ? text : `${text} and ${String(ids.length - 1)} more`;
}
