import { Button, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { flameQuery, type StackReference } from "../../api/flames";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { Artefact, ArtefactPartInfo, FlameView as FlameAnswer } from "../../logic/api";
import { toNodes } from "../../logic/flame";
import { type FlameColumn, formatAmount, formatPart, timeShare } from "../../logic/flame_text";
import { formatCount, formatShare } from "../../logic/number";
import { FLAME_TABS, type FlameDirection, type FlameView } from "../../state/flame";
import { counted } from "../../logic/counted";
import { FlameControls } from "./FlameControls";
import { FlameFunctionTable } from "./FlameFunctionTable";
import { FlameGraph, FlameLook } from "./FlameGraph";
import { useFlame } from "./useFlame";

interface FlamePartProps {
  readonly artefact: Artefact;
  readonly part: ArtefactPartInfo;
}

type OnView = (changed: Partial<FlameView>) => void;

/** A part with stacks: its flame graph, functions and threads; or the callers and callees of one function. */
export function FlamePart({ artefact, part }: FlamePartProps) {
  const reference = { artefact: artefact.id, part: part.position };
  const [view, onView] = useFlame(String(part.position));
  const search = useRef<HTMLInputElement>(null);
  const found = useQuery(flameQuery(reference, view, view.called === null ? view.direction : "down"));
  if (found.data === undefined) {
    return <PendingView query={found} what="the flame graph" />;
  }
  const { data } = found;
  const column = columnOf(data);
  const toSearch = () => search.current?.focus();
  return (
    <>
      <FlameControls
        view={view}
        onView={onView}
        columns={data.columns}
        column={data.column}
        threads={data.threads}
        hasThreads={data.has_threads}
        tabs={view.threads === "none" ? ["graph", "functions"] : FLAME_TABS}
        matched={
          data.matched === null
            ? ""
            : `${formatAmount(data.matched, column)} (${formatPart(data.matched, data.whole)}) in matching stacks`
        }
        search={search}
      />
      {data.whole <= 0 ? (
        <StateView
          state={{ kind: "empty", title: "No weight in these stacks", next: "Choose another weight, or show all threads." }}
        />
      ) : view.tab === "functions" ? (
        <FlameFunctionTable reference={reference} view={view} onView={onView} column={column} />
      ) : view.tab === "threads" ? (
        <Threads data={data} column={column} duration={artefact.duration_s} onView={onView} />
      ) : view.called !== null ? (
        <Calls reference={reference} artefact={artefact} view={view} onView={onView} onSearch={toSearch} />
      ) : (
        <>
          <FlameLook view={view} onView={onView} />
          <Graph artefact={artefact} data={data} view={view} onView={onView} isFlame={view.isFlame} onSearch={toSearch} />
        </>
      )}
    </>
  );
}

function columnOf(data: FlameAnswer): FlameColumn {
  return data.columns.find(({ key }) => key === data.column) ?? { title: data.column, unit: "" };
}

interface GraphProps {
  readonly artefact: Artefact;
  readonly data: FlameAnswer;
  readonly view: FlameView;
  readonly onView: OnView;
  readonly isFlame: boolean;
  readonly onSearch: () => void;
}

function Graph({ artefact, data, view, onView, isFlame, onSearch }: GraphProps) {
  const nodes = useMemo(() => toNodes(data), [data]);
  const column = columnOf(data);
  const title = artefact.title === "" ? data.title : artefact.title;
  return (
    <FlameGraph
      title={`${title} · ${artefact.host}`}
      fileName={`flame-${artefact.host}-${String(artefact.id)}`}
      nodes={nodes}
      path={data.path}
      view={view}
      isFlame={isFlame}
      onView={onView}
      onSearch={onSearch}
      values={(index) => {
        const total = data.total[index] ?? 0;
        const own = data.own[index] ?? 0;
        const share = `${formatPart(total, data.whole)} of all`;
        const texts = [formatAmount(total, column), share, ...(own > 0 ? [`${formatAmount(own, column)} end here`] : [])];
        return texts.join(" · ");
      }}
      note={
        <>
          {data.n_hidden > 0 && data.hidden > 0 && (
            <Text fz="xs" className="soft" mt={2}>
              {`${counted(data.n_hidden, "branch", "branches")} narrower than a pixel are not drawn: ${formatAmount(data.hidden, column)} (${formatPart(data.hidden, data.total[0] ?? 0)}). Zoom in to see them.`}
            </Text>
          )}
          {data.n_cut > 0 && (
            <Text fz="xs" className="soft" mt={2}>
              {`${counted(data.n_cut, "stack")} lost the deepest frames: there are too many different ones.`}
            </Text>
          )}
        </>
      }
    />
  );
}

interface CallsProps {
  readonly reference: StackReference;
  readonly artefact: Artefact;
  readonly view: FlameView;
  readonly onView: OnView;
  readonly onSearch: () => void;
}

/** A function between its callers, above it, and its callees. */
function Calls({ reference, artefact, view, onView, onSearch }: CallsProps) {
  const whole = { ...view, focus: [] };
  const sides: readonly FlameDirection[] = ["up", "down"];
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        mb="xs"
        onClick={() => {
          onView({ called: null, focus: [] });
        }}
      >
        Back to all stacks
      </Button>
      {sides.map((direction) => (
        <OneSide
          key={direction}
          reference={reference}
          artefact={artefact}
          view={whole}
          direction={direction}
          onView={onView}
          onSearch={onSearch}
        />
      ))}
    </>
  );
}

function OneSide({
  reference,
  artefact,
  view,
  direction,
  onView,
  onSearch,
}: CallsProps & { readonly direction: FlameDirection }) {
  const found = useQuery(flameQuery(reference, view, direction));
  if (found.data === undefined) {
    return <PendingView query={found} what="the flame graph" />;
  }
  const name = found.data.path[0]?.name ?? "";
  return (
    <>
      <Title order={3} mt="xs" style={{ overflowWrap: "anywhere" }}>
        {direction === "up" ? `Who calls ${name}` : `What ${name} calls`}
      </Title>
      <Graph
        artefact={artefact}
        data={found.data}
        view={view}
        // A zoom into one side leaves the function: the frame clicked on is the next one to look at.
        onView={({ focus }) => {
          onView({ called: focus?.at(-1) ?? view.called, focus: [] });
        }}
        isFlame={direction === "up"}
        onSearch={onSearch}
      />
    </>
  );
}

interface ThreadsProps {
  readonly data: FlameAnswer;
  readonly column: FlameColumn;
  readonly duration: number | null;
  readonly onView: OnView;
}

/** The weight of each first frame: where stacks are times off the CPU, how long each thread waited. */
function Threads({ data, column, duration, onView }: ThreadsProps) {
  const hasTime = timeShare(1, column.unit, duration) !== null;
  return (
    <>
      <Text fz="xs" className="soft" mb={4}>
        {`${formatCount(data.threads.length)} of ${formatCount(data.n_threads)}, the heaviest first`}
      </Text>
      <ScrollCard label="Threads">
        <Table aria-label="Threads">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>First frame</Table.Th>
              <Table.Th className="number">Weight</Table.Th>
              <Table.Th className="number">Share</Table.Th>
              {hasTime && <Table.Th className="number">Of the duration</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.threads.map(({ id, name, total }) => (
              <Table.Tr key={id}>
                <Table.Td className="flame-name">
                  <button
                    type="button"
                    className="text-button"
                    aria-label={`Show only ${name}`}
                    onClick={() => {
                      onView({ thread: name, tab: "graph", focus: [] });
                    }}
                  >
                    {name}
                  </button>
                </Table.Td>
                <Table.Td className="number">{formatAmount(total, column)}</Table.Td>
                <Table.Td className="number">{formatPart(total, data.whole)}</Table.Td>
                {hasTime && <Table.Td className="number">{formatShare(timeShare(total, column.unit, duration) ?? 0)}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </>
  );
}
