import { Modal, MultiSelect, Select, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { hostsQuery } from "../../api/queries";
import { type RelatedQuery, relatedQuery } from "../../api/related";
import { PageLink } from "../../components/PageLink";
import { PendingView } from "../../components/StateView";
import { counted } from "../../logic/counted";
import type { RelatedAnswer, RelatedSeries } from "../../logic/api";
import type { SeriesBlock } from "../../logic/block";
import { formatCount } from "../../logic/number";
import type { PanelPlan } from "../../logic/panel";
import { HEIGHT, linePath, shareOf, WIDTH } from "../../logic/related";
import { extremesOf, seriesKey, seriesName } from "../../logic/series";
import { describeDuration, fromApi, toDurationMs, wholeSecond, type Window } from "../../logic/time";
import { formatInstant, type Zone } from "../../logic/zone";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { clockOf } from "../../state/zone_choice";
import type { GraphContext } from "./graph";
import "./RelatedDialog.css";

interface RelatedDialogProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly onClose: () => void;
}

/** What moves with a line of a panel: in the selected window, or else the visible one. */
export function RelatedDialog({ plan, graph, block, onClose }: RelatedDialogProps) {
  const lines = useMemo(() => {
    const nInstances = new Set(block.series.map(({ instance }) => instance)).size;
    return block.series.map((series) => {
      const column = plan.fields.find(({ key }) => key === series.field)?.column ?? series.field;
      const name = seriesName(column, series.instance, plan.fields.length, nInstances);
      return { value: seriesKey(series), label: name === "" ? column : name, series };
    });
  }, [block, plan]);
  const [chosen, setChosen] = useState((lines.find(({ series }) => isMoving(series.values)) ?? lines[0])?.value ?? "");
  const [others, setOthers] = useState<readonly string[]>([]);
  // Asked for what was there when the dialog was opened: a live window moves on.
  const [window] = useState(() => toSeconds(graph.bands.find(({ kind }) => kind === "mark")?.window ?? graph.window));
  const series = lines.find(({ value }) => value === chosen)?.series;
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  return (
    <Modal opened onClose={onClose} title="What moves with this?" size={860}>
      <Stack gap="sm">
        <Text fz="sm" className="soft">
          {`${formatInstant(graph.zone, window.start)} to ${formatInstant(graph.zone, window.end)}, with as much time before and after it. `}
          To ask about another time, select it in a graph first.
        </Text>
        <Select
          label="Line"
          data={lines.map(({ value, label }) => ({ value, label }))}
          value={chosen}
          allowDeselect={false}
          searchable
          onChange={(value) => {
            setChosen(value ?? "");
          }}
        />
        <MultiSelect
          label="Look at the series of these hosts, too"
          placeholder={others.length === 0 ? "only this host" : ""}
          data={hosts.map(({ name }) => name).filter((name) => name !== graph.host)}
          value={[...others]}
          searchable
          clearable
          maxValues={50}
          onChange={setOthers}
        />
        {series !== undefined && (
          <RelatedList
            host={graph.host}
            others={others}
            stat={plan.stat.name}
            field={series.field}
            instance={series.instance}
            window={window}
            zone={graph.zone}
          />
        )}
      </Stack>
    </Modal>
  );
}

interface RelatedListProps extends RelatedQuery {
  readonly zone: Zone;
}

/** The series that move with one, each drawn over it. */
export function RelatedList({ host, others, stat, field, instance, window, zone }: RelatedListProps) {
  const query = useQuery(relatedQuery({ host, others, stat, field, instance, window }));
  if (query.data === undefined) {
    return <PendingView isCompact query={query} what="all series of that time" />;
  }
  return <RelatedTable answer={query.data} window={window} zone={zone} />;
}

function RelatedTable({
  answer,
  window,
  zone,
}: {
  readonly answer: RelatedAnswer;
  readonly window: Window;
  readonly zone: Zone;
}) {
  const clock = clockOf(useSearch({ strict: false }));
  const chosen = useMemo(() => linePath(answer.values), [answer]);
  const shown = shareOf(window, answer.starts, answer.step_ms);
  const hasOthers = answer.related.some(({ host }) => host !== answer.host);
  const read = { start: fromApi(answer.read_start), end: fromApi(answer.read_end) };
  return (
    <>
      <Text fz="sm" fw={600} className="related-title">
        {answer.sentence}
      </Text>
      {answer.related.length > 0 && (
        <Table aria-label="Series that move with it" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Series</Table.Th>
              <Table.Th>Direction and lag</Table.Th>
              <Table.Th className="number">Correlation</Table.Th>
              <Table.Th w={WIDTH}>{`Over ${answer.title} (dashed)`}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {answer.related.map((one) => (
              <Table.Tr key={`${one.host} ${one.stat} ${one.field} ${one.instance}`}>
                <Table.Td className="related-title">
                  <PageLink
                    to="/hosts/$host"
                    params={{ host: one.host }}
                    search={encodeHostView({
                      ...DEFAULT_HOST_VIEW,
                      clock,
                      range: { kind: "fixed", window: read },
                      mark: window,
                      panels: [panelOf(answer), panelOf(one)],
                    })}
                  >
                    {one.title}
                  </PageLink>
                  {hasOthers && <div className="soft">{one.host}</div>}
                  {one.n_alike > 0 && (
                    <Text fz="xs" className="soft">{`and ${counted(one.n_alike, "more instance")} of ${one.column}`}</Text>
                  )}
                </Table.Td>
                <Table.Td>{one.sentence}</Table.Td>
                <Table.Td className="number">{one.correlation.toFixed(2)}</Table.Td>
                <Table.Td>
                  <svg
                    className="related-line"
                    viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
                    preserveAspectRatio="none"
                    role="img"
                    aria-label={`${one.title}: ${one.sentence}`}
                  >
                    <rect className="related-window" x={shown.x} width={shown.width} y={0} height={HEIGHT} />
                    <path className="related-chosen" d={chosen} />
                    <path className="related-other" d={linePath(one.values)} />
                  </svg>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Text fz="xs" className="soft">
        {`Steps of ${describeDuration(toDurationMs(answer.step_ms))} from ${formatInstant(zone, read.start)} to ${formatInstant(zone, read.end)}; `}
        {`lags up to ${describeDuration(toDurationMs(answer.max_lag_s * 1000))}. `}
        {answer.n_left_out > 0 && `${formatCount(answer.n_left_out)} series have too few values there. `}
        What moves together need not be cause and effect.
      </Text>
    </>
  );
}

function isMoving(values: readonly (number | null)[]): boolean {
  const { lowest, highest } = extremesOf(values);
  return lowest !== highest;
}

/** Return the window in whole seconds: milliseconds of a drag mean nothing here. */
function toSeconds({ start, end }: Window): Window {
  return { start: wholeSecond(start), end: wholeSecond(end) };
}

function panelOf({ stat, field, instance }: Pick<RelatedSeries, "stat" | "field" | "instance">) {
  return {
    stat,
    fields: [field],
    choice: instance === "" ? ({ kind: "one" } as const) : ({ kind: "only", names: [instance] } as const),
  };
}
