import { Table, Text, UnstyledButton } from "@mantine/core";
import { useMemo, useState } from "react";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { describeSource, formatOf, type HostLine, hostsAt, LINE_ORDERS, type LineOrder, lineRows } from "../../logic/host_lines";
import { strokeOf } from "../../logic/palette";
import { readingTolerance, sampleAt } from "../../logic/series";
import { PANEL_MARGINS, pixelMs } from "../../logic/surface";
import { toEpochMs, type Window } from "../../logic/time";
import type { GraphView } from "../../state/graph";
import { usePointer } from "../../state/pointer";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import type { HostGraphContext } from "./HostGraph";

const HEADS: Readonly<Record<LineOrder, string>> = {
  name: "Line",
  last: "Last",
  mean: "Mean",
  lowest: "Lowest",
  highest: "Highest",
};
const DASHES: Readonly<Record<string, string | undefined>> = { dash: "5 3", dot: "2 2", dashdot: "6 2 2 2" };

/** The lines with their numbers, the worst first; each host leads to its own page. */
export function LineTable({ graph, view }: { readonly graph: HostGraphContext; readonly view: GraphView }) {
  const { block, scheme, slots } = graph;
  const [order, setOrder] = useState<LineOrder>("mean");
  const rows = useMemo(() => lineRows(block, order), [block, order]);
  const head = (own: LineOrder) => (
    <Table.Th key={own} className={own === "name" ? "" : "number"} aria-sort={own === order ? "descending" : "none"}>
      <UnstyledButton
        className="graph-order"
        aria-label={`Sort by ${HEADS[own].toLowerCase()}`}
        onClick={() => {
          setOrder(own);
        }}
      >
        {HEADS[own]}
        {own === order && <span aria-hidden> ▾</span>}
      </UnstyledButton>
    </Table.Th>
  );
  return (
    <ScrollCard label="Lines">
      <Table aria-label="Lines of the graph">
        <Table.Thead>
          <Table.Tr>
            {head("name")}
            <Table.Th className="number">At the crosshair</Table.Th>
            {LINE_ORDERS.filter((own) => own !== "name").map(head)}
            <Table.Th>Read from</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ line, lowest, highest, last }) => {
            const stroke = strokeOf(slots.get(line.key) ?? 0, scheme);
            return (
              <Table.Tr key={line.key}>
                <Table.Td className="graph-name">
                  <svg width="18" height="10" aria-hidden>
                    <line
                      x1="0"
                      x2="18"
                      y1="5"
                      y2="5"
                      stroke={stroke.color}
                      strokeWidth="3"
                      strokeDasharray={DASHES[stroke.dash]}
                    />
                  </svg>{" "}
                  {line.host === "" ? (
                    line.name
                  ) : (
                    <PageLink to="/hosts/$host" params={{ host: line.host }} search={hostLink(line, graph.window, view)}>
                      {line.name}
                    </PageLink>
                  )}
                </Table.Td>
                <Table.Td className="number">
                  <CrosshairValue line={line} graph={graph} />
                </Table.Td>
                <Table.Td className="number">{formatOf(block.metric, line.mean, 1)}</Table.Td>
                <Table.Td className="number">{formatOf(block.metric, lowest)}</Table.Td>
                <Table.Td className="number">{formatOf(block.metric, highest)}</Table.Td>
                <Table.Td className="number">{formatOf(block.metric, last)}</Table.Td>
                <Table.Td>
                  <Text fz="xs" className="soft">
                    {describeSource(line)}
                  </Text>
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

/** The host's page at the same time: of a run, at the time of the run. */
function hostLink(line: HostLine, window: Window, view: GraphView) {
  const by = line.start === null ? 0 : line.start - window.start;
  const range =
    line.start === null
      ? view.range
      : ({ kind: "fixed", window: { start: toEpochMs(window.start + by), end: toEpochMs(window.end + by) } } as const);
  return encodeHostView({ ...DEFAULT_HOST_VIEW, clock: view.clock, range });
}

/** The only part of the table that follows the pointer. */
function CrosshairValue({ line, graph }: { readonly line: HostLine; readonly graph: HostGraphContext }) {
  const { hovered } = usePointer(graph.pointer);
  const tolerance = useMemo(
    () => readingTolerance(line, pixelMs(graph.width, PANEL_MARGINS, graph.window)),
    [line, graph.width, graph.window],
  );
  if (hovered === null) {
    return null;
  }
  const n = hostsAt(line, hovered, tolerance);
  return (
    <>
      {formatOf(graph.block.metric, sampleAt(line, hovered, tolerance)?.value ?? null)}
      {n !== null && <span className="soft"> {`(${String(n)} of ${String(graph.block.n_hosts)} hosts)`}</span>}
    </>
  );
}
