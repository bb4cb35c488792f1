import { ActionIcon, Table, Text } from "@mantine/core";
import { IconArrowsDiff, IconNotebook, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../../api/client";
import { incidentsQuery } from "../../api/incidents";
import { ColourBadge } from "../../components/ColourBadge";
import { episodeLink } from "../../components/episodeLink";
import { EventVerdict } from "../../components/EventVerdict";
import { EvidenceLinks } from "../../components/EvidenceLinks";
import { FilteredList } from "../../components/FilteredList";
import { HostInWindow } from "../../components/HostInWindow";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { SourceLink } from "../../components/SourceLink";
import { useDeletion } from "../../components/useDeletion";
import type { EpisodeInfo, HostEvent, IncidentInfo, IncidentKind, ReportInfo, SavedComparisonInfo } from "../../logic/api";
import { counted } from "../../logic/counted";
import { eventSurroundings, kindLabel } from "../../logic/event";
import { describeDuration, fromApi, lengthOf, MINUTE, toDurationMs, type Window } from "../../logic/time";
import { describeEnd, describeLength, describeSeen, isOfComparison, toColour } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import type { IncidentsView } from "../../state/incidents";
import type { Clock } from "../../state/url";
import { encodeClock } from "../../state/zone_choice";
import "../../components/EventLayer.css";
import "../../components/WatchTable.css";

const PER_PAGE = 50;
const LIST_KEYS = [["incidents"], ["saved"], ["reports"]];

/** The name of a list of one kind, and of a row of it. */
const NAMES: Readonly<Record<IncidentKind | "all", { readonly label: string; readonly one: string }>> = {
  unusual: { label: "Unusual times", one: "unusual time" },
  alert: { label: "Alerts", one: "alert" },
  comparison: { label: "Saved comparisons", one: "saved comparison" },
  event: { label: "Events", one: "event" },
  report: { label: "Reports", one: "report" },
  all: { label: "Incidents", one: "item" },
};

/** Where entries of a kind come from, said while there is none. */
const NEXT: Readonly<Record<IncidentKind | "all", string>> = {
  unusual: "A time in which a host differed from its normal behaviour is listed here, and stays when it has ended.",
  alert: "A time in which a rule said warning or worse is listed here, and stays when it has ended.",
  comparison: "Save… on a comparison stores its result with your note.",
  event: "Press n on a host's graphs, or run `normstat event add`.",
  report: "Start one with New report, or choose Add to report on a graph or a comparison.",
  all: "What is unusual, alerts, saved comparisons, events and reports will be listed here.",
};

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
  const { label, one } = NAMES[kind ?? "all"];
  const comparisons = useDeletion("comparison", LIST_KEYS);
  const reports = useDeletion("report", LIST_KEYS);
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
    <FilteredList
      label={label}
      query={list}
      n={shown.length}
      isFiltered={host !== "" || rule !== ""}
      onAll={() => {
        onChange({ host: "", rule: "" });
      }}
      next={NEXT[kind ?? "all"]}
      pages={{
        one,
        page: view.page,
        size: PER_PAGE,
        nShown: shown.length,
        nTotal: list.data?.n_total ?? 0,
        onPage: (page) => {
          onChange({ page });
        },
      }}
    >
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
    </FilteredList>
  );
}

function keyOf({ kind, episode, comparison, event, report }: IncidentInfo): string {
  return `${kind} ${String(episode?.id ?? comparison?.id ?? event?.id ?? report?.id)}`;
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
      <EvidenceLinks evidence={episode.evidence} />
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
  readonly window?: Window;
}

const MAX_HOSTS = 3;

function HostLinks({ hosts, clock, window }: HostLinksProps) {
  return (
    <>
      {hosts.slice(0, MAX_HOSTS).map((host, place) => (
        <span key={host}>
          {place > 0 && ", "}
          <HostInWindow host={host} window={window} clock={clock} />
        </span>
      ))}
      {hosts.length > MAX_HOSTS && ` and ${String(hosts.length - MAX_HOSTS)} more`}
    </>
  );
}

function EventHosts({ event, clock }: { readonly event: HostEvent; readonly clock: Clock }) {
  const window = eventSurroundings(fromApi(event.at), event.end === null ? null : fromApi(event.end), event.kind);
  return event.hosts === null ? "all hosts" : <HostLinks hosts={event.hosts} clock={clock} window={window} />;
}
