import { Button, Group, Tabs, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconCalendarRepeat, IconPlayerRecord, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { baselineListQuery } from "../../api/baselines";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
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
            <TextInput
              size="xs"
              w={220}
              aria-label="Filter baselines"
              placeholder="Filter by name, host or note"
              leftSection={<IconSearch size={14} />}
              value={view.filter}
              onChange={(event) => {
                set({ filter: event.currentTarget.value });
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
          <List view={view} isArchived={false} />
        </Tabs.Panel>
        <Tabs.Panel value="archived">
          <List view={view} isArchived />
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

function List({ view, isArchived }: { readonly view: BaselinesView; readonly isArchived: boolean }) {
  const baselines = useQuery(baselineListQuery(isArchived ? "archived" : "in-use"));
  const all = baselines.data?.baselines ?? [];
  const shown = filterBaselines(all, view.filter);
  return (
    <>
      <ScrollCard label="Baselines">
        {baselines.data === undefined ? (
          <PendingView query={baselines} what="baselines" />
        ) : shown.length > 0 ? (
          <BaselineTable baselines={shown} clock={view.clock} />
        ) : all.length > 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: `No baselines match “${view.filter}”`,
              next: "Clear the filter to see all baselines.",
            }}
          />
        ) : (
          <StateView
            state={
              isArchived
                ? { kind: "empty", title: "No archived baselines" }
                : { kind: "empty", title: "No baselines yet", next: HOW_TO_CREATE }
            }
          />
        )}
      </ScrollCard>
      {all.length > 0 && (
        <Text fz="sm" className="soft" mt={6}>
          {counted(all.length, "baseline")}
        </Text>
      )}
    </>
  );
}
