import { Button, Group, Paper, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { checkSilence, muteBySilenceLink } from "../../api/alerts";
import { ErrorLine, StateView } from "../../components/StateView";
import type { SilenceOffer } from "../../logic/api";
import { takeLoginToken } from "../../state/url";
import { words } from "../../words";

const LENGTHS = [
  { value: "60", label: words.watch.actions.forAnHour },
  { value: "240", label: words.watch.silence.forFourHours },
  { value: "480", label: words.watch.actions.forEightHours },
  { value: "1440", label: words.watch.silence.forADay },
];

/** Where the link of a message leads (`/silence#token=...`): what it would mute, and a button that does. No login is needed. */
export function SilencePage() {
  useDocumentTitle(words.watch.silence.title);
  const [token, setToken] = useState<string | null>(null);
  const checking = useMutation({ mutationFn: checkSilence });
  const { mutate } = checking;
  const isTaken = useRef(false);
  useEffect(() => {
    // React runs effects twice in development, and the address has the token only once.
    if (!isTaken.current) {
      isTaken.current = true;
      const taken = takeLoginToken();
      setToken(taken ?? "");
      if (taken !== null) {
        mutate(taken);
      }
    }
  }, [mutate]);
  return (
    <main className="page">
      <Paper withBorder p="xl" maw={520} mx="auto" mt="8vh">
        <Group gap={10} mb="md">
          <img src="/icon.svg" alt="" width={30} height={30} />
          <Title order={1}>{words.watch.silence.heading}</Title>
        </Group>
        {token === "" ? (
          <StateView
            isCompact
            state={{ kind: "empty", title: words.watch.silence.noToken, next: words.watch.silence.noTokenNext }}
          />
        ) : checking.error ? (
          <StateView isCompact state={{ kind: "error", error: checking.error }} />
        ) : checking.data === undefined || token === null ? (
          <StateView isCompact state={{ kind: "loading" }} />
        ) : (
          <Offer offer={checking.data} token={token} />
        )}
      </Paper>
    </main>
  );
}

function Offer({ offer, token }: { readonly offer: SilenceOffer; readonly token: string }) {
  const [minutes, setMinutes] = useState("60");
  const [reason, setReason] = useState("");
  const muting = useMutation({ mutationFn: () => muteBySilenceLink(token, Number(minutes), reason.trim()) });
  if (muting.data !== undefined) {
    return (
      <Text role="status">
        {words.watch.silence.isMuted} <a href="/watch?tab=mutes">{words.watch.silence.toMutes}</a>
      </Text>
    );
  }
  if (offer.is_used) {
    return (
      <Text>
        {words.watch.silence.isUsed} <a href="/watch">{words.watch.silence.toWatch}</a>
      </Text>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        muting.mutate();
      }}
    >
      <Stack gap="sm">
        <Text fz="sm">{words.watch.silence.whatItMutes(offer.route)}</Text>
        <ul>
          {offer.places.map(({ host, source }) => (
            <li key={`${host ?? ""} ${source}`}>{words.watch.silence.place(source, host ?? words.watch.silence.anyHost)}</li>
          ))}
        </ul>
        <Select
          label={words.watch.silence.howLong}
          allowDeselect={false}
          value={minutes}
          data={LENGTHS}
          onChange={(chosen) => {
            setMinutes(chosen ?? "60");
          }}
        />
        <TextInput
          label={words.common.reason}
          maxLength={500}
          value={reason}
          onChange={(event) => {
            setReason(event.currentTarget.value);
          }}
        />
        <ErrorLine error={muting.error} />
        <Button type="submit" loading={muting.isPending}>
          {words.watch.silence.mute}
        </Button>
      </Stack>
    </form>
  );
}
