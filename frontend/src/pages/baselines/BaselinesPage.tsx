import { Button, Group, Tabs, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconCalendarRepeat, IconPlayerRecord } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { baselineListQuery } from "../../api/baselines";
import { FilteredList } from "../../components/FilteredList";
import { FilterBox } from "../../components/ListFilters";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { useZone } from "../../components/zone";
import { filterBaselines } from "../../logic/baseline";
import { BASELINE_TABS, type BaselinesView, decodeBaselinesView, encodeBaselinesView } from "../../state/url";
import { BaselineTable } from "./BaselineTable";
import { Exclusions } from "./Exclusions";
import { HostGroups } from "./HostGroups";
import { RecordDialog, RuleDialog } from "./NewBaselineDialogs";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import "./BaselinesPage.css";

/** Baselines, excluded periods and host groups. */
export function BaselinesPage() {
  useDocumentTitle("Baselines · normstat");
  const me = useMe();
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeBaselinesView(search), [search]);
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<"record" | "rule" | null>(null);
  const zone = useZone(view.clock);
  const set = (change: Partial<BaselinesView>): void => {
    void navigate({ to: "/baselines", search: encodeBaselinesView({ ...view, ...change }), replace: true });
  };
  const showAll = (): void => {
    set({ filter: "" });
  };
  const close = (): void => {
    setDialog(null);
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb="xs">
        <Title order={1}>Baselines</Title>
        <Group gap="xs">
          {(view.tab === "baselines" || view.tab === "archived") && (
            <FilterBox
              label="Filter baselines"
              placeholder="Filter by name, host or note"
              value={view.filter}
              onChange={(filter) => {
                set({ filter });
              }}
            />
          )}
          {mayWrite(me) && (
            <>
              <Button
                variant="default"
                leftSection={<IconPlayerRecord size={14} />}
                onClick={() => {
                  setDialog("record");
                }}
              >
                Record now…
              </Button>
              <Button
                variant="default"
                leftSection={<IconCalendarRepeat size={14} />}
                onClick={() => {
                  setDialog("rule");
                }}
              >
                Recurring rule…
              </Button>
            </>
          )}
        </Group>
      </Group>
      <Tabs
        keepMounted={false}
        value={view.tab}
        onChange={(tab) => {
          set({ tab: BASELINE_TABS.find((known) => known === tab) ?? "baselines" });
        }}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="baselines">In use</Tabs.Tab>
          <Tabs.Tab value="archived">Archived</Tabs.Tab>
          <Tabs.Tab value="exclusions">Excluded periods</Tabs.Tab>
          <Tabs.Tab value="groups">Host groups</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="baselines">
          <List view={view} isArchived={false} onAll={showAll} />
        </Tabs.Panel>
        <Tabs.Panel value="archived">
          <List view={view} isArchived onAll={showAll} />
        </Tabs.Panel>
        <Tabs.Panel value="exclusions">
          <Exclusions zone={zone} />
        </Tabs.Panel>
        <Tabs.Panel value="groups">
          <HostGroups />
        </Tabs.Panel>
      </Tabs>
      {dialog === "record" && <RecordDialog zone={zone} onClose={close} />}
      {dialog === "rule" && <RuleDialog zone={zone} onClose={close} />}
    </div>
  );
}

const HOW_TO_CREATE = (
  <>
    {nodes`Open a ${(
      <PageLink to="/hosts" search={{}}>
        host
      </PageLink>
    )}, press ${<b>m</b>}, drag over a quiet period and choose ${<i>Save as baseline</i>}. Or record a baseline from now on, or create a rule for recurring hours.`}
  </>
);

interface ListProps {
  readonly view: BaselinesView;
  readonly isArchived: boolean;
  readonly onAll: () => void;
}

function List({ view, isArchived, onAll }: ListProps) {
  const baselines = useQuery(baselineListQuery(isArchived ? "archived" : "in-use"));
  const all = baselines.data?.baselines ?? [];
  const shown = filterBaselines(all, view.filter);
  return (
    <>
      <FilteredList
        label="Baselines"
        query={baselines}
        n={shown.length}
        isFiltered={all.length > 0}
        words={view.filter}
        onAll={onAll}
        {...(isArchived ? { title: "No archived baselines" } : { next: HOW_TO_CREATE })}
      >
        <BaselineTable baselines={shown} clock={view.clock} />
      </FilteredList>
      {all.length > 0 && (
        <Text fz="sm" className="soft" mt={6}>
          {counted(all.length, "baseline")}
        </Text>
      )}
    </>
  );
}
