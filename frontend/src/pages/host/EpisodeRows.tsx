import { Button, Group, Popover, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { hostEpisodesQuery } from "../../api/watch";
import { ColourBadge } from "../../components/ColourBadge";
import { PageLink } from "../../components/PageLink";
import { scoresWindow } from "../../logic/scores";
import { bandShare, percent } from "../../logic/surface";
import {
  COLOUR_LABELS,
  describeInstances,
  describeLength,
  describeSeen,
  type EpisodeRow,
  type EpisodeRun,
  isOfComparison,
  toEpisodeRows,
} from "../../logic/watch";
import { formatClock } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { type Clock } from "../../state/url";
import { DEFAULT_WATCH_VIEW, encodeWatchView } from "../../state/watch";
import { encodeClock } from "../../state/zone_choice";
import type { GraphContext } from "./graph";
import "../../components/ColourBadge.css";
import "./TimeRows.css";
import "./EpisodeRows.css";

interface EpisodeRowsProps {
  readonly graph: GraphContext;
  readonly clock: Clock;
}

/** What rules found on the host in the window, a row for each rule; a click tells about it. The times that were unusual are in ScoreRows. */
export function EpisodeRows({ graph, clock }: EpisodeRowsProps) {
  const { data } = useQuery(hostEpisodesQuery(graph.host, scoresWindow(graph.window)));
  const rows = useMemo(
    () =>
      toEpisodeRows(
        (data?.episodes ?? []).filter((episode) => !isOfComparison(episode)),
        readNow(),
      ),
    [data],
  );
  return rows.length === 0 ? null : (
    <div className="time-rows episodes" role="group" aria-label="What rules found">
      {rows.map((row) => (
        <Row key={row.source} row={row} graph={graph} clock={clock} />
      ))}
    </div>
  );
}

function Row({ row, graph, clock }: EpisodeRowsProps & { readonly row: EpisodeRow }) {
  return (
    <div className="time-rows-row">
      <div className="time-rows-body">
        {row.runs.map((run) => (
          <Run key={run.window.start} run={run} title={row.title} graph={graph} clock={clock} />
        ))}
      </div>
      <span className="time-rows-note">
        <PageLink to="/watch/rules/$rule" params={{ rule: row.source }} search={encodeClock(clock)} fz="inherit">
          {row.title}
        </PageLink>
      </span>
    </div>
  );
}

interface RunProps extends EpisodeRowsProps {
  readonly run: EpisodeRun;
  readonly title: string;
}

function Run({ run, title, graph, clock }: RunProps) {
  const [isOpen, setOpen] = useState(false);
  const share = bandShare(run.window, graph.window);
  const { zone } = graph;
  const { worst } = run;
  if (share === null) {
    return null;
  }
  const instances = describeInstances({ episodes: [...run.episodes], n_instances: run.episodes.length });
  const time = `${formatClock(zone, run.window.start)} to ${formatClock(zone, run.window.end)}`;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" width={380} trapFocus returnFocus shadow="md">
      <Popover.Target>
        <button
          type="button"
          className="time-rows-run episodes-run"
          data-colour={run.colour}
          style={{ left: percent(share.left), width: percent(share.width) }}
          aria-label={`${title}: ${COLOUR_LABELS[run.colour]}, ${time}`}
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(!isOpen);
          }}
        />
      </Popover.Target>
      <Popover.Dropdown aria-label={title}>
        <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
          <Text fz="sm" fw={600}>
            {title} {instances}
          </Text>
          <ColourBadge colour={run.colour} />
        </Group>
        <Text fz="xs" className="soft" mb={4}>
          {time}, {describeLength({ start: worst.start, last: worst.last, ended_at: worst.ended_at }, readNow())}
        </Text>
        <Text fz="sm">{worst.sentence}</Text>
        <Text fz="sm" className="mono">
          {describeSeen(worst.saw)}
        </Text>
        <Text fz="sm" className="soft" mb="xs">
          {worst.action}
        </Text>
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            data-autofocus
            onClick={() => {
              setOpen(false);
              graph.onMark(run.window, null);
            }}
          >
            Select this time
          </Button>
          <PageLink
            to="/watch"
            search={encodeWatchView({
              ...DEFAULT_WATCH_VIEW,
              clock,
              ...(worst.ended_at === null ? {} : { tab: "history" as const, rule: worst.source }),
              host: graph.host,
            })}
            fz="sm"
          >
            On the page Watch
          </PageLink>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
