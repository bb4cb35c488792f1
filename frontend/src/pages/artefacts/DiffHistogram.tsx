import { Button, Group, NumberInput, Table, Text, Title } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { artefactDiffCsvAddress, type DiffQuery } from "../../api/artefact_diff";
import { ScrollCard } from "../../components/ScrollCard";
import type { ArtefactDiff, DistributionDiff } from "../../logic/api";
import { type BucketRow, bucketRows } from "../../logic/artefact_diff";
import { formatCount, formatShare } from "../../logic/number";
import type { ArtefactDiffView } from "../../state/artefact_diff";
import { counted } from "../../logic/counted";

const SHOWN = 8;

interface DiffHistogramProps {
  readonly diff: NonNullable<ArtefactDiff["diff"]["histogram"]>;
  readonly query: DiffQuery;
  readonly view: ArtefactDiffView;
  readonly onView: (change: Partial<ArtefactDiffView>) => void;
}

/** Distributions over each other, those that changed most first, each with its shift in words. */
export function DiffHistogram({ diff, query, view, onView }: DiffHistogramProps) {
  const [areAllShown, setAllShown] = useState(false);
  const shown = areAllShown ? diff.distributions : diff.distributions.slice(0, SHOWN);
  const n_more = diff.distributions.length - shown.length;
  return (
    <section className="card diff-part">
      <Group gap="xs" mb="xs" align="flex-end">
        <NumberInput
          size="xs"
          w={230}
          label="Limit of the quantity"
          description="A queue's length, such as 512: how much of it is full?"
          min={0}
          hideControls
          value={view.queueLimit ?? ""}
          onChange={(value) => {
            onView({ queueLimit: typeof value === "number" && value > 0 ? value : null });
          }}
        />
        <Button
          ml="auto"
          size="xs"
          component="a"
          href={artefactDiffCsvAddress(query)}
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          download
        >
          CSV
        </Button>
      </Group>
      {diff.notes.map((note) => (
        <Text key={note} fz="sm" c="var(--warn)">
          {note}
        </Text>
      ))}
      {diff.appeared.length > 0 && (
        <Text fz="sm" className="diff-text">
          {`Only after: ${diff.appeared.join(", ")}.`}
        </Text>
      )}
      {diff.disappeared.length > 0 && (
        <Text fz="sm" className="diff-text">
          {`Only before: ${diff.disappeared.join(", ")}.`}
        </Text>
      )}
      {shown.map((distribution, at) => (
        <Distribution key={`${String(at)} ${distribution.key}`} distribution={distribution} />
      ))}
      {n_more > 0 && (
        <Button
          mt="sm"
          size="xs"
          variant="default"
          onClick={() => {
            setAllShown(true);
          }}
        >
          {`Show ${counted(n_more, "more distribution")}`}
        </Button>
      )}
    </section>
  );
}

function Distribution({ distribution }: { readonly distribution: DistributionDiff }) {
  const label = `Distribution ${distribution.key} before and after`;
  return (
    <div className="diff-distribution">
      {distribution.key !== "" && (
        <Title order={3} fz="sm" className="mono diff-text">
          {distribution.key}
        </Title>
      )}
      <Text fz="sm" className="diff-text">
        {distribution.sentence}
      </Text>
      <Text fz="xs" className="soft" mb={4}>
        {`${formatCount(distribution.before_total)} events before, ${formatCount(distribution.after_total)} after`}
        {distribution.is_merged && ` · Buckets that differ are put together where that is exact.`}
      </Text>
      <ScrollCard label={label}>
        <Table aria-label={label} className="diff-buckets" withRowBorders={false}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="number">
                Bucket
                {distribution.unit !== "" && <span className="soft"> ({distribution.unit})</span>}
              </Table.Th>
              <Table.Th aria-hidden />
              <Table.Th className="number diff-side-before">Before</Table.Th>
              <Table.Th className="number diff-side-after">After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {bucketRows(distribution).map((row, at) => (
              <Bucket key={`${String(at)} ${row.label}`} row={row} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </div>
  );
}

function Bucket({ row }: { readonly row: BucketRow }) {
  return (
    <Table.Tr>
      <Table.Td className="number mono">{row.label}</Table.Td>
      <Table.Td className="diff-bucket" aria-hidden>
        <i className="diff-bucket-before" style={{ width: `${String(row.beforeBar)}%` }} />
        <i className="diff-bucket-after" style={{ width: `${String(row.afterBar)}%` }} />
      </Table.Td>
      <Table.Td className="number">
        {formatCount(row.before)} <span className="soft">{row.beforeShare === null ? "" : formatShare(row.beforeShare)}</span>
      </Table.Td>
      <Table.Td className="number">
        {formatCount(row.after)} <span className="soft">{row.afterShare === null ? "" : formatShare(row.afterShare)}</span>
      </Table.Td>
    </Table.Tr>
  );
}
