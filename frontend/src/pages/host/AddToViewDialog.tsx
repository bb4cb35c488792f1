import { Button, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { createView, updateView, viewsQuery } from "../../api/views";
import { FormDialog } from "../../components/FormDialog";
import { PendingView } from "../../components/StateView";
import type { ViewPanel } from "../../logic/api";
import { decodeHostView, encodeHostView } from "../../state/url";
import { words } from "../../words";

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
        ? createView({ name: name.trim(), description: "", is_shared: false, panels: [panel] })
        : updateView(view.key, { panels: [...view.panels, panel] }),
    onSuccess: () => client.invalidateQueries({ queryKey: viewsQuery.queryKey }),
  });
  const saved = saving.data;
  const title = panel.title === "" ? words.host.addToViewDialog.thisPanel : panel.title;
  if (views.data === undefined) {
    return (
      <Modal opened onClose={onClose} title={words.host.addToViewDialog.addToAView(title)}>
        <PendingView isCompact query={views} what={words.host.addToViewDialog.views} />
      </Modal>
    );
  }
  if (saved !== undefined) {
    return (
      <Modal opened onClose={onClose} title={words.host.addToViewDialog.addToAView(title)}>
        <Stack gap="sm">
          <Text fz="sm" role="status">
            {words.host.addToViewDialog.hasNowLastPanel(saved.name, title)}
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
              {words.host.addToViewDialog.show(saved.name)}
            </Button>
            <Button data-autofocus onClick={onClose}>
              {words.common.close}
            </Button>
          </Group>
        </Stack>
      </Modal>
    );
  }
  return (
    <FormDialog
      title={words.host.addToViewDialog.addToAView(title)}
      action={words.host.addToViewDialog.addPanel}
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
        label={words.host.addToViewDialog.view}
        searchable
        allowDeselect={false}
        data={[
          ...own.map((each) => ({ value: each.key, label: each.name })),
          { value: NEW, label: words.host.addToViewDialog.aNewView },
        ]}
        value={key}
        onChange={setChosen}
      />
      {view === undefined && (
        <TextInput
          size="xs"
          label={words.common.name}
          placeholder={words.host.addToViewDialog.whatPanelsAnswerE}
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
