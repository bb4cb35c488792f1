import { api } from "../../api/client";
import { Button, Menu } from "@mantine/core";
import { IconCheck, IconLayoutGrid, IconStarFilled } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { viewsQuery } from "../../api/queries";
import { ErrorLine } from "../../components/StateView";
import type { StatInfo, ViewInfo, ViewPanel } from "../../logic/api";
import type { PanelLook } from "../../logic/look";
import type { PanelPlan } from "../../logic/panel";
import { OVERVIEW_KEY } from "../../logic/overview";
import { chooseViews, resizedPanels, toViewPanel } from "../../logic/view";
import { type Clock, encodeListView } from "../../state/url";

const ViewEditor = lazy(() => import("../../components/ViewEditor").then((module) => ({ default: module.ViewEditor })));

interface ViewMenuProps {
  /** The keys of the views that are shown; empty for everything recorded. */
  readonly viewKeys: readonly string[];
  /** The panels on the page, for a new view. */
  readonly plans: readonly PanelPlan[];
  /** How the panels are drawn: their sizes become part of a saved view. */
  readonly looks: ReadonlyMap<string, PanelLook>;
  readonly stats: readonly StatInfo[];
  readonly clock: Clock;
  readonly onChoose: (viewKeys: readonly string[]) => void;
  /** The sizes given by hand are part of the view now. */
  readonly onSized: () => void;
}

type Editing = { readonly kind: "new" } | { readonly kind: "change" | "copy"; readonly view: ViewInfo };

/** Chooses which saved view the host's page shows, and saves its panels as a view. */
export function ViewMenu({ viewKeys, plans, looks, stats, clock, onChoose, onSized }: ViewMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const [editing, setEditing] = useState<Editing | null>(null);
  const navigate = useNavigate();
  const views = useQuery({ ...viewsQuery, enabled: isOpen || viewKeys.length > 0 });
  const all = views.data?.views ?? [];
  const { chosen } = chooseViews(all, viewKeys);
  const starred = all.filter(({ is_starred }) => is_starred);
  const [only] = chosen;
  const toPanel = (plan: PanelPlan): ViewPanel => toViewPanel(plan, looks);
  const panelsOf = (view: ViewInfo): ViewPanel[] => resizedPanels(view, plans, looks) ?? view.panels;
  const resized = only !== undefined && chosen.length === 1 && only.may_change ? resizedPanels(only, plans, looks) : null;
  const client = useQueryClient();
  const sizing = useMutation({
    mutationFn: (view: ViewInfo) =>
      api.PATCH("/views/{key}", { body: { panels: panelsOf(view) }, params: { path: { key: view.key } } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: viewsQuery.queryKey });
      onSized();
    },
  });
  const added = plans.filter(({ customIndex }) => customIndex !== null);
  const label =
    viewKeys.length === 0
      ? "Overview"
      : viewKeys.length === 1
        ? (only?.name ?? viewKeys[0] ?? "")
        : `${String(viewKeys.length)} views`;
  return (
    <>
      <Menu opened={isOpen} onChange={setOpen} position="bottom-start">
        <Menu.Target>
          <Button variant="default" leftSection={<IconLayoutGrid size={14} />} aria-label={`View: ${label}`}>
            <span className="view-menu-label">{label}</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown className="view-menu">
          <Menu.Item
            leftSection={<Tick isOn={viewKeys.length === 0} />}
            onClick={() => {
              onChoose([]);
            }}
          >
            Overview and everything recorded
          </Menu.Item>
          {starred.length > 1 && (
            <Menu.Item
              leftSection={<Tick isOn={false} />}
              onClick={() => {
                onChoose(starred.map(({ key }) => key));
              }}
            >
              All starred views on one page
            </Menu.Item>
          )}
          <Menu.Divider />
          {views.isPending && isOpen && <Menu.Label>loading …</Menu.Label>}
          <ErrorLine error={views.error} />
          {all
            .filter(({ key }) => key !== OVERVIEW_KEY)
            .map((view) => (
              <Menu.Item
                key={view.key}
                leftSection={<Tick isOn={viewKeys.includes(view.key)} />}
                rightSection={view.is_starred ? <IconStarFilled size={12} aria-label="starred" /> : null}
                title={view.description}
                onClick={(event) => {
                  // With Ctrl the view is shown under the others, or hidden again.
                  const others = viewKeys.filter((key) => key !== view.key);
                  onChoose(
                    event.ctrlKey || event.metaKey
                      ? others.length < viewKeys.length
                        ? others
                        : [...viewKeys, view.key]
                      : [view.key],
                  );
                }}
              >
                {view.name}
              </Menu.Item>
            ))}
          <Menu.Divider />
          <Menu.Item
            disabled={plans.length === 0}
            onClick={() => {
              setEditing({ kind: "new" });
            }}
          >
            Save these panels as a view …
          </Menu.Item>
          {only !== undefined && chosen.length === 1 && (
            <Menu.Item
              onClick={() => {
                setEditing({ kind: only.may_change ? "change" : "copy", view: only });
              }}
            >
              {only.may_change ? "Edit" : "Copy and edit"} {only.name} …
            </Menu.Item>
          )}
          {resized !== null && only !== undefined && (
            <Menu.Item
              disabled={sizing.isPending}
              onClick={() => {
                sizing.mutate(only);
              }}
            >
              {`Save the panel sizes in ${only.name}`}
            </Menu.Item>
          )}
          <Menu.Item
            onClick={() => {
              void navigate({ to: "/views", search: encodeListView({ clock, filter: "" }) });
            }}
          >
            All views
          </Menu.Item>
          <Menu.Label>Ctrl-click shows several views, one below another</Menu.Label>
        </Menu.Dropdown>
      </Menu>
      <ErrorLine error={sizing.error} />
      <Suspense fallback={null}>
        {editing !== null && (
          <ViewEditor
            title={editing.kind === "change" ? `Edit ${editing.view.name}` : "Save a view"}
            initial={
              editing.kind === "new"
                ? { name: "", description: "", is_shared: false, panels: plans.map(toPanel) }
                : editing.kind === "change"
                  ? // Panels that were added beside the view become part of it.
                    { ...editing.view, panels: [...panelsOf(editing.view), ...added.map(toPanel)] }
                  : { ...editing.view, name: `Copy of ${editing.view.name}`, is_shared: false, panels: panelsOf(editing.view) }
            }
            viewKey={editing.kind === "change" ? editing.view.key : null}
            stats={stats}
            onSaved={(view) => {
              setEditing(null);
              onChoose([view.key]);
            }}
            onClose={() => {
              setEditing(null);
            }}
          />
        )}
      </Suspense>
    </>
  );
}

function Tick({ isOn }: { readonly isOn: boolean }) {
  return isOn ? <IconCheck size={14} aria-label="shown" /> : <span className="view-menu-tick" />;
}
