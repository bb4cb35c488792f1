import { NativeSelect, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { flameDiffQuery, functionsDiffQuery, type StackReference } from "../../api/flames";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { FlameDiffView } from "../../logic/api";
import { changeOf, type FlameWidths, toDiffNodes } from "../../logic/flame";
import { type FlameColumn, formatAmount, formatChange, formatPart } from "../../logic/flame_text";
import { formatCount, formatScore } from "../../logic/number";
import { FLAME_SCALINGS, FLAME_WIDTHS, type FlameScaling, type FlameView } from "../../state/flame";
import { counted } from "../../logic/counted";
import { FlameControls } from "./FlameControls";
import { RankHeader } from "./FlameFunctionTable";
import { FlameGraph, FlameLook } from "./FlameGraph";
import { useFlame } from "./useFlame";

const CONTROLS = {
  weight: "Weight",
  mergeFrom: "Merge stacks from",
  root: "Root: what was called",
  leaf: "Leaf: where it ends",
  threads: "Threads",
  named: "by name",
  each: "each thread",
  none: "all as one",
  onlyThread: "Only thread",
  allThreads: "all",
  look: "Direction",
  icicle: "Root at the top",
  flame: "Root at the bottom",
  order: "Order",
  wide: "widest first",
  byName: "by name",
  search: "Highlight functions",
  searchHint: "read|write",
  matched: (amount: string, share: string) => `${amount} (${share}) in matching stacks`,
  svg: "SVG",
  widths: "Width shows",
  both: "both runs",
  before: "baseline",
  after: "incident",
  scaling: "Compare by",
  duration: "duration",
  total: "total",
  printed: "values as printed",
};

const LISTED = 200;

interface FlameDiffProps {
  /** The baseline. */
  readonly before: StackReference;
  /** The incident. */
  readonly after: StackReference;
}

type OnView = (changed: Partial<FlameView>) => void;

/** Two parts with stacks, one over the other: what became more is red, what became less is blue. */
export function FlameDiff({ before, after }: FlameDiffProps) {
  const [view, onView] = useFlame(partOf(before, after));
  const search = useRef<HTMLInputElement>(null);
  const found = useQuery(flameDiffQuery(before, after, view, view.direction));
  if (found.data === undefined) {
    return <PendingView query={found} what="the flame graph" />;
  }
  const { data } = found;
  const column = data.columns.find(({ key }) => key === data.column) ?? { title: data.column, unit: "" };
  const { scale } = data;
  return (
    <>
      <FlameControls
        view={view}
        onView={onView}
        columns={data.columns}
        column={data.column}
        threads={data.threads}
        hasThreads={data.has_threads}
        tabs={["graph", "functions"]}
        matched={matchedText(data, column)}
        search={search}
      >
        <NativeSelect
          size="xs"
          label="Compare by"
          data={FLAME_SCALINGS.map((value) => ({
            value,
            label: { duration: "duration", total: "total", none: "values as printed" }[value],
            disabled: value === "duration" && (scale.before_s === null || scale.after_s === null),
          }))}
          value={scale.by}
          onChange={(event) => {
            onView({ scaling: event.currentTarget.value as FlameScaling });
          }}
        />
        {view.tab === "graph" && (
          <NativeSelect
            size="xs"
            label="Width shows"
            data={FLAME_WIDTHS.map((value) => ({ value, label: CONTROLS[value] }))}
            value={view.widths}
            onChange={(event) => {
              onView({ widths: event.currentTarget.value as FlameWidths });
            }}
          />
        )}
      </FlameControls>
      <Text fz="sm" mb="xs">
        {scaleText(data)}
      </Text>
      {view.tab === "functions" ? (
        <Functions before={before} after={after} view={view} onView={onView} column={column} />
      ) : (
        <>
          <FlameLook view={view} onView={onView} />
          <Graph data={data} view={view} onView={onView} column={column} onSearch={() => search.current?.focus()} />
        </>
      )}
    </>
  );
}

function partOf(before: StackReference, after: StackReference): string {
  return [before, after].map(({ artefact, part }) => `${String(artefact)}:${String(part)}`).join(",");
}

function scaleText({ scale }: FlameDiffView): string {
  switch (scale.by) {
    case "duration":
      return `Compared by duration: the baseline ran ${formatScore(scale.before_s ?? 0)} s, the incident ${formatScore(scale.after_s ?? 0)} s; baseline values are scaled by their ratio.`;
    case "total":
      return "Compared by total: shares of each run, because a duration is unknown or this was chosen.";
    default:
      return "Values as printed: runs of different length differ for that reason alone.";
  }
}

function matchedText({ before_matched, after_matched, scale }: FlameDiffView, column: FlameColumn): string {
  if (before_matched === null || after_matched === null) {
    return "";
  }
  const text = (value: number, whole: number) => `${formatAmount(value, column)} (${formatPart(value, whole)})`;
  return `baseline ${text(before_matched, scale.before_whole)}, incident ${text(after_matched, scale.after_whole)}: ${formatChange(after_matched - before_matched * scale.factor, column)}`;
}

interface GraphProps {
  readonly data: FlameDiffView;
  readonly view: FlameView;
  readonly onView: OnView;
  readonly column: FlameColumn;
  readonly onSearch: () => void;
}

function Graph({ data, view, onView, column, onSearch }: GraphProps) {
  const nodes = useMemo(() => toDiffNodes(data, view.widths), [data, view.widths]);
  const { scale } = data;
  if ((nodes.total[0] ?? 0) <= 0) {
    return (
      <StateView
        state={{ kind: "empty", title: "No weight in these stacks", next: "Choose another weight, or show all threads." }}
      />
    );
  }
  return (
    <FlameGraph
      title="Baseline and incident"
      fileName="flame-difference"
      nodes={nodes}
      path={data.path}
      view={view}
      isFlame={view.isFlame}
      onView={onView}
      onSearch={onSearch}
      values={(index) => {
        const before = data.before_total[index] ?? 0;
        const after = data.after_total[index] ?? 0;
        const change = nodes.change === null ? 0 : changeOf(nodes.change, index, false);
        return `baseline ${formatAmount(before, column)} (${formatPart(before, scale.before_whole)}), incident ${formatAmount(after, column)} (${formatPart(after, scale.after_whole)}): ${formatChange(change, column)}`;
      }}
      note={
        data.n_hidden > 0 && (
          <Text fz="xs" className="soft" mt={2}>
            {`${counted(data.n_hidden, "branch", "branches")} narrower than a pixel are not drawn: ${formatAmount(data.after_hidden, column)} (${formatPart(data.after_hidden, scale.after_whole)}). Zoom in to see them.`}
          </Text>
        )
      }
    />
  );
}

interface FunctionsProps extends FlameDiffProps {
  readonly view: FlameView;
  readonly onView: OnView;
  readonly column: FlameColumn;
}

function Functions({ before, after, view, onView, column }: FunctionsProps) {
  const found = useQuery(functionsDiffQuery(before, after, view, LISTED));
  if (found.data === undefined) {
    return <PendingView query={found} what="functions" />;
  }
  const { functions, n_functions } = found.data;
  if (functions.length === 0) {
    return <StateView state={{ kind: "empty", title: "No function matches", next: "Clear the search to see all functions." }} />;
  }
  return (
    <>
      <Text fz="xs" className="soft" mb={4}>
        {`${formatCount(functions.length)} of ${formatCount(n_functions)} functions, those with most first`}
      </Text>
      <ScrollCard label="Functions">
        <Table aria-label="Functions">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Function</Table.Th>
              <Table.Th className="number">{`Ends in it: Baseline`}</Table.Th>
              <Table.Th className="number">Incident</Table.Th>
              <RankHeader
                title="Change"
                isOn={!view.byTotal}
                onRank={() => {
                  onView({ byTotal: false });
                }}
              />
              <Table.Th className="number">{`Passes through it: Baseline`}</Table.Th>
              <Table.Th className="number">Incident</Table.Th>
              <RankHeader
                title="Change"
                isOn={view.byTotal}
                onRank={() => {
                  onView({ byTotal: true });
                }}
              />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {functions.map((each) => (
              <Table.Tr key={each.id}>
                <Table.Td className="flame-name">{each.name}</Table.Td>
                <Table.Td className="number">{formatAmount(each.before_own, column)}</Table.Td>
                <Table.Td className="number">{formatAmount(each.after_own, column)}</Table.Td>
                <ChangeCell value={each.own_change} column={column} />
                <Table.Td className="number">{formatAmount(each.before_total, column)}</Table.Td>
                <Table.Td className="number">{formatAmount(each.after_total, column)}</Table.Td>
                <ChangeCell value={each.total_change} column={column} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </>
  );
}

function ChangeCell({ value, column }: { readonly value: number; readonly column: FlameColumn }) {
  return (
    <Table.Td className="number">
      <span className={value > 0 ? "flame-more" : value < 0 ? "flame-less" : ""}>{formatChange(value, column)}</span>
    </Table.Td>
  );
}
