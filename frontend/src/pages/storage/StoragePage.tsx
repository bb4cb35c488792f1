import { Group, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { storageQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Instant } from "../../components/Instant";
import { isAdministrator, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { PendingView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import { fromApi } from "../../logic/time";
import { decodeListView, encodeListView } from "../../state/url";
import { Deletions } from "./Deletions";
import { HostSizes } from "./HostSizes";
import { RetentionRules } from "./RetentionRules";
import { StatSizes } from "./StatSizes";
import { Summary } from "./Summary";
import { nodes } from "../../components/nodes";
import "./storage.css";

/** Disk usage, the forecast of when the disk is full, and retention. */
export function StoragePage() {
  useDocumentTitle("Storage · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeListView(search), [search]);
  const storage = useQuery(storageQuery);
  const mayDelete = isAdministrator(useMe());
  const zone = useZone(view.clock);
  const { data } = storage;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group gap="sm" align="baseline" mb="sm">
        <Title order={1}>Storage</Title>
        {data && (
          <Text fz="sm" className="soft">
            {nodes`${data.kind} · measured ${<Instant at={fromApi(data.measured_at)} zone={zone} />}`}
          </Text>
        )}
      </Group>
      {data === undefined ? (
        <div className="card">
          <PendingView query={storage} what="sizes" />
        </div>
      ) : (
        <>
          <Summary storage={data} />
          <div className="storage-tables">
            <StatSizes stats={data.stats} />
            <HostSizes hosts={data.hosts} zone={zone} clock={view.clock} mayDelete={mayDelete} />
          </div>
        </>
      )}
      <Deletions zone={zone} />
      <PageLink to="/jobs" search={encodeListView({ clock: view.clock, filter: "" })} fz="sm">
        All jobs
      </PageLink>
      <RetentionRules zone={zone} mayChange={mayDelete} />
    </div>
  );
}
