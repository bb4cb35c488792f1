import { Button, Group, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { installationQuery } from "../../api/installation";
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
import { words } from "../../words";
import "./installation.css";

const STATUS_WORDS: Readonly<Record<CheckStatus, string>> = {
  error: words.installation.error,
  warning: words.installation.warning,
  not_checked: words.installation.notChecked,
  ok: words.installation.ok,
};

/** What is wrong with the installation: all checks, the worst first. */
export function InstallationPage() {
  useDocumentTitle(words.installation.title);
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
          <Title order={1}>{words.installation.installation}</Title>
          {data && (
            <Text fz="sm" className="soft">
              {words.installation.checked(data.version, <Instant at={fromApi(data.checked_at)} zone={zone} />)}
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
            {words.installation.checkAgain}
          </Button>
        )}
      </Group>
      {!isAllowed ? (
        <StateView state={{ kind: "empty", title: words.installation.notYours, next: words.installation.notYoursNext }} />
      ) : data === undefined ? (
        <div className="card">
          <PendingView query={report} what={words.installation.theChecks} />
        </div>
      ) : (
        <>
          <Text fw={600} mb="xs" role="status">
            {sumUp(data)}
          </Text>
          <ScrollCard label={words.installation.checks}>
            <CheckTable checks={worstFirst(data.checks)} />
          </ScrollCard>
        </>
      )}
    </div>
  );
}

function sumUp(report: InstallationReport): string {
  const { error, warning, notChecked, ok } = words.installation.counts;
  const parts = [
    report.n_error > 0 ? error(report.n_error) : "",
    report.n_warning > 0 ? warning(report.n_warning) : "",
    report.n_not_checked > 0 ? notChecked(report.n_not_checked) : "",
    ok(report.n_ok),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function CheckTable({ checks }: { readonly checks: readonly InstallationCheck[] }) {
  return (
    <Table aria-label={words.installation.checks} className="installation-checks">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.common.state}</Table.Th>
          <Table.Th>{words.installation.check}</Table.Th>
          <Table.Th>{words.installation.found}</Table.Th>
          <Table.Th>{words.installation.expected}</Table.Th>
          <Table.Th>{words.installation.whatToDo}</Table.Th>
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
