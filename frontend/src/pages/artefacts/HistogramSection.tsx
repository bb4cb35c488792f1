import { Button, Group, Select, Table, Text, Title, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { artefactHistogramQuery } from "../../api/artefacts";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { HistogramView } from "../../logic/api";
import {
  bucketName,
  bucketTick,
  countsByKey,
  countsByReport,
  cumulativeOf,
  describeBulk,
  filledRange,
  heatmapOf,
  type KeyCounts,
  quantileBucket,
} from "../../logic/distribution";
import { formatCount } from "../../logic/number";
import { formatShareCell } from "../../logic/artefact";
import { toEpochMs } from "../../logic/time";
import { formatClock, formatInstant, type Zone } from "../../logic/zone";
import { buildBarFigure } from "../../plot/bars";
import { buildCellFigure } from "../../plot/cells";
import { Plot } from "../../plot/Plot";
import type { SectionProps } from "./ArtefactPage";
import { counted } from "../../logic/counted";

const QUANTILE = { 0.5: "median", 0.9: "p90", 0.99: "p99" };

const MULTIPLES = 12;
const HEIGHT = 190;
const SMALL_HEIGHT = 130;
const MARGINS = { left: 52, right: 44, top: 8, bottom: 24 };
const CELL_MARGINS = { left: 96, right: 70, top: 6, bottom: 24 };
const ROW_PX = 15;
const QUANTILES = [0.5, 0.9, 0.99] as const;

/** Distributions: one drawn large with its numbers, or all beside each other. */
export function HistogramSection({ artefact, part, zone, view, onView }: SectionProps) {
  const found = useQuery(artefactHistogramQuery(artefact.id, part.position));
  const histogram = found.data;
  const all = useMemo(() => (histogram === undefined ? [] : countsByKey(histogram, view.report)), [histogram, view.report]);
  if (histogram === undefined) {
    return <PendingView query={found} what={part.title} isCompact />;
  }
  const chosen = view.key === null ? (all.length === 1 ? all[0] : undefined) : all.find(({ key }) => key === view.key);
  return (
    <>
      <Group gap="xs" mb="xs" align="flex-end">
        {all.length > 1 && (
          <Select
            size="xs"
            w={360}
            maw="100%"
            label="Distribution"
            allowDeselect={false}
            searchable
            limit={200}
            data={[
              { value: "all", label: `all ${String(all.length)}, side by side` },
              ...all.map(({ key, total }, row) => ({ value: String(row), label: `${nameOfKey(key)} (${formatCount(total)})` })),
            ]}
            value={chosen === undefined ? "all" : String(all.indexOf(chosen))}
            onChange={(text) => {
              onView({ key: text === null || text === "all" ? null : (all[Number(text)]?.key ?? null) });
            }}
          />
        )}
        {histogram.reports.length > 1 && (
          <Select
            size="xs"
            w={210}
            label="Report"
            allowDeselect={false}
            searchable
            limit={200}
            data={[
              { value: "", label: `all ${String(histogram.reports.length)} reports, summed` },
              ...histogram.reports.map((at, number) => ({
                value: String(number),
                label: `${String(number + 1)}${at === null ? "" : ` · ${formatInstant(zone, toEpochMs(at))}`}`,
              })),
            ]}
            value={view.report === null ? "" : String(view.report)}
            onChange={(text) => {
              onView({ report: text === null || text === "" ? null : Number(text) });
            }}
          />
        )}
        {histogram.unit === "" && (
          <Text fz="xs" className="soft">
            The tool prints no unit for these values.
          </Text>
        )}
      </Group>
      {all.length === 0 ? (
        <StateView isCompact state={{ kind: "empty", title: "No events were counted" }} />
      ) : chosen === undefined ? (
        <Multiples
          histogram={histogram}
          all={all}
          onKey={(key) => {
            onView({ key });
          }}
        />
      ) : (
        <OneDistribution histogram={histogram} counts={chosen} zone={zone} isOver={view.report === null} />
      )}
      {histogram.n_distributions > histogram.distributions.length && (
        <Text fz="xs" className="soft" mt="xs">
          {`${formatCount(histogram.distributions.length)} of ${formatCount(histogram.n_distributions)} distributions are drawn, those with most events.`}
        </Text>
      )}
    </>
  );
}

function nameOfKey(key: string): string {
  return key.trim() === "" ? "all events" : key;
}

interface BarsProps {
  readonly histogram: HistogramView;
  readonly counts: KeyCounts;
  readonly range: readonly [number, number];
  readonly width: number;
  readonly height: number;
}

function Bars({ histogram, counts, range: [first, end], width, height }: BarsProps) {
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const { buckets, unit } = histogram;
  const figure = useMemo(() => {
    const labels = buckets.map((_, place) => bucketTick(buckets, place, unit)).slice(first, end);
    return buildBarFigure({
      values: counts.counts.slice(first, end),
      labels,
      cumulative: cumulativeOf(counts)?.slice(first, end) ?? null,
      unit: "",
      scheme,
      width,
      height,
      margins: MARGINS,
    });
  }, [buckets, unit, counts, first, end, scheme, width, height]);
  return <Plot figure={figure} label={`Distribution of ${formatCount(counts.total)} events of ${nameOfKey(counts.key)}`} />;
}

interface MultiplesProps {
  readonly histogram: HistogramView;
  readonly all: readonly KeyCounts[];
  readonly onKey: (key: string) => void;
}

/** Small pictures with one axis, so that they can be compared. */
function Multiples({ histogram, all, onKey }: MultiplesProps) {
  const [areAllShown, setAllShown] = useState(false);
  const { ref, width } = useElementSize();
  const shown = areAllShown ? all : all.slice(0, MULTIPLES);
  const range = useMemo(() => filledRange(all, histogram.buckets.length), [all, histogram.buckets.length]);
  return (
    <>
      <div className="artefact-multiples">
        {shown.map((counts, row) => (
          <div key={`${String(row)} ${counts.key}`} {...(row === 0 ? { ref } : {})}>
            <Title order={3} fz="sm">
              <button
                type="button"
                className="text-button artefact-name"
                onClick={() => {
                  onKey(counts.key);
                }}
              >
                {nameOfKey(counts.key)}
              </button>
            </Title>
            <Text fz="xs" className="soft">
              {describeBulk(histogram.buckets, counts, histogram.unit) || counted(counts.total, "event")}
            </Text>
            {width > 0 && <Bars histogram={histogram} counts={counts} range={range} width={width} height={SMALL_HEIGHT} />}
          </div>
        ))}
      </div>
      {all.length > shown.length && (
        <Button
          mt="xs"
          size="compact-sm"
          variant="default"
          onClick={() => {
            setAllShown(true);
          }}
        >
          {`Show ${counted(all.length - shown.length, "more distribution")}`}
        </Button>
      )}
    </>
  );
}

interface OneDistributionProps {
  readonly histogram: HistogramView;
  readonly counts: KeyCounts;
  readonly zone: Zone;
  /** Whether the reports are drawn beside each other, too. */
  readonly isOver: boolean;
}

/** One distribution: the sentence, the picture, its buckets, and how it went over time. */
function OneDistribution({ histogram, counts, zone, isOver }: OneDistributionProps) {
  const { ref, width } = useElementSize();
  const { buckets, unit } = histogram;
  const [first, end] = useMemo(() => filledRange([counts], buckets.length), [counts, buckets.length]);
  const cumulative = cumulativeOf(counts);
  const marks = new Map(QUANTILES.map((quantile) => [quantile, quantileBucket(counts, quantile)]));
  return (
    <div ref={ref}>
      <Text fz="sm">
        <b className="artefact-name">{nameOfKey(counts.key)}</b>: {describeBulk(buckets, counts, unit)}
        {QUANTILES.map((quantile) => {
          const place = marks.get(quantile) ?? null;
          return place === null ? "" : ` · ${QUANTILE[quantile]} ${bucketName(buckets, place, unit)}`;
        }).join("")}
      </Text>
      <Text fz="xs" className="soft">
        Events by bucket (bars, lower end below), cumulative share (line)
      </Text>
      {width > 0 && <Bars histogram={histogram} counts={counts} range={[first, end]} width={width} height={HEIGHT} />}
      {isOver && histogram.reports.length > 1 && width > 0 && (
        <OverTime histogram={histogram} counts={counts} zone={zone} width={width} />
      )}
      <ScrollCard label="Buckets">
        <Table aria-label="Buckets">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{unit === "" ? "Value" : `Value (${unit})`}</Table.Th>
              <Table.Th className="number">Events</Table.Th>
              <Table.Th className="number">Share</Table.Th>
              <Table.Th className="number">Cumulative</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {buckets.slice(first, end).map((bucket, row) => {
              const place = first + row;
              const count = counts.counts[place] ?? 0;
              return (
                <Table.Tr key={`${String(place)} ${bucket.label}`}>
                  <Table.Td className="mono">{bucketName(buckets, place, unit)}</Table.Td>
                  <Table.Td className="number">{formatCount(count)}</Table.Td>
                  <Table.Td className="number">{counts.total <= 0 ? "–" : formatShareCell(count / counts.total)}</Table.Td>
                  <Table.Td className="number">{cumulative === null ? "–" : formatShareCell(cumulative[place] ?? 0)}</Table.Td>
                  <Table.Td className="soft">
                    {QUANTILES.filter((quantile) => marks.get(quantile) === place)
                      .map((quantile) => QUANTILE[quantile])
                      .join(", ")}
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th>Total</Table.Th>
              <Table.Th className="number">{formatCount(counts.total)}</Table.Th>
              <Table.Th className="number">{counts.total <= 0 ? "–" : "100 %"}</Table.Th>
              <Table.Th />
              <Table.Th />
            </Table.Tr>
          </Table.Tfoot>
        </Table>
      </ScrollCard>
    </div>
  );
}

interface OverTimeProps extends Omit<OneDistributionProps, "isOver"> {
  readonly width: number;
}

/** A heatmap: a column for each report, a row for each bucket. */
function OverTime({ histogram, counts, zone, width }: OverTimeProps) {
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const figure = useMemo(() => {
    const { buckets, unit, reports } = histogram;
    const { rows, values } = heatmapOf(countsByReport(histogram, counts.key), filledRange([counts], buckets.length));
    return buildCellFigure({
      columns: reports.map((at, number) => (at === null ? String(number + 1) : formatClock(zone, toEpochMs(at)))),
      rows: rows.map((place) => bucketTick(buckets, place, unit)),
      values,
      unit: "",
      scheme,
      width,
      height: rows.length * ROW_PX + CELL_MARGINS.top + CELL_MARGINS.bottom,
      margins: CELL_MARGINS,
    });
  }, [histogram, counts, zone, scheme, width]);
  return (
    <>
      <Text fz="xs" className="soft" mt="xs">
        Over time: a column for each report, the stronger the more events
      </Text>
      <Plot figure={figure} label={`Heatmap of ${nameOfKey(counts.key)} over its reports`} />
    </>
  );
}
