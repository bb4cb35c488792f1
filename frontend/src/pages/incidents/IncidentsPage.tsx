import { Button, Chip, Group, Select, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconArrowsDiff, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";
import { hostsQuery } from "../../api/queries";
import { rulesQuery, watchQuery } from "../../api/watch";
import { EventTable } from "../../components/EventTable";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageButton } from "../../components/PageLink";
import { PendingView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { OnNow } from "../../logic/api";
import { describeWatched, isOfComparison } from "../../logic/watch";
import {
  decodeIncidentsView,
  encodeIncidentsView,
  INCIDENT_KINDS,
  type IncidentsView,
  type ShownKind,
} from "../../state/incidents";
import { encodeClock } from "../../state/zone_choice";
import { IncidentList } from "./IncidentList";
import { OnNowTable } from "./OnNowTable";
import { PatternTable } from "./PatternTable";

const NewReport = lazy(() => import("../reports/NewReport").then((module) => ({ default: module.NewReport })));

const KIND_LABELS: Readonly<Record<ShownKind, string>> = {
  all: "All",
  unusual: "Unusual",
  alert: "Alerts",
  comparison: "Comparisons",
  event: "Events",
  report: "Reports",
  pattern: "Patterns",
};

/** What is active now, and everything about incidents by time: one list. */
export function IncidentsPage() {
  useDocumentTitle("Incidents · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeIncidentsView(search), [search]);
  const navigate = useNavigate();
  const mayEdit = mayWrite(useMe());
  const [isNew, setNew] = useState(false);
  const watch = useQuery(watchQuery);
  const zone = useZone(view.clock);
  // A rule's history is whole; else what lasts is above the list.
  const isWatched = ["all", "unusual", "alert"].includes(view.show) && view.rule === "";
  const change = (changed: Partial<IncidentsView>): void => {
    void navigate({ to: "/incidents", search: encodeIncidentsView({ ...view, page: 0, ...changed }), replace: true });
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group gap="sm" mb="sm" align="baseline">
        <Title order={1}>Incidents</Title>
        {watch.data && (
          <Text fz="sm" className="soft">
            {describeWatched(watch.data.summary)}
          </Text>
        )}
      </Group>
      {isWatched && (
        <section aria-labelledby="incidents-active">
          <Title order={2} id="incidents-active" mb={6}>
            Active now
          </Title>
          {watch.data === undefined ? (
            <PendingView query={watch} what="what is active" />
          ) : (
            <OnNowTable
              watch={{ ...watch.data, on: watch.data.on.filter((entry) => isOfKind(entry, view.show)) }}
              host={view.host}
              zone={zone}
              clock={view.clock}
              onAllHosts={() => {
                change({ host: "" });
              }}
            />
          )}
        </section>
      )}
      {/* Below what is active, which comes in one piece: nothing moves. */}
      <section aria-labelledby="incidents-list" hidden={isWatched && watch.isPending}>
        <Group justify="space-between" mt="md" mb={6}>
          <Title order={2} id="incidents-list">
            By time
          </Title>
          <Group gap="xs">
            <PageButton
              variant="default"
              to="/comparison"
              search={encodeClock(view.clock)}
              leftSection={<IconArrowsDiff size={14} aria-hidden />}
            >
              Compare…
            </PageButton>
            {mayEdit && (
              <Button
                variant="default"
                leftSection={<IconPlus size={14} aria-hidden />}
                onClick={() => {
                  setNew(true);
                }}
              >
                New report…
              </Button>
            )}
          </Group>
        </Group>
        <Group gap="xs" mb="sm">
          <Chip.Group
            value={view.show}
            onChange={(show) => {
              // An event may be of several hosts: there the filter is a list.
              const { host, events } = view;
              const hosts = show === "event" && host !== "" ? [host] : events.hosts;
              change({
                show: INCIDENT_KINDS.find((kind) => kind === show) ?? "all",
                host: view.show === "event" ? (events.hosts[0] ?? "") : host,
                rule: "",
                events: { ...events, hosts },
              });
            }}
          >
            <Group gap={6} role="radiogroup" aria-label="Kind">
              {INCIDENT_KINDS.map((kind) => (
                <Chip key={kind} size="xs" variant="outline" value={kind}>
                  {KIND_LABELS[kind]}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
          {view.show !== "event" && <Filters view={view} onChange={change} />}
        </Group>
        {view.show === "event" ? (
          <EventTable
            host={null}
            view={view.events}
            zone={zone}
            clock={view.clock}
            onView={(changed) => {
              change({ events: { ...view.events, page: 0, ...changed } });
            }}
          />
        ) : view.show === "pattern" ? (
          <PatternTable
            host={view.host}
            page={view.page}
            zone={zone}
            clock={view.clock}
            onPage={(page) => {
              change({ page });
            }}
            onAllHosts={() => {
              change({ host: "" });
            }}
          />
        ) : (
          <IncidentList
            view={view}
            kind={view.show === "all" ? null : view.show}
            hasLasting={!isWatched}
            zone={zone}
            onChange={change}
          />
        )}
      </section>
      <Suspense fallback={null}>
        {isNew && (
          <NewReport
            onClose={() => {
              setNew(false);
            }}
          />
        )}
      </Suspense>
    </div>
  );
}

/** Return whether an active entry is of the kind that is shown. */
function isOfKind(entry: OnNow, kind: ShownKind): boolean {
  return kind === "all" || (kind === "unusual") === isOfComparison(entry);
}

interface FiltersProps {
  readonly view: IncidentsView;
  readonly onChange: (changed: Partial<IncidentsView>) => void;
}

/** The host, and for alerts the rule. */
function Filters({ view, onChange }: FiltersProps) {
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  const rules = useQuery({ ...rulesQuery, enabled: view.show === "alert" }).data?.rules ?? [];
  return (
    <>
      <Select
        size="xs"
        w={200}
        aria-label="Host"
        placeholder="All hosts"
        clearable
        searchable
        value={view.host === "" ? null : view.host}
        data={withChosen(
          view.host,
          hosts.map(({ name }) => ({ value: name, label: name })),
        )}
        onChange={(host) => {
          onChange({ host: host ?? "" });
        }}
      />
      {view.show === "alert" && (
        <Select
          size="xs"
          w={260}
          aria-label="Rule"
          placeholder="All rules"
          clearable
          searchable
          value={view.rule === "" ? null : view.rule}
          data={withChosen(
            view.rule,
            rules.map(({ name, title }) => ({ value: name, label: title })),
          )}
          onChange={(rule) => {
            onChange({ rule: rule ?? "" });
          }}
        />
      )}
    </>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The choices of a filter, and what a link chose although it is gone. */
function withChosen(chosen: string, choices: readonly Choice[]): Choice[] {
  const isKnown = chosen === "" || choices.some(({ value }) => value === chosen);
  return [...choices, ...(isKnown ? [] : [{ value: chosen, label: chosen }])];
}
