import { Button, Group as Row, Table, Text, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { seriesQuery, type SeriesRequest } from "../../api/comparison";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useSettled } from "../../components/useSettled";
import type { ComparisonInputs } from "../../logic/against";
import type { AskedSeries, Comparison, AskedSeriesPage } from "../../logic/api";
import { longestWindow } from "../../logic/comparison";
import {
  describeDifference,
  describeSide,
  nextOffset,
  PAGE_SIZE,
  pageText,
  previousOffset,
  type Verdict,
  VERDICT_LABELS,
} from "../../logic/series_verdict";
import { type Place, seriesLink } from "./link";

type Sort = NonNullable<SeriesRequest["sort"]>;

interface SeriesTableProps {
  readonly comparison: Comparison;
  readonly inputs: ComparisonInputs;
  readonly place: Place;
  /** The accessible name of the table. */
  readonly label: string;
  readonly search: string;
  /** Empty: all verdicts. */
  readonly verdicts: readonly Verdict[];
  readonly sort: Sort;
  /** What is said when no series has these verdicts, whatever the search. */
  readonly nothing: string;
}

interface Order {
  readonly sort: Sort;
  readonly isDescending: boolean;
}

/** Series of a comparison with both values, verdict and reason: sorted and paged by the server. */
export function SeriesTable(props: SeriesTableProps) {
  const { inputs, label, verdicts, nothing } = props;
  const search = useSettled(props.search.trim());
  const [order, setOrder] = useState<Order>({ sort: props.sort, isDescending: true });
  // Another search begins on its first page.
  const [place, setPlace] = useState({ search, offset: 0 });
  const offset = place.search === search ? place.offset : 0;
  const found = useQuery(
    seriesQuery(inputs, {
      search,
      verdict: [...verdicts],
      sort: order.sort,
      order: order.isDescending ? "desc" : "asc",
      offset,
      limit: PAGE_SIZE,
    }),
  );
  if (found.data === undefined) {
    return <PendingView isCompact query={found} what="the series" />;
  }
  if (found.data.n_matched === 0) {
    return (
      <StateView
        state={
          search === ""
            ? { kind: "empty", title: nothing }
            : {
                kind: "empty",
                title: `No series matches “${search}”`,
                next: "Use fewer words: a tool, a column, a disk, a process.",
              }
        }
      />
    );
  }
  return (
    <ScrollCard label={label}>
      <Rows {...props} answer={found.data} order={order} onOrder={setOrder} />
      <Pages
        answer={found.data}
        onOffset={(next) => {
          setPlace({ search, offset: next });
        }}
      />
    </ScrollCard>
  );
}

interface RowsProps extends SeriesTableProps {
  readonly answer: AskedSeriesPage;
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
}

function Rows({ comparison, place, label, verdicts, answer, order, onOrder }: RowsProps) {
  const hasHost = comparison.hosts.length > 1;
  const hasVerdict = verdicts.length !== 1;
  const head = { order, onOrder };
  return (
    <Table aria-label={label} className="series-table">
      <Table.Thead>
        <Table.Tr>
          {hasHost && <Table.Th>Host</Table.Th>}
          <SortHead {...head} sort="series" label="Series" />
          {hasVerdict && <Table.Th>Verdict</Table.Th>}
          <SortHead {...head} sort="baseline" label="Baseline" isNumber />
          <SortHead {...head} sort="incident" label="Incident" isNumber />
          <SortHead {...head} sort="difference" label="Difference" isNumber />
          <SortHead {...head} sort="significance" label="Reason" />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {answer.series.map((one) => (
          <Table.Tr key={`${one.host} ${one.stat} ${one.field} ${one.instance}`}>
            {hasHost && <Table.Td>{one.host}</Table.Td>}
            <Table.Td>
              <PageLink to="/hosts/$host" params={{ host: one.host }} search={seriesLink(one, placeOf(one, comparison, place))}>
                {one.title}
              </PageLink>
            </Table.Td>
            {hasVerdict && (
              <Table.Td>
                <span className="verdict-word" data-verdict={one.verdict}>
                  {VERDICT_LABELS[one.verdict]}
                </span>
              </Table.Td>
            )}
            <SideCell side={one.baseline} series={one} />
            <SideCell side={one.incident} series={one} />
            <Table.Td className="number">{describeDifference(one)}</Table.Td>
            <Table.Td className="reason">{one.reason}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** A series that is gone is shown where it was. */
function placeOf(series: AskedSeries, comparison: Comparison, place: Place): Place {
  return series.verdict === "disappeared"
    ? { ...place, window: longestWindow(comparison.against.windows) ?? place.window }
    : place;
}

function SideCell({ side, series }: { readonly side: AskedSeries["baseline"]; readonly series: AskedSeries }) {
  const { value, range } = describeSide(side, series);
  return (
    <Table.Td className="number">
      {value}
      {range !== "" && <div className="soft side-range">{range}</div>}
    </Table.Td>
  );
}

interface SortHeadProps {
  readonly sort: Sort;
  readonly label: string;
  readonly isNumber?: boolean;
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
}

function SortHead({ sort, label, isNumber = false, order, onOrder }: SortHeadProps) {
  const isSorted = order.sort === sort;
  return (
    <Table.Th
      className={isNumber ? "number" : undefined}
      aria-sort={isSorted ? (order.isDescending ? "descending" : "ascending") : "none"}
    >
      <UnstyledButton
        className="sort-head"
        title={`Sort by ${sort === "significance" ? "significance" : label.toLowerCase()}`}
        onClick={() => {
          // Names from A on, numbers from the largest on.
          onOrder({ sort, isDescending: isSorted ? !order.isDescending : sort !== "series" });
        }}
      >
        {label}
        {isSorted && <span aria-hidden>{order.isDescending ? " ↓" : " ↑"}</span>}
      </UnstyledButton>
    </Table.Th>
  );
}

function Pages({ answer, onOffset }: { readonly answer: AskedSeriesPage; readonly onOffset: (offset: number) => void }) {
  const { n_matched, offset, series } = answer;
  const [previous, next] = [previousOffset(offset), nextOffset(offset, n_matched)];
  return previous === null && next === null ? null : (
    <Row p="sm" gap="sm" className="no-print">
      <Button
        size="compact-sm"
        variant="default"
        disabled={previous === null}
        onClick={() => {
          onOffset(previous ?? 0);
        }}
      >
        Previous
      </Button>
      <Text fz="sm" className="soft" role="status">
        {pageText(offset, series.length, n_matched)}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        disabled={next === null}
        onClick={() => {
          onOffset(next ?? 0);
        }}
      >
        Next
      </Button>
    </Row>
  );
}
