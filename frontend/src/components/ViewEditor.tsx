import { api } from "../api/client";
import { ActionIcon, Checkbox, Group, SegmentedControl, Table, Text, TextInput } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconGripVertical, IconTrash } from "@tabler/icons-react";
import { isNotEmpty } from "@mantine/form";
import { type DragEvent, useState } from "react";
import { viewsQuery } from "../api/queries";
import type { StatInfo, ViewInfo, ViewPanel } from "../logic/api";
import { describePanel, moveItem, type ViewFile } from "../logic/view";
import { mayWrite, useMe } from "./me";
import { FormDialog } from "./FormDialog";
import { NameField, NoteField } from "./NameAndNote";
import { useServerForm } from "./useServerForm";
import { counted } from "../logic/counted";
import "./ViewEditor.css";

interface ViewEditorProps {
  readonly title: string;
  readonly initial: ViewFile & { readonly is_shared: boolean };
  /** The key of the view to change; null to save a new one. */
  readonly viewKey: string | null;
  readonly stats: readonly StatInfo[];
  readonly onSaved: (view: ViewInfo) => void;
  readonly onClose: () => void;
}

/** Edits a view: name, description, who sees it, and its panels with their order and width. */
export function ViewEditor({ title, initial, viewKey, stats, onSaved, onClose }: ViewEditorProps) {
  const me = useMe();
  const { name, description, is_shared, panels: first } = initial;
  const { form, submission } = useServerForm({
    initialValues: { name, description, is_shared, panels: first },
    validate: { name: isNotEmpty("Enter a name") },
    send: (values) => {
      const body = { ...values, name: values.name.trim(), panels: [...values.panels] };
      return viewKey === null
        ? api.POST("/views", { body })
        : api.PATCH("/views/{key}", { body, params: { path: { key: viewKey } } });
    },
    renews: [viewsQuery.queryKey],
    onSaved: (view) => {
      onSaved(view);
    },
  });
  const { panels } = form.values;
  return (
    <FormDialog
      {...submission}
      title={title}
      size="xl"
      action="Save view"
      isReady={panels.length > 0}
      note={
        <Text fz="sm" className="soft">
          {`${counted(panels.length, "panel")}. A view opens on any host and shows what that host recorded.`}
        </Text>
      }
      onClose={onClose}
    >
      <NameField placeholder="What these panels answer, e.g. Database disks" {...form.getInputProps("name")} />
      <NoteField minRows={1} {...form.getInputProps("description")} />
      <Checkbox
        label="Share with all accounts"
        description={mayWrite(me) ? undefined : "Sharing requires the role operator."}
        disabled={!mayWrite(me)}
        {...form.getInputProps("is_shared", { type: "checkbox" })}
      />
      <PanelRows stats={stats} panels={panels} {...form.getInputProps("panels")} />
    </FormDialog>
  );
}

interface PanelRowsProps {
  readonly panels: readonly ViewPanel[];
  readonly stats: readonly StatInfo[];
  readonly onChange: (panels: readonly ViewPanel[]) => void;
}

/** The panels in their order: dragged by the grip, or moved by the buttons. */
function PanelRows({ panels, stats, onChange }: PanelRowsProps) {
  const [dragged, setDragged] = useState<number | null>(null);
  const change = (index: number, part: Partial<ViewPanel>): void => {
    onChange(panels.map((panel, at) => (at === index ? { ...panel, ...part } : panel)));
  };
  const dropOn = (index: number) => (event: DragEvent) => {
    event.preventDefault();
    if (dragged !== null) {
      onChange(moveItem(panels, dragged, index));
      setDragged(null);
    }
  };
  if (panels.length === 0) {
    return <Text fz="sm">{"No panels are left. Cancel, or add panels on a host's page and save them as a view there."}</Text>;
  }
  return (
    <div className="view-editor-panels">
      <Table aria-label="Panels of the view" verticalSpacing={3}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th />
            <Table.Th>Title</Table.Th>
            <Table.Th>Width</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {panels.map((panel, index) => {
            const what = describePanel(stats, panel);
            return (
              <Table.Tr
                key={`${what} ${String(index)}`}
                data-dragged={dragged === index}
                onDragOver={(event) => {
                  if (dragged !== null) {
                    event.preventDefault();
                  }
                }}
                onDrop={dropOn(index)}
              >
                <Table.Td w={28}>
                  <span
                    className="view-editor-grip"
                    draggable
                    aria-hidden
                    onDragStart={() => {
                      setDragged(index);
                    }}
                    onDragEnd={() => {
                      setDragged(null);
                    }}
                  >
                    <IconGripVertical size={15} />
                  </span>
                </Table.Td>
                <Table.Td>
                  <TextInput
                    size="xs"
                    aria-label={`Title of panel ${String(index + 1)}`}
                    placeholder={what}
                    maxLength={200}
                    value={panel.title}
                    onChange={(event) => {
                      change(index, { title: event.currentTarget.value });
                    }}
                  />
                </Table.Td>
                <Table.Td w={130}>
                  <SegmentedControl
                    size="xs"
                    aria-label={`Width of panel ${String(index + 1)}`}
                    value={panel.width}
                    data={[
                      { value: "half", label: "half" },
                      { value: "full", label: "full" },
                    ]}
                    onChange={(value) => {
                      change(index, { width: value });
                    }}
                  />
                </Table.Td>
                <Table.Td w={96}>
                  <Group gap={2} wrap="nowrap">
                    <ActionIcon
                      aria-label={`Move panel ${String(index + 1)} up`}
                      disabled={index === 0}
                      onClick={() => {
                        onChange(moveItem(panels, index, index - 1));
                      }}
                    >
                      <IconArrowUp size={15} />
                    </ActionIcon>
                    <ActionIcon
                      aria-label={`Move panel ${String(index + 1)} down`}
                      disabled={index === panels.length - 1}
                      onClick={() => {
                        onChange(moveItem(panels, index, index + 1));
                      }}
                    >
                      <IconArrowDown size={15} />
                    </ActionIcon>
                    <ActionIcon
                      aria-label={`Remove panel ${String(index + 1)}`}
                      onClick={() => {
                        onChange(panels.filter((_, at) => at !== index));
                      }}
                    >
                      <IconTrash size={15} />
                    </ActionIcon>
                  </Group>
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </div>
  );
}
