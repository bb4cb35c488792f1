import { api } from "../../api/client";
import { Button, Group, Paper, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { ErrorLine, StateView } from "../../components/StateView";
import { useServerForm } from "../../components/useServerForm";
import type { SilenceOffer } from "../../logic/api";
import { takeLoginToken } from "../../state/url";

const LENGTHS = [
  { value: 60, label: "For an hour" },
  { value: 240, label: "For four hours" },
  { value: 480, label: "For eight hours" },
  { value: 1440, label: "For a day" },
];

/** Where the link of a message leads (`/silence#token=...`): what it would mute, and a button that does. No login is needed. */
export function SilencePage() {
  useDocumentTitle("Mute · normstat");
  const [token, setToken] = useState<string | null>(null);
  const checking = useMutation({ mutationFn: (token: string) => api.POST("/alert-silences/check", { body: { token } }) });
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
          <Title order={1}>Mute an alert</Title>
        </Group>
        {token === "" ? (
          <StateView
            isCompact
            state={{
              kind: "empty",
              title: "This address is not complete",
              next: "Open the link in the message again, or mute it on the page Incidents.",
            }}
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
  const { form, submission, saved } = useServerForm({
    initialValues: { minutes: 60, reason: "" },
    send: ({ minutes, reason }) => api.POST("/alert-silences", { body: { token, minutes, reason: reason.trim() } }),
  });
  if (saved !== undefined) {
    return (
      <Text role="status">
        It is muted. It is still found and listed. <a href="/rules?tab=mutes">Mutes</a>
      </Text>
    );
  }
  if (offer.is_used) {
    return (
      <Text>
        This link was used already: it works once. <a href="/incidents">Go to Incidents</a>
      </Text>
    );
  }
  return (
    <form onSubmit={submission.onSubmit}>
      <Stack gap="sm">
        <Text fz="sm">{`This link of the route ${offer.route} mutes:`}</Text>
        <ul>
          {offer.places.map(({ host, source }) => (
            <li key={`${host ?? ""} ${source}`}>{`${source} on ${host ?? "this server or all hosts"}`}</li>
          ))}
        </ul>
        <Select label="For how long" allowDeselect={false} data={LENGTHS} {...form.getInputProps("minutes")} />
        <TextInput label="Reason" maxLength={500} {...form.getInputProps("reason")} />
        <ErrorLine error={submission.error} />
        <Button type="submit" loading={submission.isPending}>
          Mute
        </Button>
      </Stack>
    </form>
  );
}
