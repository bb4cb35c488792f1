import { ActionIcon, Badge, Button, FileButton, Group, Select, Table, Text, TextInput, Title, Tooltip } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import {
  IconCopy,
  IconDownload,
  IconPencil,
  IconSearch,
  IconStar,
  IconStarFilled,
  IconTrash,
  IconUpload,
} from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { hostsQuery, statsQuery } from "../../api/queries";
import { deleteView, starView, viewsQuery } from "../../api/views";
import { IgnoredNote } from "../../components/IgnoredNote";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import { ViewEditor } from "../../components/ViewEditor";
import type { StatInfo, ViewInfo } from "../../logic/api";
import { formatViewFile, parseViewFile, type ViewFile } from "../../logic/view";
import { type Clock, decodeListView, DEFAULT_HOST_VIEW, encodeHostView, encodeListView } from "../../state/url";
import { words } from "../../words";

type Dialog =
  | { readonly kind: "edit"; readonly view: ViewInfo }
  | { readonly kind: "new"; readonly title: string; readonly initial: ViewFile };

/** All saved views: those that come with normstat, shared ones and one's own. */
export function ViewsPage() {
  useDocumentTitle(words.views.viewsPage.viewsNormstat);
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
  const all = useDeletion("view", []).remaining(views.data?.views ?? [], ({ key }) => key);
  const terms = listView.filter.toLowerCase();
  const shown = all.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(terms));
  const openOn = host ?? hosts[0]?.name ?? null;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb={4}>
        <Group gap="sm">
          <Title order={1}>{words.common.views}</Title>
          {views.data && (
            <Text fz="sm" className="soft">
              {words.views.viewsPage.nView(all.length)}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          <TextInput
            size="xs"
            w={220}
            aria-label={words.views.viewsPage.filterViews}
            placeholder={words.views.viewsPage.filterNameDescription}
            leftSection={<IconSearch size={14} />}
            value={listView.filter}
            onChange={(event) => {
              void navigate({
                to: "/views",
                search: encodeListView({ ...listView, filter: event.currentTarget.value }),
                replace: true,
              });
            }}
          />
          <Select
            size="xs"
            w={180}
            aria-label={words.views.viewsPage.openOnHost}
            placeholder={words.views.viewsPage.openOnHost}
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
                  setDialog({ kind: "new", title: words.views.viewsPage.importAView, initial: parsed });
                }
              });
            }}
          >
            {(props) => (
              <Button {...props} size="xs" variant="light" leftSection={<IconUpload size={14} />}>
                {words.views.viewsPage.importAFile}
              </Button>
            )}
          </FileButton>
        </Group>
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        {words.views.viewsPage.viewSetPanelsOpens}
      </Text>
      <ErrorLine error={fileError} />
      <ScrollCard label={words.common.views}>
        {views.data === undefined ? (
          <PendingView query={views} what={words.views.viewsPage.views} />
        ) : shown.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: words.views.viewsPage.noViewsMatch(listView.filter),
              next: words.views.viewsPage.clearFilterSeeAll,
            }}
          />
        ) : (
          <ViewTable views={shown} host={openOn} clock={listView.clock} onDialog={setDialog} />
        )}
      </ScrollCard>
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
    <Table aria-label={words.common.views}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={36} />
          <Table.Th>{words.common.name}</Table.Th>
          <Table.Th>{words.views.viewsPage.description}</Table.Th>
          <Table.Th className="number">{words.views.viewsPage.panels}</Table.Th>
          <Table.Th>{words.common.from}</Table.Th>
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
                  {words.views.viewsPage.private}
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
    mutationFn: () => starView(view.key, !view.is_starred),
    onSettled: () => client.invalidateQueries({ queryKey: viewsQuery.queryKey }),
  });
  return (
    <ActionIcon
      aria-label={words.views.viewsPage.star(view.name)}
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
        <Tooltip label={words.common.edit}>
          <ActionIcon
            aria-label={words.views.viewsPage.edit(view.name)}
            onClick={() => {
              onDialog({ kind: "edit", view });
            }}
          >
            <IconPencil size={16} />
          </ActionIcon>
        </Tooltip>
      )}
      <Tooltip label={words.common.copy}>
        <ActionIcon
          aria-label={words.views.viewsPage.copy(view.name)}
          onClick={() => {
            onDialog({
              kind: "new",
              title: words.views.viewsPage.copy(view.name),
              initial: { ...view, name: words.views.viewsPage.copyOf(view.name) },
            });
          }}
        >
          <IconCopy size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={words.views.viewsPage.exportAsAFile}>
        <ActionIcon
          component="a"
          aria-label={words.views.viewsPage.export(view.name)}
          download={`${view.key}.view.json`}
          href={`data:application/json;charset=utf-8,${encodeURIComponent(formatViewFile(view))}`}
        >
          <IconDownload size={16} />
        </ActionIcon>
      </Tooltip>
      {view.may_change && (
        <Tooltip label={words.common.delete}>
          <ActionIcon
            aria-label={words.views.viewsPage.delete(view.name)}
            onClick={() => {
              deletion.remove(
                view.key,
                words.views.viewsPage.deletedTheView(view.name, view.is_shared ? words.views.viewsPage.forAllAccounts : ""),
                () => deleteView(view.key),
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
          title={words.views.viewsPage.edit(dialog.view.name)}
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
