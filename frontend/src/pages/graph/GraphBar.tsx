import { Group, MultiSelect, SegmentedControl, Select, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { instancesQuery, statsQuery, viewsQuery } from "../../api/queries";
import { CopyLink } from "../../components/CopyLink";
import { RangePicker } from "../../components/RangePicker";
import { useZone } from "../../components/zone";
import type { HostMetrics } from "../../logic/api";
import {
  type Across,
  ACROSS,
  GRAPH_KINDS,
  type GraphKind,
  metricOptions,
  type Reduction,
  REDUCTIONS,
  reductionWord,
  usualMetric,
} from "../../logic/host_lines";
import { freezeRange, resolveRange } from "../../logic/range";
import { lengthOf, MINUTE, toDurationMs, toEpochMs } from "../../logic/time";
import { useNow } from "../../state/clock";
import { metricsOfView } from "../../logic/view";
import { encodeGraphView, type GraphView, MAX_METRICS } from "../../state/graph";
import { linkWith } from "../../state/url";
import { RunEditor } from "./RunEditor";
import type { GraphViewState } from "./useGraphView";

interface GraphBarProps {
  readonly state: GraphViewState;
  readonly hosts: readonly string[];
  readonly groups: readonly string[];
  readonly tags: readonly string[];
  /** What the chosen hosts have; null until it is known. */
  readonly metrics: HostMetrics | null;
}

const KIND_LABELS: Readonly<Record<GraphKind, string>> = { lines: "Lines", small: "Small graphs", heatmap: "Heatmap" };
const TOPS = [3, 5, 10, 20, 50];

/** Chooses what is drawn: hosts, metric, window, and how the lines become fewer. */
export function GraphBar({ state, hosts, groups, tags, metrics }: GraphBarProps) {
  const { view, set } = state;
  const now = useNow(toDurationMs(MINUTE / 2));
  const zone = useZone(view.clock);
  const shown = resolveRange(view.range, now, zone);
  const isElapsed = view.runs.length > 0;
  const nAsked = metrics?.hosts.length ?? 0;
  const known = metrics?.metrics ?? [];
  const usual = usualMetric(known);
  const chosen = view.metrics.length > 0 ? view.metrics : usual === null ? [] : [usual];
  const [only = null, ...others] = chosen;
  const metric = others.length === 0 ? only : null;
  const stats = useQuery(statsQuery).data?.stats ?? [];
  const views = useQuery(viewsQuery).data?.views ?? [];
  const align = (isByElapsed: boolean): void => {
    if (!isByElapsed) {
      set({ runs: [], hosts: [...new Set([...view.hosts, ...view.runs.map(({ host }) => host)])] });
      return;
    }
    const fixed = resolveRange(freezeRange(view.range, now, zone), now, zone);
    const names = metrics?.hosts ?? view.hosts;
    set({
      runs: names.map((host) => ({ host, start: toEpochMs(fixed.start) })),
      length: lengthOf(fixed),
      group: null,
      tag: null,
    });
  };
  return (
    <div className="card graph-bar no-print">
      <Group gap={8} align="flex-end">
        {!isElapsed && (
          <>
            <MultiSelect
              className="graph-hosts"
              size="xs"
              label="Hosts"
              placeholder={view.hosts.length === 0 ? "Choose hosts" : ""}
              searchable
              clearable
              hidePickedOptions
              limit={200}
              data={[...new Set([...hosts, ...view.hosts])]}
              value={[...view.hosts]}
              onChange={(next) => {
                set({ hosts: next });
              }}
            />
            {(groups.length > 0 || view.group !== null) && (
              <Select
                size="xs"
                w={150}
                label="Host group"
                placeholder="None"
                clearable
                data={[...new Set([...groups, ...(view.group === null ? [] : [view.group])])]}
                value={view.group}
                onChange={(group) => {
                  set({ group });
                }}
              />
            )}
            {(tags.length > 0 || view.tag !== null) && (
              <Select
                size="xs"
                w={130}
                label="Tag"
                placeholder="None"
                clearable
                searchable
                data={[...new Set([...tags, ...(view.tag === null ? [] : [view.tag])])]}
                value={view.tag}
                onChange={(tag) => {
                  set({ tag });
                }}
              />
            )}
          </>
        )}
        <MultiSelect
          className="graph-metric"
          size="xs"
          label="Metrics"
          placeholder={chosen.length === 0 ? "Choose a metric" : ""}
          searchable
          hidePickedOptions
          limit={300}
          maxValues={MAX_METRICS}
          nothingFoundMessage="No metric of these hosts matches"
          data={withChosen(metricOptions(known, nAsked), chosen)}
          value={[...chosen]}
          onChange={(next) => {
            set({ metrics: next, instance: null });
          }}
        />
        <Select
          size="xs"
          w={150}
          label="Metrics of a view"
          placeholder="Choose a view"
          searchable
          data={views.map(({ key, name }) => ({ value: key, label: name }))}
          value={null}
          disabled={metrics === null}
          onChange={(key) => {
            const picked = views.find((each) => each.key === key);
            const fields = picked === undefined ? [] : metricsOfView(stats, known, picked).slice(0, MAX_METRICS);
            if (fields.length > 0) {
              set({ metrics: fields, instance: null });
            }
          }}
        />
      </Group>
      <Group gap={8} align="flex-end" mt={8}>
        {!isElapsed && (
          <RangePicker
            range={view.range}
            window={shown}
            zone={zone}
            onChange={(range) => {
              set({ range });
            }}
          />
        )}
        <Tooltip label="By clock: one window for all. By elapsed time: each line begins at a start of its own, all side by side">
          <SegmentedControl
            size="xs"
            aria-label="Align lines by"
            value={isElapsed ? "elapsed" : "clock"}
            data={[
              { value: "clock", label: "By clock" },
              { value: "elapsed", label: "By elapsed time" },
            ]}
            onChange={(value) => {
              align(value === "elapsed");
            }}
          />
        </Tooltip>
        <SegmentedControl
          size="xs"
          aria-label="Show as"
          value={view.kind}
          data={GRAPH_KINDS.map((kind) => ({ value: kind, label: KIND_LABELS[kind] }))}
          onChange={(value) => {
            set({ kind: GRAPH_KINDS.find((kind) => kind === value) ?? "lines" });
          }}
        />
        <Reducing view={view} set={set} metrics={metrics} metric={metric} />
        <CopyLink
          frozen={
            view.range.kind === "fixed" || isElapsed
              ? null
              : linkWith(encodeGraphView({ ...view, range: freezeRange(view.range, now, zone) }))
          }
        />
      </Group>
      {isElapsed && <RunEditor view={view} hosts={hosts} zone={zone} onChange={set} />}
    </div>
  );
}

type Options = ReturnType<typeof metricOptions>;

/** Return the options for the menu, with the metrics of the link even if no host has them. */
function withChosen(options: Options, chosen: readonly string[]) {
  const all = options.map(({ group, items }) => ({ group, items: [...items] }));
  const known = new Set(options.flatMap(({ items }) => items.map(({ value }) => value)));
  const others = chosen.filter((metric) => !known.has(metric));
  return others.length === 0
    ? all
    : [{ group: "In the link", items: others.map((metric) => ({ value: metric, label: metric })) }, ...all];
}

interface ReducingProps {
  readonly view: GraphView;
  readonly set: GraphViewState["set"];
  readonly metrics: HostMetrics | null;
  readonly metric: string | null;
}

const NAMED = "instance ";

/** Chooses how instances become the line of a host, how hosts become one line, and how many lines are drawn. */
function Reducing({ view, set, metrics, metric }: ReducingProps) {
  const now = useNow(toDurationMs(MINUTE / 2));
  const zone = useZone(view.clock);
  const [column = ""] = metrics?.metrics.find(({ key }) => key === metric)?.fields ?? [];
  const [stat = ""] = column.split(".");
  const host = metrics?.hosts.find((name) => !metrics.unknown_hosts.includes(name)) ?? "";
  const window = resolveRange(view.range, now, zone);
  const instances = useQuery({
    ...instancesQuery(host, stat, { start: roundDown(window.start), end: roundDown(window.end) }),
    enabled: host !== "" && stat !== "",
  });
  const names = instances.data?.instances.map(({ name }) => name).filter((name) => name !== "") ?? [];
  const hasInstances = names.length > 0 || view.instance !== null || view.across !== "usual";
  const named = [...new Set([...names.slice(0, 200), ...(view.instance === null ? [] : [view.instance])])];
  return (
    <>
      {hasInstances && (
        <Select
          size="xs"
          w={186}
          label="Instances of a host"
          searchable
          allowDeselect={false}
          data={[
            { group: "All of a host", items: ACROSS.map((value) => ({ value, label: acrossLabel(value) })) },
            { group: "One, on every host", items: named.map((name) => ({ value: `${NAMED}${name}`, label: name })) },
          ]}
          value={view.instance === null ? view.across : `${NAMED}${view.instance}`}
          onChange={(value) => {
            set(
              value?.startsWith(NAMED) === true
                ? { instance: value.slice(NAMED.length), across: "usual" }
                : { instance: null, across: ACROSS.find((each) => each === value) ?? "usual" },
            );
          }}
        />
      )}
      <Select
        size="xs"
        w={186}
        label="Over hosts"
        allowDeselect={false}
        data={[
          { value: "", label: "A line for each" },
          ...REDUCTIONS.map((value) => ({ value, label: capital(reductionWord(value)) })),
        ]}
        value={view.over ?? ""}
        onChange={(value) => {
          set({ over: REDUCTIONS.find((each): each is Reduction => each === value) ?? null });
        }}
      />
      {view.over === null && (
        <Select
          size="xs"
          w={92}
          label="Worst"
          allowDeselect={false}
          data={[
            { value: "", label: "All" },
            ...[...new Set([...TOPS, ...(view.top === null ? [] : [view.top])])].map((n) => ({
              value: String(n),
              label: `Top ${String(n)}`,
            })),
          ]}
          value={view.top === null ? "" : String(view.top)}
          onChange={(value) => {
            set({ top: value === null || value === "" ? null : Number(value) });
          }}
        />
      )}
    </>
  );
}

function acrossLabel(across: Across): string {
  return across === "usual" ? "Usual" : across === "each" ? "A line for each" : capital(reductionWord(across));
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The list of instances is not asked for again as a live window moves. */
function roundDown(at: number) {
  return toEpochMs(at - (at % MINUTE));
}
