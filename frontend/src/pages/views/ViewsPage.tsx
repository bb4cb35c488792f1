import { api } from "../../api/client";
import { ActionIcon, Badge, Button, FileButton, Group, Select, Table, Text, Title, Tooltip } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconCopy, IconDownload, IconPencil, IconStar, IconStarFilled, IconTrash, IconUpload } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { hostsQuery, statsQuery, viewsQuery } from "../../api/queries";
import { FilteredList } from "../../components/FilteredList";
import { FilterBox } from "../../components/ListFilters";
import { IgnoredNote } from "../../components/IgnoredNote";
import { PageLink } from "../../components/PageLink";
import { ErrorLine } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import { ViewEditor } from "../../components/ViewEditor";
import type { StatInfo, ViewInfo } from "../../logic/api";
import { formatViewFile, parseViewFile, type ViewFile } from "../../logic/view";
import { type Clock, decodeListView, DEFAULT_HOST_VIEW, encodeHostView, encodeListView } from "../../state/url";
import { counted } from "../../logic/counted";

type Dialog =
  | { readonly kind: "edit"; readonly view: ViewInfo }
  | { readonly kind: "new"; readonly title: string; readonly initial: ViewFile };

/** All saved views: those that come with normstat, shared ones and one's own. */
export function ViewsPage() {
  useDocumentTitle("Views · normstat");
  const search = useSearch({ strict: false });
  const { view: listView, ignored } = useMemo(() => decodeListView(search), [search]);
  const navigate = useNavigate();
  const views = useQuery(viewsQuery);
  const stats = useQuery(statsQuery);
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  const [host, setHost] = useState<string | null>(null);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [fileError, setFileError] = useState<Error | null>(null);
  const close = (): void => {
    setDialog(null);
  };
  const filterBy = (filter: string): void => {
    void navigate({ to: "/views", search: encodeListView({ ...listView, filter }), replace: true });
  };
  const all = useDeletion("view", []).remaining(views.data?.views ?? [], ({ key }) => key);
  const terms = listView.filter.toLowerCase();
  const shown = all.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(terms));
  const openOn = host ?? hosts[0]?.name ?? null;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb={4}>
        <Group gap="sm">
          <Title order={1}>Views</Title>
          {views.data && (
            <Text fz="sm" className="soft">
              {counted(all.length, "view")}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          <FilterBox
            label="Filter views"
            placeholder="Filter by name or description"
            value={listView.filter}
            onChange={filterBy}
          />
          <Select
            size="xs"
            w={180}
            aria-label="Open on host"
            placeholder="Open on host"
            searchable
            data={hosts.map(({ name }) => name)}
            value={openOn}
            onChange={setHost}
          />
          <FileButton
            accept="application/json,.json"
            onChange={(file) => {
              setFileError(null);
              void file?.text().then((text) => {
                const parsed = parseViewFile(text);
                if (typeof parsed === "string") {
                  setFileError(new Error(parsed));
                } else {
                  setDialog({ kind: "new", title: "Import a view", initial: parsed });
                }
              });
            }}
          >
            {(props) => (
              <Button {...props} size="xs" variant="light" leftSection={<IconUpload size={14} />}>
                Import a file
              </Button>
            )}
          </FileButton>
        </Group>
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        {
          "A view is a set of panels that opens on any host. To make one, choose panels on a host's page and save them there, or copy a view from this list."
        }
      </Text>
      <ErrorLine error={fileError} />
      <FilteredList
        label="Views"
        query={views}
        n={shown.length}
        isFiltered={listView.filter !== ""}
        words={listView.filter}
        onAll={() => {
          filterBy("");
        }}
      >
        <ViewTable views={shown} host={openOn} clock={listView.clock} onDialog={setDialog} />
      </FilteredList>
      {dialog !== null && <ViewDialog dialog={dialog} stats={stats.data?.stats ?? []} onClose={close} />}
    </div>
  );
}

interface ViewTableProps {
  readonly views: readonly ViewInfo[];
  readonly host: string | null;
  readonly clock: Clock;
  readonly onDialog: (dialog: Dialog) => void;
}

function ViewTable({ views, host, clock, onDialog }: ViewTableProps) {
  return (
    <Table aria-label="Views">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={36} />
          <Table.Th>Name</Table.Th>
          <Table.Th>Description</Table.Th>
          <Table.Th className="number">Panels</Table.Th>
          <Table.Th>From</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {views.map((view) => (
          <Table.Tr key={view.key}>
            <Table.Td>
              <Star view={view} />
            </Table.Td>
            <Table.Td fw={600}>
              {host === null ? (
                view.name
              ) : (
                <PageLink
                  to="/hosts/$host"
                  params={{ host }}
                  search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, viewKeys: [view.key] })}
                >
                  {view.name}
                </PageLink>
              )}
            </Table.Td>
            <Table.Td>{view.description}</Table.Td>
            <Table.Td className="number">{view.panels.length}</Table.Td>
            <Table.Td>
              {view.is_ready_made ? "normstat" : view.created_by}{" "}
              {!view.is_shared && (
                <Badge size="xs" variant="outline" color="gray">
                  private
                </Badge>
              )}
            </Table.Td>
            <Table.Td>
              <ViewActions view={view} onDialog={onDialog} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Star({ view }: { readonly view: ViewInfo }) {
  const client = useQueryClient();
  const starring = useMutation({
    mutationFn: () =>
      api.PUT("/views/{key}/star", { body: { is_starred: !view.is_starred }, params: { path: { key: view.key } } }),
    onSettled: () => client.invalidateQueries({ queryKey: viewsQuery.queryKey }),
  });
  return (
    <ActionIcon
      aria-label={`Star ${view.name}`}
      aria-pressed={view.is_starred}
      loading={starring.isPending}
      onClick={() => {
        starring.mutate();
      }}
    >
      {view.is_starred ? <IconStarFilled size={16} /> : <IconStar size={16} />}
    </ActionIcon>
  );
}

function ViewActions({ view, onDialog }: { readonly view: ViewInfo; readonly onDialog: (dialog: Dialog) => void }) {
  const deletion = useDeletion("view", [viewsQuery.queryKey]);
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {view.may_change && (
        <Tooltip label="Edit">
          <ActionIcon
            aria-label={`Edit ${view.name}`}
            onClick={() => {
              onDialog({ kind: "edit", view });
            }}
          >
            <IconPencil size={16} />
          </ActionIcon>
        </Tooltip>
      )}
      <Tooltip label="Copy">
        <ActionIcon
          aria-label={`Copy ${view.name}`}
          onClick={() => {
            onDialog({ kind: "new", title: `Copy ${view.name}`, initial: { ...view, name: `Copy of ${view.name}` } });
          }}
        >
          <IconCopy size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Export as a file">
        <ActionIcon
          component="a"
          aria-label={`Export ${view.name}`}
          download={`${view.key}.view.json`}
          href={`data:application/json;charset=utf-8,${encodeURIComponent(formatViewFile(view))}`}
        >
          <IconDownload size={16} />
        </ActionIcon>
      </Tooltip>
      {view.may_change && (
        <Tooltip label="Delete">
          <ActionIcon
            aria-label={`Delete ${view.name}`}
            onClick={() => {
              deletion.remove(view.key, `Deleted the view “${view.name}”${view.is_shared ? " for all accounts" : ""}`, () =>
                api.DELETE("/views/{key}", { params: { path: { key: view.key } } }),
              );
            }}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}

interface ViewDialogProps {
  readonly dialog: Dialog;
  readonly stats: readonly StatInfo[];
  readonly onClose: () => void;
}

function ViewDialog({ dialog, stats, onClose }: ViewDialogProps) {
  switch (dialog.kind) {
    case "edit":
      return (
        <ViewEditor
          title={`Edit ${dialog.view.name}`}
          initial={dialog.view}
          viewKey={dialog.view.key}
          stats={stats}
          onSaved={onClose}
          onClose={onClose}
        />
      );
    case "new":
      return (
        <ViewEditor
          title={dialog.title}
          initial={{ ...dialog.initial, is_shared: false }}
          viewKey={null}
          stats={stats}
          onSaved={onClose}
          onClose={onClose}
        />
      );
  }
}
