import { Button, Group, Select, SegmentedControl, Text, TextInput, Title } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type LogChoice, logBlockingQuery, logLanesQuery, logLatenciesQuery } from "../../api/trace_log";
import { PendingView, StateView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import { lanePixels, moveWindow, windowAround, zoomWindow } from "../../logic/trace_log";
import { decodeLogView, encodeLogView, LANES_BY, type LogView } from "../../state/trace_log";
import { LogEventTable } from "./LogEventTable";
import { LogFiles } from "./LogFiles";
import { LogLanePicture } from "./LogLanePicture";
import { BlockingTable, LatencyTable } from "./LogTables";
import "./log.css";

const BY = { thread: "Threads", cpu: "CPUs", command: "Commands" };

/** In the language of filters (docs/artefacts.md), the same for all readers. */
const FILTER_EXAMPLE = ["cpu=1", "and", "(event=lock,unlock", "or", "command~crond)"].join(" ");

interface LogPartProps {
  readonly artefact: { readonly id: number };
  readonly part: { readonly position: number; readonly title: string };
  /** The part's place in the link: `key` holds how the log is shown. */
  readonly view?: { readonly key: string | null };
  readonly onView?: (change: { key: string | null }) => void;
}

const KEYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [1, -0.25],
  ArrowRight: [1, 0.25],
  "+": [0.5, 0],
  "-": [2, 0],
};

/** The log of a trace: lanes, who blocked whom, latencies and events. */
export function LogPart({ artefact, part, view, onView }: LogPartProps) {
  const [own, setOwn] = useState<string | null>(null);
  const text = view === undefined ? own : view.key;
  const log = decodeLogView(text);
  const change = (changed: Partial<LogView>) => {
    const key = encodeLogView({ ...log, page: 0, ...changed });
    if (onView === undefined) {
      setOwn(key);
    } else {
      onView({ key });
    }
  };
  const { ref, width } = useElementSize();
  const choice: LogChoice = { artefact: artefact.id, part: part.position, where: log.where, start: log.start, end: log.end };
  const lanes = useQuery({ ...logLanesQuery(choice, log.by, lanePixels(width)), enabled: width > 0 });
  const blocking = useQuery(logBlockingQuery(choice));
  const latencies = useQuery(logLatenciesQuery(choice, log.pair));
  const shown = lanes.data;
  const zoom = (factor: number, share: number, place = 0.5) => {
    if (shown !== undefined) {
      change(
        share === 0 ? zoomWindow(shown.start, shown.width_ns, factor, place) : moveWindow(shown.start, shown.width_ns, share),
      );
    }
  };
  return (
    <div ref={ref}>
      <LogFilter key={log.where} log={log} onChange={change} />
      {lanes.error === null && shown !== undefined ? (
        <>
          <Group gap="xs" mb={4}>
            <Text fz="sm" className="soft">
              {`${formatCount(shown.n_events)} of ${formatCount(shown.n_all_events)} events`}
              {shown.n_lanes > shown.lanes.length &&
                ` in ${String(shown.lanes.length)} of ${String(shown.n_lanes)} lanes, those that wait longest first`}
              {shown.n_backwards > 0 && ` (${String(shown.n_backwards)} printed out of order)`}
            </Text>
            <Button.Group>
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => {
                  zoom(0.5, 0);
                }}
              >
                Zoom in
              </Button>
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => {
                  zoom(2, 0);
                }}
              >
                Zoom out
              </Button>
              <Button
                size="compact-xs"
                variant="default"
                disabled={log.start === null && log.end === null}
                onClick={() => {
                  change({ start: null, end: null });
                }}
              >
                Whole log
              </Button>
            </Button.Group>
            <LogFiles choice={choice} by={log.by} pair={log.pair} hasPair={(latencies.data?.pair ?? null) !== null} />
          </Group>
          {shown.lanes.length === 0 ? (
            <StateView
              isCompact
              state={{ kind: "empty", title: "No events here", next: "Clear the filter, or show the whole log." }}
            />
          ) : (
            <LogLanePicture
              lanes={shown}
              blockings={blocking.data?.rows ?? []}
              onWindow={change}
              onKey={(key) => {
                const [factor, share] = KEYS[key] ?? [0, 0];
                if (factor > 0) {
                  zoom(factor, share);
                }
                return factor > 0;
              }}
            />
          )}
        </>
      ) : (
        <PendingView query={lanes} what={part.title} isCompact />
      )}
      <Title order={3} mt="md" mb={4}>
        Who blocked whom
      </Title>
      {blocking.data === undefined ? (
        <PendingView query={blocking} isCompact />
      ) : (
        <BlockingTable
          list={blocking.data}
          onShow={(row) => {
            change(windowAround(row.wait_start, row.wait_end));
          }}
        />
      )}
      <Title order={3} mt="md" mb={4}>
        Latencies
      </Title>
      {latencies.data === undefined ? (
        <PendingView query={latencies} isCompact />
      ) : latencies.data.summary === null || latencies.data.pair === null ? (
        <Text fz="sm">The log has no known pair of events, such as lock and unlock, and no durations.</Text>
      ) : (
        <>
          <Select
            size="xs"
            w={420}
            maw="100%"
            mb="xs"
            label="Between"
            allowDeselect={false}
            data={latencies.data.pairs.map(({ name, title }) => ({ value: name, label: title }))}
            value={latencies.data.pair.name}
            onChange={(name) => {
              change({ pair: name ?? "" });
            }}
          />
          <LatencyTable summary={latencies.data.summary} />
        </>
      )}
      {latencies.data?.queues.map((queue) => (
        <Text key={`${queue.object} ${queue.stage}`} fz="sm" mt="xs" fw={queue.is_saturated ? 600 : 400}>
          {queue.sentence}
        </Text>
      ))}
      <Title order={3} mt="md" mb={4}>
        Events
      </Title>
      <LogEventTable
        choice={choice}
        page={log.page}
        onPage={(page) => {
          change({ page });
        }}
      />
    </div>
  );
}

interface LogFilterProps {
  readonly log: LogView;
  readonly onChange: (changed: Partial<LogView>) => void;
}

function LogFilter({ log, onChange }: LogFilterProps) {
  const [where, setWhere] = useState(log.where);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ where: where.trim() });
      }}
    >
      <Group gap="xs" mb="xs" align="flex-end">
        <TextInput
          size="xs"
          className="log-where"
          label="Filter events"
          placeholder={FILTER_EXAMPLE}
          value={where}
          onChange={(event) => {
            setWhere(event.currentTarget.value);
          }}
        />
        <Button size="xs" type="submit" variant="default">
          Apply
        </Button>
        <SegmentedControl
          size="xs"
          aria-label="A lane for each"
          data={LANES_BY.map((by) => ({ value: by, label: BY[by] }))}
          value={log.by}
          onChange={(by) => {
            onChange({ by: by });
          }}
        />
      </Group>
    </form>
  );
}
