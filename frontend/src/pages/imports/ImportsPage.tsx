import { Group, Paper, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { ARTEFACT_KEYS } from "../../api/artefacts";
import { importQuery, importsQuery } from "../../api/queries";
import { useUploads } from "../../api/uploads";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import { counted } from "../../logic/counted";
import { describeMissing, lackingFiles, lacksTimes, missingOf } from "../../logic/import_retry";
import { isReplaced, withNews } from "../../logic/imports";
import { isActive } from "../../logic/job";
import { decodeImportsView, encodeImportsView, encodeListView, type ImportsView } from "../../state/url";
import { CompleteForm } from "./CompleteForm";
import { ImportForm } from "./ImportForm";
import { ImportList } from "./ImportList";
import { Uploads } from "./Uploads";
import "./ImportsPage.css";

/** Loads files that were recorded without an agent, and shows the results. */
export function ImportsPage() {
  useDocumentTitle("Import · normstat");
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
  // An import whose files were all tried again is replaced by those tries.
  const shown = withNews(listed, news).filter((item) => item.id === view.importId || !isReplaced(item));
  const nActive = shown.filter(isActive).length;
  const lacking = lackingFiles(shown.filter((item) => !isActive(item))).filter(({ file }) => lacksTimes(file));
  useEffect(() => {
    for (const queryKey of [importsQuery.queryKey, ["specs"], ...ARTEFACT_KEYS]) {
      void client.invalidateQueries({ queryKey });
    }
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
        Import
      </Title>
      <Text fz="sm" className="soft" mb="sm">
        Drop any file: recorded output becomes samples of its host, the answer of a tracer or profiler an artefact. Bundles and
        specs are loaded too.
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
          You can view imports. To load files, ask an administrator for the operator role.
        </Text>
      )}
      <Uploads uploads={uploads} />
      {mayWrite(me) && lacking.length > 1 && (
        <Paper className="card" p="md" mb="md" component="section" aria-label="Files to complete">
          <Text
            fz="sm"
            fw={600}
          >{`${counted(lacking.length, "file")} lack their times: ${describeMissing(missingOf(lacking))}`}</Text>
          <CompleteForm files={lacking} zone={zone} />
        </Paper>
      )}
      <Group gap="sm" align="baseline" mb={6}>
        <Title order={2}>Loaded</Title>
        <PageLink to="/jobs" search={encodeListView({ clock: view.clock, filter: "" })} fz="sm">
          All jobs
        </PageLink>
      </Group>
      <ScrollCard label="Imports">
        {imports.data === undefined ? (
          <PendingView query={imports} what="the imports" />
        ) : shown.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: "No imports yet",
              next: "Choose the host above, drop the files, and press Load. The result of each file appears here.",
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
