import { api } from "../../api/client";
import { Button, Group, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { reportExport, reportsQuery } from "../../api/reports";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import type { ReportInfo } from "../../logic/api";
import { NewReport } from "./NewReport";

/** All reports, last changed first. */
export function ReportsPage() {
  useDocumentTitle(`Reports - normstat`);
  const query = useQuery(reportsQuery);
  const mayEdit = mayWrite(useMe());
  const [isNew, setNew] = useState(false);
  const reports = useDeletion("report", [reportsQuery.queryKey]).remaining(query.data?.reports ?? [], ({ id }) => id);
  return (
    <div className="page">
      <Group justify="space-between" mb={4}>
        <Title order={1}>Reports</Title>
        {mayEdit && (
          <Button
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              setNew(true);
            }}
          >
            New report
          </Button>
        )}
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        What happened, with its evidence, for people who do not log in: one HTML file or a PDF.
      </Text>
      <ScrollCard label="Reports">
        {query.data === undefined ? (
          <PendingView query={query} what="Reports" />
        ) : reports.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: "No reports yet",
              next: mayEdit
                ? "Start one from a template, or choose Add to report on a graph or a comparison."
                : "Operators can start one.",
            }}
          />
        ) : (
          <ReportTable reports={reports} mayEdit={mayEdit} />
        )}
      </ScrollCard>
      {isNew && (
        <NewReport
          onClose={() => {
            setNew(false);
          }}
        />
      )}
    </div>
  );
}

function ReportTable({ reports, mayEdit }: { readonly reports: readonly ReportInfo[]; readonly mayEdit: boolean }) {
  const deletion = useDeletion("report", [reportsQuery.queryKey]);
  return (
    <Table aria-label="Reports">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Title</Table.Th>
          <Table.Th>Hosts</Table.Th>
          <Table.Th>Notes</Table.Th>
          <Table.Th>Last change</Table.Th>
          <Table.Th>By</Table.Th>
          <Table.Th>Export</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {reports.map((report) => (
          <Table.Tr key={report.id}>
            <Table.Td>
              <PageLink to="/reports/$report" params={{ report: String(report.id) }} search={{}}>
                {report.title}
              </PageLink>
            </Table.Td>
            <Table.Td>{report.hosts.join(", ")}</Table.Td>
            <Table.Td>{report.n_notes}</Table.Td>
            <Table.Td>{report.updated_at.slice(0, 16).replace("T", " ")} UTC</Table.Td>
            <Table.Td>{report.author}</Table.Td>
            <Table.Td>
              <Group gap={4} wrap="nowrap">
                <Button size="compact-xs" variant="default" component="a" href={reportExport(report.id, "html", true)} download>
                  HTML
                </Button>
                <Button
                  size="compact-xs"
                  variant="default"
                  component="a"
                  href={reportExport(report.id, "pdf")}
                  target="_blank"
                  rel="noreferrer"
                >
                  PDF
                </Button>
                {mayEdit && (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="red"
                    aria-label={`Delete ${report.title}`}
                    onClick={() => {
                      deletion.remove(report.id, `Deleted ${report.title}`, () =>
                        api.DELETE("/reports/{id}", { params: { path: { id: report.id } } }),
                      );
                    }}
                  >
                    <IconTrash size={14} />
                  </Button>
                )}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
