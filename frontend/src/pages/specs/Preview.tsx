import { Button, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { previewQuery } from "../../api/queries";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, StateView } from "../../components/StateView";
import type { SpecPreview } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { describePreview, previewAdvice, type PreviewTable, previewTables } from "../../logic/specs";
import { counted } from "../../logic/counted";

const FIRST_SHOWN = 12;

interface PreviewProps {
  readonly toml: string;
  readonly sample: string;
}

/** The rows and rejected lines that the current spec yields for the sample. */
export function Preview({ toml, sample }: PreviewProps) {
  const hasSample = sample.trim() !== "";
  const preview = useQuery({ ...previewQuery(toml, sample), enabled: hasSample });
  if (!hasSample) {
    return (
      <div className="card">
        <StateView
          state={{ kind: "empty", title: "No sample", next: "Paste some output of the tool above to see a preview here." }}
        />
      </div>
    );
  }
  return (
    <div aria-live="polite" aria-busy={preview.isFetching}>
      {preview.error !== null && (
        <div className="card preview-problem">
          <Text fz="sm" fw={600}>
            This spec cannot be used:
          </Text>
          <ErrorLine error={preview.error} />
        </div>
      )}
      {preview.data === undefined ? (
        preview.error === null && <StateView state={{ kind: "loading", what: "preview" }} />
      ) : (
        <div data-stale={preview.error !== null || preview.isPlaceholderData} className="preview">
          <Found preview={preview.data} />
        </div>
      )}
    </div>
  );
}

function Found({ preview }: { readonly preview: SpecPreview }) {
  const advice = previewAdvice(preview);
  return (
    <>
      <Text fz="sm" mb={6}>
        <b>{describePreview(preview)}.</b>
        {advice !== null && <span className="soft"> {advice}</span>}
      </Text>
      {previewTables(preview.rows).map((table) => (
        <Rows key={table.stat} table={table} />
      ))}
      {preview.rejected.length > 0 && <Rejected preview={preview} />}
    </>
  );
}

function Rows({ table }: { readonly table: PreviewTable }) {
  const [isAll, setAll] = useState(false);
  const rows = isAll ? table.rows : table.rows.slice(0, FIRST_SHOWN);
  return (
    <section aria-label={`Rows of ${table.stat}`} style={{ marginBottom: 12 }}>
      <Title order={3} mb={4}>
        {table.stat}
      </Title>
      <ScrollCard label={`Rows of ${table.stat}`}>
        <Table aria-label={`Rows of ${table.stat}`} verticalSpacing={2} w="auto">
          <Table.Thead>
            <Table.Tr>
              {table.hasTimes && <Table.Th>Time (UTC)</Table.Th>}
              {table.hasInstances && <Table.Th>Instance</Table.Th>}
              {table.columns.map((column) => (
                <Table.Th key={column} className="number mono">
                  {column}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, number) => (
              // Rows of a sample have no unique key.
              <Table.Tr key={number}>
                {table.hasTimes && <Table.Td style={{ whiteSpace: "nowrap" }}>{row.time ?? "–"}</Table.Td>}
                {table.hasInstances && <Table.Td className="mono">{row.instance}</Table.Td>}
                {table.columns.map((column) => (
                  <Table.Td key={column} className="number">
                    {row.values[column] ?? "–"}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
      {table.rows.length > rows.length && (
        <Button
          mt={4}
          size="compact-xs"
          variant="default"
          onClick={() => {
            setAll(true);
          }}
        >
          {`Show all ${formatCount(table.rows.length)}`}
        </Button>
      )}
    </section>
  );
}

function Rejected({ preview }: { readonly preview: SpecPreview }) {
  return (
    <section aria-label="Rejected lines">
      <Title order={3} mb={4}>
        Rejected lines
      </Title>
      <ScrollCard label="Rejected lines">
        <Table aria-label="Rejected lines" verticalSpacing={2}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="number" w={80}>
                Line
              </Table.Th>
              <Table.Th>Reason</Table.Th>
              <Table.Th>Text</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {preview.rejected.map(({ line_no, reason, text }) => (
              <Table.Tr key={line_no}>
                <Table.Td className="number">{formatCount(line_no)}</Table.Td>
                <Table.Td>{reason}</Table.Td>
                <Table.Td className="mono raw-line">{text}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
      {preview.n_rejected > preview.rejected.length && (
        <Text fz="sm" className="soft">
          {`the first ${formatCount(preview.rejected.length)} of ${counted(preview.n_rejected, "rejected line")}`}
        </Text>
      )}
    </section>
  );
}
