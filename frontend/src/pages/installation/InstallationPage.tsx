import { Button, Group, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { installationQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Instant } from "../../components/Instant";
import { isAdministrator, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { InstallationCheck, InstallationReport } from "../../logic/api";
import { type CheckStatus, worstFirst } from "../../logic/installation";
import { fromApi } from "../../logic/time";
import { decodeListView } from "../../state/url";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import "./installation.css";

const STATUS_WORDS: Readonly<Record<CheckStatus, string>> = {
  error: "error",
  warning: "warning",
  not_checked: "not checked",
  ok: "ok",
};

/** What is wrong with the installation: all checks, the worst first. */
export function InstallationPage() {
  useDocumentTitle("Installation · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeListView(search), [search]);
  const isAllowed = isAdministrator(useMe());
  const report = useQuery({ ...installationQuery, enabled: isAllowed });
  const zone = useZone(view.clock);
  const { data } = report;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb="sm">
        <Group gap="sm" align="baseline">
          <Title order={1}>Installation</Title>
          {data && (
            <Text fz="sm" className="soft">
              {nodes`normstat ${data.version}, checked ${<Instant at={fromApi(data.checked_at)} zone={zone} />}`}
            </Text>
          )}
        </Group>
        {isAllowed && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={14} />}
            loading={report.isFetching}
            onClick={() => {
              void report.refetch();
            }}
          >
            Check again
          </Button>
        )}
      </Group>
      {!isAllowed ? (
        <StateView
          state={{
            kind: "empty",
            title: "For administrators",
            next: "These checks show settings and addresses of the server. An administrator sees them here, and normstat doctor prints them.",
          }}
        />
      ) : data === undefined ? (
        <div className="card">
          <PendingView query={report} what="the checks (some seconds)" />
        </div>
      ) : (
        <>
          <Text fw={600} mb="xs" role="status">
            {sumUp(data)}
          </Text>
          <ScrollCard label="Checks of the installation">
            <CheckTable checks={worstFirst(data.checks)} />
          </ScrollCard>
        </>
      )}
    </div>
  );
}

function sumUp(report: InstallationReport): string {
  const parts = [
    report.n_error > 0 ? counted(report.n_error, "error") : "",
    report.n_warning > 0 ? counted(report.n_warning, "warning") : "",
    report.n_not_checked > 0 ? `${String(report.n_not_checked)} not checked` : "",
    `${String(report.n_ok)} ok`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function CheckTable({ checks }: { readonly checks: readonly InstallationCheck[] }) {
  return (
    <Table aria-label="Checks of the installation" className="installation-checks">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>State</Table.Th>
          <Table.Th>Check</Table.Th>
          <Table.Th>Found</Table.Th>
          <Table.Th>Expected</Table.Th>
          <Table.Th>What to do</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {checks.map((check) => (
          <Table.Tr key={check.check}>
            <Table.Td className="installation-status" data-status={check.status}>
              {STATUS_WORDS[check.status]}
            </Table.Td>
            <Table.Td>
              <code>{check.check}</code>
            </Table.Td>
            <Table.Td>{check.found}</Table.Td>
            <Table.Td>{check.expected}</Table.Td>
            <Table.Td>{check.advice}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
