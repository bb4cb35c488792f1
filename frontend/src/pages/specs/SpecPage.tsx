import { Alert, Button, Code, Collapse, Group, Text, Title } from "@mantine/core";
import { useDisclosure, useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { api, ApiError } from "../../api/client";

import { specQuery, specsQuery, statsQuery } from "../../api/queries";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { CopyBox } from "../../components/CopyBox";
import { isAdministrator, useMe } from "../../components/me";
import { PageButton, PageLink } from "../../components/PageLink";
import { PendingView, StateView } from "../../components/StateView";
import type { SpecDetail, StatInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { systemName } from "../../logic/specs";
import { decodeListView, encodeListView } from "../../state/url";
import { FieldTable } from "./FieldTable";
import { Outdated } from "./SpecsPage";
import { counted } from "../../logic/counted";
import "./specs.css";

/** One spec: its stats, the documentation of its fields, and its text. */
export function SpecPage() {
  const { spec } = useParams({ from: "/shell/specs/$spec" });
  useDocumentTitle(`${spec} · normstat`);
  const detail = useQuery(specQuery(spec));
  const stats = useQuery(statsQuery);
  const error = detail.error ?? stats.error;
  return (
    <div className="page">
      {detail.data !== undefined && stats.data !== undefined ? (
        <Spec detail={detail.data} stats={stats.data.stats.filter((stat) => stat.spec === spec)} />
      ) : error instanceof ApiError && error.status === 404 ? (
        <StateView
          state={{
            kind: "empty",
            title: `Spec ${spec} not found`,
            next: (
              <PageLink to="/specs" search={{}}>
                Show all specs
              </PageLink>
            ),
          }}
        />
      ) : (
        <PendingView query={{ error, refetch: () => Promise.all([detail.refetch(), stats.refetch()]) }} what={spec} />
      )}
    </div>
  );
}

function Spec({ detail, stats }: { readonly detail: SpecDetail; readonly stats: readonly StatInfo[] }) {
  const me = useMe();
  const search = useSearch({ strict: false });
  const { clock } = useMemo(() => decodeListView(search), [search]).view;
  const list = encodeListView({ clock, filter: "" });
  const [isTextOpen, text] = useDisclosure(false);
  const [isDeleting, setDeleting] = useState(false);
  const isOwn = !detail.is_builtin;
  return (
    <>
      <Group justify="space-between" align="flex-start" mb={4}>
        <Group gap="sm" align="baseline">
          <Title order={1}>{detail.name}</Title>
          <Text fz="sm" className="soft">
            {`${isOwn ? "add-on" : "built in"} · version ${String(detail.version)} · ${systemName(detail.os)} · ${counted(detail.n_streams, "stream")}`}
          </Text>
        </Group>
        <Group gap="xs">
          <PageButton to="/specs" search={list} variant="subtle" color="gray">
            All specs
          </PageButton>
          {isOwn && isAdministrator(me) && (
            <>
              <PageButton to="/specs/$spec/edit" params={{ spec: detail.name }} search={list} variant="light">
                Edit
              </PageButton>
              <Button
                variant="default"
                onClick={() => {
                  setDeleting(true);
                }}
              >
                Delete
              </Button>
            </>
          )}
        </Group>
      </Group>
      <Text fz="sm" mb="sm">
        {detail.title}
      </Text>
      {detail.disabled_reason !== "" && (
        <Alert color="red" title="This add-on is disabled" mb="sm">
          {`${detail.disabled_reason}. The bytes of its streams are kept. Correct the spec, then reparse the streams.`}
        </Alert>
      )}
      {detail.n_streams_outdated > 0 && (
        <Group mb="sm">
          <Outdated spec={detail} />
        </Group>
      )}
      {stats.map((stat) => (
        <StatSection key={stat.name} stat={stat} />
      ))}
      {stats.length === 0 && (
        <Text fz="sm" className="soft">
          The server has not loaded its stats yet. Reload the page in a moment.
        </Text>
      )}
      <Button variant="default" mt="sm" aria-expanded={isTextOpen} onClick={text.toggle}>
        {isTextOpen ? "Hide spec text" : `Show spec text (${formatCount(detail.toml.length)} characters of TOML)`}
      </Button>
      <Collapse expanded={isTextOpen}>
        <div className="spec-text">
          <CopyBox text={detail.toml} what="the spec text" />
        </div>
      </Collapse>
      {isDeleting && (
        <DeleteSpecDialog
          detail={detail}
          onClose={() => {
            setDeleting(false);
          }}
        />
      )}
    </>
  );
}

function StatSection({ stat }: { readonly stat: StatInfo }) {
  return (
    <section aria-label={stat.name} className="spec-stat">
      <Title order={2}>{stat.title}</Title>
      <Text fz="sm" className="soft" mb={6}>
        <span className="mono">{stat.name}</span>
        {stat.instance_title !== "" && `, a row for each ${stat.instance_title}`}
        {stat.commands.length > 0 && (
          <>
            , by{" "}
            {stat.commands.map((command, index) => (
              <span key={command}>
                {index > 0 && " or "}
                <Code>{command}</Code>
              </span>
            ))}
          </>
        )}
      </Text>
      <FieldTable stat={stat} />
    </section>
  );
}

function DeleteSpecDialog({ detail, onClose }: { readonly detail: SpecDetail; readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => api.DELETE("/specs/{name}", { params: { path: { name: detail.name } } }),
    onSuccess: () => {
      client.removeQueries({ queryKey: specQuery(detail.name).queryKey });
      void client.invalidateQueries({ queryKey: specsQuery.queryKey });
      void client.invalidateQueries({ queryKey: statsQuery.queryKey });
      void navigate({ to: "/specs", search: {} });
    },
  });
  return (
    <ConfirmDialog
      title={`Delete ${detail.name}?`}
      action="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onConfirm={() => {
        deleting.mutate();
      }}
      onClose={onClose}
    >
      {detail.n_streams > 0
        ? `${counted(detail.n_streams, "stream")} still use it. A spec in use cannot be deleted.`
        : "No streams use it. Copy its text first if you may need it again."}
    </ConfirmDialog>
  );
}
