import { api } from "../../api/client";
import { Group, Paper, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { StateView } from "../../components/StateView";
import type { SharedContent } from "../../logic/api";
import { utcMinute } from "../../logic/share_link";
import { takeLoginToken } from "../../state/url";
import "./shared.css";

/** What the frame may do: hand over files, open links in a tab of their own; no scripts. */
const CONTENT_MAY = ["allow-downloads", "allow-popups"].join(" ");

/** Where a share link leads (`/shared#token=...`): the comparison or report, and who shared it until when. No login is needed. */
export function SharedPage() {
  const [token, setToken] = useState<string | null>(null);
  const opening = useMutation({ mutationFn: (token: string) => api.POST("/share-links/open", { body: { token } }) });
  const { mutate } = opening;
  const isTaken = useRef(false);
  useDocumentTitle(`${opening.data?.title ?? "Shared with you"} - normstat`);
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
  if (opening.data) {
    return <Content content={opening.data} />;
  }
  return (
    <main className="page">
      <Paper withBorder p="xl" maw={520} mx="auto" mt="8vh">
        <Group gap={10} mb="md">
          <img src="/icon.svg" alt="" width={30} height={30} />
          <Title order={1}>Shared with you</Title>
        </Group>
        {token === "" ? (
          <StateView
            isCompact
            state={{ kind: "empty", title: "This address is not complete", next: "Open the link again as it was sent to you." }}
          />
        ) : opening.error ? (
          <StateView isCompact state={{ kind: "error", error: opening.error }} />
        ) : (
          <StateView isCompact state={{ kind: "loading" }} />
        )}
      </Paper>
    </main>
  );
}

function Content({ content }: { readonly content: SharedContent }) {
  return (
    <main className="shared">
      <header>
        <img src="/icon.svg" alt="" width={20} height={20} />
        <Title order={1} fz="md">
          {content.title}
        </Title>
        <Text fz="sm" className="soft">
          {`Shared by ${content.shared_by}, valid until ${utcMinute(content.expires_at)}`}
        </Text>
      </header>
      <iframe title={content.title} sandbox={CONTENT_MAY} referrerPolicy="no-referrer" srcDoc={content.html} />
    </main>
  );
}
