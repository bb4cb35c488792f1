import { Group, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { importQuery, importsQuery } from "../../api/queries";
import { useUploads } from "../../api/uploads";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import { withNews } from "../../logic/imports";
import { isActive } from "../../logic/job";
import { decodeImportsView, encodeImportsView, encodeListView, type ImportsView } from "../../state/url";
import { ImportForm } from "./ImportForm";
import { ImportList } from "./ImportList";
import { Uploads } from "./Uploads";
import { words } from "../../words";
import "./ImportsPage.css";

/** Loads files that were recorded without an agent, and shows the results. */
export function ImportsPage() {
  useDocumentTitle(words.imports.importsPage.importNormstat);
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeImportsView(search), [search]);
  const navigate = useNavigate();
  const client = useQueryClient();
  const me = useMe();
  const imports = useQuery(importsQuery);
  const uploads = useUploads();
  const zone = useZone(view.clock);
  const setView = (change: Partial<ImportsView>): void => {
    void navigate({ to: "/imports", search: encodeImportsView({ ...view, ...change }), replace: true, resetScroll: false });
  };

  const nSent = uploads.filter(({ state }) => state === "sent").length;
  const listed = imports.data?.imports ?? [];
  const news = useQueries({
    queries: listed
      .filter((item) => isActive(item) || item.id === view.importId)
      .map(({ id }) => ({ ...importQuery(id), retry: false })),
    combine: (answers) => answers.map(({ data }) => data),
  });
  const shown = withNews(listed, news);
  const nActive = shown.filter(isActive).length;
  useEffect(() => {
    void client.invalidateQueries({ queryKey: importsQuery.queryKey });
  }, [client, nSent]);
  useEffect(() => {
    // An import ended: there may be new hosts and stats.
    for (const key of ["imports", "hosts", "host", "accounts", "stats", "instances", "coverage"]) {
      void client.invalidateQueries({ queryKey: [key] });
    }
  }, [client, nActive]);

  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Title order={1} mb={4}>
        {words.common.import}
      </Title>
      <Text fz="sm" className="soft" mb="sm">
        {words.imports.importsPage.loadRecordedToolOutput}
      </Text>
      {mayWrite(me) ? (
        <ImportForm
          host={view.host}
          zone={zone}
          onHost={(host) => {
            setView({ host });
          }}
        />
      ) : (
        <Text fz="sm" mb="md">
          {words.imports.importsPage.youCanViewImports}
        </Text>
      )}
      <Uploads uploads={uploads} />
      <Group gap="sm" align="baseline" mb={6}>
        <Title order={2}>{words.imports.importsPage.loaded}</Title>
        <PageLink to="/jobs" search={encodeListView({ clock: view.clock, filter: "" })} fz="sm">
          {words.imports.importsPage.allJobs}
        </PageLink>
      </Group>
      <ScrollCard label={words.imports.importsPage.imports}>
        {imports.data === undefined ? (
          <PendingView query={imports} what={words.imports.importsPage.theImports} />
        ) : shown.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: words.imports.importsPage.noImportsYet,
              next: words.imports.importsPage.chooseHostAboveDrop,
            }}
          />
        ) : (
          <ImportList
            imports={shown}
            openId={view.importId}
            clock={view.clock}
            onOpen={(importId) => {
              setView({ importId });
            }}
          />
        )}
      </ScrollCard>
    </div>
  );
}
