import { ActionIcon, Pagination, Table, Text } from "@mantine/core";
import { IconArrowsDiff, IconNotebook, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../../api/client";
import { incidentsQuery } from "../../api/incidents";
import { ColourBadge } from "../../components/ColourBadge";
import { episodeLink } from "../../components/episodeLink";
import { EventVerdict } from "../../components/EventVerdict";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { SourceLink } from "../../components/SourceLink";
import { PendingView, StateView } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import type { EpisodeInfo, HostEvent, IncidentInfo, IncidentKind, ReportInfo, SavedComparisonInfo } from "../../logic/api";
import { counted } from "../../logic/counted";
import { eventSurroundings, kindLabel } from "../../logic/event";
import { describeDuration, fromApi, lengthOf, MINUTE, toDurationMs } from "../../logic/time";
import { countPages, describeEnd, describeLength, describeSeen, isOfComparison, toColour } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import type { IncidentsView } from "../../state/incidents";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { encodeClock } from "../../state/zone_choice";
import "../../components/EventLayer.css";
import "../../components/WatchTable.css";

const PER_PAGE = 50;
const LIST_KEYS = [["incidents"], ["saved"], ["reports"]];

interface IncidentListProps {
  readonly view: IncidentsView;
  readonly kind: IncidentKind | null;
  /** Whether what lasts is listed, too. */
  readonly hasLasting: boolean;
  readonly zone: Zone;
  readonly onChange: (changed: Partial<IncidentsView>) => void;
}

/** Everything about incidents, the newest first, page by page; on a phone each is a card. */
export function IncidentList({ view, kind, hasLasting, zone, onChange }: IncidentListProps) {
  const { host, rule } = view;
  const list = useQuery(incidentsQuery({ kind, hasLasting, host, rule, offset: view.page * PER_PAGE, limit: PER_PAGE }));
  const comparisons = useDeletion("comparison", LIST_KEYS);
  const reports = useDeletion("report", LIST_KEYS);
  const n = list.data?.n_total ?? 0;
  const shown = comparisons.remaining(
    reports.remaining(list.data?.incidents ?? [], ({ report }) => report?.id ?? 0),
    ({ comparison }) => comparison?.id ?? 0,
  );
  const onDelete = ({ comparison, report }: IncidentInfo): void => {
    if (comparison !== null) {
      comparisons.remove(comparison.id, `Deleted the comparison “${comparison.name}”`, () =>
        api.DELETE("/comparisons/{id}", { params: { path: { id: comparison.id } } }),
      );
    } else if (report !== null) {
      reports.remove(report.id, `Deleted ${report.title}`, () =>
        api.DELETE("/reports/{id}", { params: { path: { id: report.id } } }),
      );
    }
  };
  return (
    <>
      <ScrollCard label="Incidents by time">
        {list.data === undefined ? (
          <PendingView query={list} what="the incidents" />
        ) : shown.length === 0 ? (
          <StateView state={emptyState(kind, host !== "" || rule !== "")} />
        ) : (
          <Table aria-label="Incidents by time" className="watch-table watch-cards">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When</Table.Th>
                <Table.Th>Kind</Table.Th>
                <Table.Th>Host</Table.Th>
                <Table.Th>What it is</Table.Th>
                <Table.Th>By</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">Actions</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((incident) => (
                <Entry key={keyOf(incident)} incident={incident} zone={zone} clock={view.clock} onDelete={onDelete} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {n > PER_PAGE && (
        <Pagination
          mt="sm"
          size="sm"
          getControlProps={(control) => ({ "aria-label": `${control} page` })}
          total={countPages(n, PER_PAGE)}
          value={view.page + 1}
          onChange={(page) => {
            onChange({ page: page - 1 });
          }}
        />
      )}
    </>
  );
}

function keyOf({ kind, episode, comparison, event, report }: IncidentInfo): string {
  return `${kind} ${String(episode?.id ?? comparison?.id ?? event?.id ?? report?.id)}`;
}

function emptyState(kind: IncidentKind | null, isFiltered: boolean) {
  if (isFiltered) {
    return { kind: "empty", title: "Nothing matches", next: "Clear the filter to see everything." } as const;
  }
  const next = {
    unusual: "A time in which a host differed from its normal behaviour is listed here, and stays when it has ended.",
    alert: "A time in which a rule said warning or worse is listed here, and stays when it has ended.",
    comparison: "Save… on a comparison stores its result with your note.",
    event: "Press n on a host's graphs, or run `normstat event add`.",
    report: "Start one with New report, or choose Add to report on a graph or a comparison.",
    all: "What is unusual, alerts, saved comparisons, events and reports will be listed here.",
  }[kind ?? "all"];
  return { kind: "empty", title: "Nothing yet", next } as const;
}

interface EntryProps {
  readonly incident: IncidentInfo;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly onDelete: (incident: IncidentInfo) => void;
}

/** One entry, whatever its kind. */
function Entry({ incident, zone, clock, onDelete }: EntryProps) {
  const { episode, comparison, event, report } = incident;
  const now = useNow(MINUTE);
  if (episode !== null) {
    const ended = episode.ended_at === null ? "lasts" : describeEnd(episode.ended_by);
    return (
      <Row
        incident={incident}
        zone={zone}
        duration={`${describeLength(episode, now)}, ${ended}`}
        kind={<ColourBadge colour={toColour(episode.colour)} />}
        hosts={<EpisodeHost episode={episode} clock={clock} />}
        what={<EpisodeText episode={episode} clock={clock} />}
        by={episode.acknowledged_by}
      />
    );
  }
  if (comparison !== null) {
    return (
      <Row
        incident={incident}
        zone={zone}
        kind={<Kind icon={<IconArrowsDiff size={14} aria-hidden />} label="comparison" />}
        hosts={<HostLinks hosts={hostsOf(comparison)} clock={clock} />}
        what={<ComparisonText comparison={comparison} clock={clock} />}
        by={comparison.created_by}
        deletion={{ label: `Delete ${comparison.name}`, onDelete }}
      />
    );
  }
  if (event !== null) {
    const end = event.end === null ? null : fromApi(event.end);
    const at = fromApi(event.at);
    return (
      <Row
        incident={incident}
        zone={zone}
        duration={end === null ? "" : `for ${describeDuration(toDurationMs(end - at))}`}
        kind={<Kind icon={<span className="event-swatch" data-kind={event.kind} aria-hidden />} label={kindLabel(event.kind)} />}
        hosts={<EventHosts event={event} clock={clock} />}
        what={
          <Text fz="sm" component="div">
            {event.text} <span className="soft">{event.tags.map((tag) => `#${tag}`).join(" ")}</span>
            <EventVerdict event={event} />
          </Text>
        }
        by={event.author}
      />
    );
  }
  return report === null ? null : (
    <Row
      incident={incident}
      zone={zone}
      kind={<Kind icon={<IconNotebook size={14} aria-hidden />} label="report" />}
      hosts={<HostLinks hosts={report.hosts} clock={clock} />}
      what={<ReportText report={report} clock={clock} />}
      by={report.updated_by}
      deletion={{ label: `Delete ${report.title}`, onDelete }}
    />
  );
}

interface RowProps {
  readonly incident: IncidentInfo;
  readonly zone: Zone;
  readonly duration?: string;
  readonly kind: ReactNode;
  readonly hosts: ReactNode;
  readonly what: ReactNode;
  readonly by: string;
  readonly deletion?: { readonly label: string; readonly onDelete: (incident: IncidentInfo) => void };
}

function Row({ incident, zone, duration = "", kind, hosts, what, by, deletion }: RowProps) {
  const me = useMe();
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        <Instant at={fromApi(incident.at)} zone={zone} />
        {duration !== "" && (
          <Text fz="xs" className="soft">
            {duration}
          </Text>
        )}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }}>{kind}</Table.Td>
      <Table.Td>{hosts}</Table.Td>
      <Table.Td className="watch-what">{what}</Table.Td>
      <Table.Td>{by}</Table.Td>
      <Table.Td>
        {deletion !== undefined && mayWrite(me) && (
          <ActionIcon
            aria-label={deletion.label}
            onClick={() => {
              deletion.onDelete(incident);
            }}
          >
            <IconTrash size={15} />
          </ActionIcon>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function Kind({ icon, label }: { readonly icon: ReactNode; readonly label: string }) {
  return (
    <Text fz="sm" span>
      {icon} {label}
    </Text>
  );
}

function EpisodeHost({ episode, clock }: { readonly episode: EpisodeInfo; readonly clock: Clock }) {
  return episode.host === null ? (
    "normstat"
  ) : (
    <PageLink to="/hosts/$host" params={{ host: episode.host }} search={episodeLink(episode, clock)}>
      {episode.host}
    </PageLink>
  );
}

function EpisodeText({ episode, clock }: { readonly episode: EpisodeInfo; readonly clock: Clock }) {
  const seen = isOfComparison(episode) ? "" : describeSeen(episode.saw);
  return (
    <>
      <Text fz="sm">
        <SourceLink title={episode.title} episode={episode} clock={clock} /> {!isOfComparison(episode) && episode.instance}
      </Text>
      <Text fz="sm">{episode.sentence}</Text>
      {seen !== "" && (
        <Text fz="sm" className="mono">
          {seen}
        </Text>
      )}
      {episode.acknowledged_at !== null && (
        <Text fz="sm" className="soft">
          {`acknowledged by ${episode.acknowledged_by}${episode.note === "" ? "" : `: ${episode.note}`}`}
        </Text>
      )}
      {episode.exclusion_id !== null && (
        <Text fz="sm" className="soft">
          marked as incident
        </Text>
      )}
    </>
  );
}

function hostsOf({ inputs }: SavedComparisonInfo): readonly string[] {
  const { host } = inputs;
  return Array.isArray(host) ? host : [];
}

function ComparisonText({ comparison, clock }: { readonly comparison: SavedComparisonInfo; readonly clock: Clock }) {
  return (
    <>
      <PageLink
        to="/comparison"
        search={encodeComparisonView({ ...DEFAULT_COMPARISON_VIEW, clock, savedId: comparison.id })}
        fw={600}
        fz="sm"
      >
        {comparison.name}
      </PageLink>
      <Text fz="sm" className="soft" lineClamp={2}>
        {comparison.note}
      </Text>
    </>
  );
}

function ReportText({ report, clock }: { readonly report: ReportInfo; readonly clock: Clock }) {
  return (
    <>
      <PageLink to="/reports/$report" params={{ report: String(report.id) }} search={encodeClock(clock)} fw={600} fz="sm">
        {report.title}
      </PageLink>
      <Text fz="sm" className="soft">
        {[
          counted(report.n_notes, "note"),
          ...(report.start === null || report.end === null
            ? []
            : [`about ${describeDuration(lengthOf({ start: fromApi(report.start), end: fromApi(report.end) }))}`]),
        ].join(" · ")}
      </Text>
    </>
  );
}

interface HostLinksProps {
  readonly hosts: readonly string[];
  readonly clock: Clock;
}

const MAX_HOSTS = 3;

function HostLinks({ hosts, clock }: HostLinksProps) {
  return (
    <>
      {hosts.slice(0, MAX_HOSTS).map((host, place) => (
        <span key={host}>
          {place > 0 && ", "}
          <PageLink to="/hosts/$host" params={{ host }} search={encodeClock(clock)}>
            {host}
          </PageLink>
        </span>
      ))}
      {hosts.length > MAX_HOSTS && ` and ${String(hosts.length - MAX_HOSTS)} more`}
    </>
  );
}

function EventHosts({ event, clock }: { readonly event: HostEvent; readonly clock: Clock }) {
  const window = eventSurroundings(fromApi(event.at), event.end === null ? null : fromApi(event.end));
  return event.hosts === null
    ? "all hosts"
    : event.hosts.slice(0, MAX_HOSTS).map((host, place) => (
        <span key={host}>
          {place > 0 && ", "}
          <PageLink
            to="/hosts/$host"
            params={{ host }}
            search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, range: { kind: "fixed", window } })}
          >
            {host}
          </PageLink>
        </span>
      ));
}
