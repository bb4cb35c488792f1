import { Button, Group, SegmentedControl, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { rulesQuery, timelineQuery } from "../../api/watch";
import { HostInWindow } from "../../components/HostInWindow";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { DAY, HOUR, MINUTE, toEpochMs, type Window } from "../../logic/time";
import { colourAt, COLOUR_LABELS, isBadRow, type TimelineRow, toTimeline, wholeSeconds } from "../../logic/watch";
import { formatInstant, type Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import type { Clock } from "../../state/url";
import type { WatchSpan, WatchView } from "../../state/watch";
import { encodeClock } from "../../state/zone_choice";
import { counted } from "../../logic/counted";
import { StateStrip } from "./StateStrip";
import "./watch.css";

const LENGTHS: Readonly<Record<WatchSpan, number>> = { "1h": HOUR, "6h": 6 * HOUR, "24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY };
const SPAN_LABELS: readonly { readonly value: WatchSpan; readonly label: string }[] = [
  { value: "1h", label: "1 h" },
  { value: "6h", label: "6 h" },
  { value: "24h", label: "24 h" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
];

interface WatchTimelineProps {
  readonly view: WatchView;
  readonly zone: Zone;
  readonly onView: (change: Partial<WatchView>) => void;
}

/** The worst state of each rule on each host over time, the worst rows first. */
export function WatchTimeline({ view, zone, onView }: WatchTimelineProps) {
  const now = useNow(MINUTE);
  const window = useMemo(() => wholeSeconds({ start: toEpochMs(now - LENGTHS[view.span]), end: now }), [now, view.span]);
  const timeline = useQuery(timelineQuery(window, null));
  const rules = useQuery(rulesQuery);
  const [isAll, setAll] = useState(false);
  const rows = useMemo(() => toTimeline(timeline.data?.changes ?? [], window), [timeline.data, window]);
  const bad = rows.filter(isBadRow);
  const shown = isAll || bad.length === 0 ? rows : bad;
  const titles = new Map((rules.data?.rules ?? []).map(({ name, title }) => [name, title]));
  return (
    <>
      <Group gap="sm" mb="sm">
        <SegmentedControl
          size="xs"
          aria-label="Time shown"
          value={view.span}
          data={[...SPAN_LABELS]}
          onChange={(span) => {
            onView({ span });
          }}
        />
        {bad.length > 0 && bad.length < rows.length && (
          <>
            <Text fz="sm" className="soft">
              {`${counted(rows.length - bad.length, "row")} in which nothing was on`}
            </Text>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                setAll(!isAll);
              }}
            >
              {isAll ? "Hide them" : "Show them"}
            </Button>
          </>
        )}
      </Group>
      <ScrollCard label="Timeline">
        {timeline.data === undefined ? (
          <PendingView query={timeline} what="the states" />
        ) : rows.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: "No rule judged a host in this time",
              next: "Choose a longer time, or see Rules for what each rule needs.",
            }}
          />
        ) : (
          <TimelineTable rows={shown} titles={titles} window={window} zone={zone} clock={view.clock} />
        )}
      </ScrollCard>
    </>
  );
}

interface TimelineTableProps {
  readonly rows: readonly TimelineRow[];
  readonly titles: ReadonlyMap<string, string>;
  readonly window: Window;
  readonly zone: Zone;
  readonly clock: Clock;
}

function TimelineTable({ rows, titles, window, zone, clock }: TimelineTableProps) {
  return (
    <Table aria-label="Timeline" className="timeline-table">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Host</Table.Th>
          <Table.Th>Rule</Table.Th>
          <Table.Th>
            <span className="state-strip-axis">
              <span>{formatInstant(zone, window.start)}</span>
              <span>{formatInstant(zone, window.end)}</span>
            </span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ host, source, segments, worst }) => {
          const title = titles.get(source) ?? source;
          const colour = colourAt(worst);
          return (
            <Table.Tr key={`${host} ${source}`}>
              <Table.Td>
                <HostInWindow host={host} window={window} clock={clock} />
              </Table.Td>
              <Table.Td>
                <PageLink to="/watch/rules/$rule" params={{ rule: source }} search={encodeClock(clock)}>
                  {title}
                </PageLink>
              </Table.Td>
              <Table.Td>
                <StateStrip
                  window={window}
                  zone={zone}
                  segments={segments}
                  label={`${title} on ${host}: at worst ${colour === null ? "unknown" : COLOUR_LABELS[colour]}`}
                />
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
