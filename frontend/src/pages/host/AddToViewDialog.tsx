import { api } from "../../api/client";
import { Button, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { viewsQuery } from "../../api/queries";
import { FormDialog } from "../../components/FormDialog";
import { PendingView } from "../../components/StateView";
import type { ViewPanel } from "../../logic/api";
import { decodeHostView, encodeHostView } from "../../state/url";

interface AddToViewDialogProps {
  readonly panel: ViewPanel;
  readonly host: string;
  readonly onClose: () => void;
}

const NEW = "new";

/** Adds a panel to a view that exists, or to a new one. */
export function AddToViewDialog({ panel, host, onClose }: AddToViewDialogProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const views = useQuery(viewsQuery);
  const own = (views.data?.views ?? []).filter(({ may_change }) => may_change);
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const key = chosen ?? own[0]?.key ?? NEW;
  const view = own.find((each) => each.key === key);
  const saving = useMutation({
    mutationFn: () =>
      view === undefined
        ? api.POST("/views", { body: { name: name.trim(), description: "", is_shared: false, panels: [panel] } })
        : api.PATCH("/views/{key}", { body: { panels: [...view.panels, panel] }, params: { path: { key: view.key } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: viewsQuery.queryKey }),
  });
  const saved = saving.data;
  const title = panel.title === "" ? "this panel" : panel.title;
  if (views.data === undefined) {
    return (
      <Modal opened onClose={onClose} title={`Add ${title} to a view`}>
        <PendingView isCompact query={views} what="views" />
      </Modal>
    );
  }
  if (saved !== undefined) {
    return (
      <Modal opened onClose={onClose} title={`Add ${title} to a view`}>
        <Stack gap="sm">
          <Text fz="sm" role="status">
            {`Added ${title} to ${saved.name}.`}
          </Text>
          <Group justify="flex-end" gap="xs">
            <Button
              variant="default"
              onClick={() => {
                onClose();
                const { view: shown } = decodeHostView(search);
                void navigate({
                  to: "/hosts/$host",
                  params: { host },
                  search: encodeHostView({ ...shown, viewKeys: [saved.key], fullPanel: null }),
                });
              }}
            >
              {`Show ${saved.name}`}
            </Button>
            <Button data-autofocus onClick={onClose}>
              Close
            </Button>
          </Group>
        </Stack>
      </Modal>
    );
  }
  return (
    <FormDialog
      title={`Add ${title} to a view`}
      action="Add panel"
      isReady={view !== undefined || name.trim() !== ""}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <Select
        data-autofocus
        size="xs"
        label="View"
        searchable
        allowDeselect={false}
        data={[...own.map((each) => ({ value: each.key, label: each.name })), { value: NEW, label: "A new view" }]}
        value={key}
        onChange={setChosen}
      />
      {view === undefined && (
        <TextInput
          size="xs"
          label="Name"
          placeholder="What its panels answer, e.g. Database disks"
          maxLength={200}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
      )}
    </FormDialog>
  );
}
