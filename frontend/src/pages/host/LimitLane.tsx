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
  type EpisodeRun,
  isOfComparison,
  toEpisodeRows,
} from "../../logic/watch";
import { formatClock } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { type Clock } from "../../state/url";
import { DEFAULT_INCIDENTS_VIEW, encodeIncidentsView } from "../../state/incidents";
import { encodeClock } from "../../state/zone_choice";
import { type GraphContext, noDrag } from "./graph";
import "../../components/ColourBadge.css";

interface LimitLaneProps {
  readonly graph: GraphContext;
  readonly clock: Clock;
}

/** The lane of the timeline with what rules found; where they overlap the worst is on top. A click tells about it. */
export function LimitLane({ graph, clock }: LimitLaneProps) {
  const { data } = useQuery(hostEpisodesQuery(graph.host, scoresWindow(graph.window)));
  const runs = useMemo(
    () =>
      toEpisodeRows(
        (data?.episodes ?? []).filter((episode) => !isOfComparison(episode)),
        readNow(),
      )
        .flatMap(({ source, title, runs: own }) => own.map((run) => ({ source, title, run })))
        // The rows come worst first, and what is drawn last lies on top.
        .reverse(),
    [data],
  );
  return (
    <div className="lane lane-limit" role="group" aria-label="What rules found">
      {runs.map(({ source, title, run }) => (
        <Run key={`${source} ${String(run.window.start)}`} run={run} title={title} graph={graph} clock={clock} />
      ))}
    </div>
  );
}

interface RunProps extends LimitLaneProps {
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
          className="lane-run limit-run"
          data-colour={run.colour}
          style={{ left: percent(share.left), width: percent(share.width) }}
          aria-label={`${title}: ${COLOUR_LABELS[run.colour]}, ${time}`}
          aria-expanded={isOpen}
          onPointerDown={noDrag}
          onDoubleClick={noDrag}
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
            to="/incidents"
            search={encodeIncidentsView({
              ...DEFAULT_INCIDENTS_VIEW,
              clock,
              ...(worst.ended_at === null ? {} : { show: "alert" as const, rule: worst.source }),
              host: graph.host,
            })}
            fz="sm"
          >
            In the list of incidents
          </PageLink>
          <PageLink to="/watch/rules/$rule" params={{ rule: worst.source }} search={encodeClock(clock)} fz="sm">
            The rule
          </PageLink>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
