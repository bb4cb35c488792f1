import { api } from "../../api/client";
import { ActionIcon, Group, Progress, Table, Text, Title, Tooltip } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconHandStop, IconRefresh } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

import { jobsQuery } from "../../api/queries";
import { FilteredList } from "../../components/FilteredList";
import { FilterBox } from "../../components/ListFilters";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Instant } from "../../components/Instant";
import { JobState } from "../../components/JobState";
import { isAdministrator, mayWrite, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { Job } from "../../logic/api";
import { describeProgress, describeTarget, isActive, JOB_KINDS, JOB_WORDS, percentDone } from "../../logic/job";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { decodeListView, encodeListView } from "../../state/url";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

/** The background jobs of the server: queued, running and failed ones, with their errors. */
export function JobsPage() {
  useDocumentTitle("Jobs · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeListView(search), [search]);
  const navigate = useNavigate();
  const jobs = useQuery(jobsQuery);
  const all = jobs.data?.jobs ?? [];
  const shown = all.filter((job) => matches(job, view.filter));
  const nActive = all.filter(isActive).length;
  const zone = useZone(view.clock);
  const filterBy = (filter: string): void => {
    void navigate({ to: "/jobs", search: encodeListView({ ...view, filter }), replace: true });
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb={4}>
        <Group gap="sm">
          <Title order={1}>Jobs</Title>
          {jobs.data && (
            <Text fz="sm" className="soft">
              {nActive === 0 ? "none queued or running" : `${formatCount(nActive)} queued or running`}
              {shown.length < all.length && `, ${counted(shown.length, "job")} shown`}
            </Text>
          )}
        </Group>
        <FilterBox label="Filter jobs" placeholder="Filter by kind, target or state" value={view.filter} onChange={filterBy} />
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        Background work of the server: imports, reparses, profiles of baselines, rollups, packing of raw bytes, retention,
        deletions of hosts.
      </Text>
      <FilteredList
        label="Jobs"
        query={jobs}
        n={shown.length}
        isFiltered={view.filter !== ""}
        words={view.filter}
        onAll={() => {
          filterBy("");
        }}
        next="Jobs appear here when a file is imported, a baseline is saved, streams are reparsed, or a host is deleted. Rollups start a minute after the server."
      >
        <JobTable jobs={shown} zone={zone} />
      </FilteredList>
    </div>
  );
}

function matches(job: Job, filter: string): boolean {
  const text = [JOB_KINDS[job.kind], describeTarget(job), JOB_WORDS[job.state], job.message].join(" ").toLowerCase();
  return text.includes(filter.trim().toLowerCase());
}

function JobTable({ jobs, zone }: { readonly jobs: readonly Job[]; readonly zone: Zone }) {
  return (
    <Table aria-label="Jobs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th className="number">Job</Table.Th>
          <Table.Th>Kind</Table.Th>
          <Table.Th>Target</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>Progress</Table.Th>
          <Table.Th>Queued</Table.Th>
          <Table.Th>Started</Table.Th>
          <Table.Th>Ended</Table.Th>
          <Table.Th>By</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {jobs.map((job) => (
          <JobRow key={job.id} job={job} zone={zone} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function JobRow({ job, zone }: { readonly job: Job; readonly zone: Zone }) {
  const me = useMe();
  const mayChange = job.removes_data ? isAdministrator(me) : mayWrite(me);
  return (
    <Table.Tr>
      <Table.Td className="number">{job.id}</Table.Td>
      <Table.Td>{JOB_KINDS[job.kind]}</Table.Td>
      <Table.Td maw={320} style={{ overflowWrap: "anywhere" }}>
        {describeTarget(job)}
      </Table.Td>
      <Table.Td>
        <JobState state={job.state} />
      </Table.Td>
      <Table.Td maw={440}>
        <JobProgress job={job} zone={zone} />
      </Table.Td>
      <Table.Td>
        <Instant at={fromApi(job.queued_at)} zone={zone} />
      </Table.Td>
      <Table.Td>{job.started_at !== null && <Instant at={fromApi(job.started_at)} zone={zone} />}</Table.Td>
      <Table.Td>{job.finished_at !== null && <Instant at={fromApi(job.finished_at)} zone={zone} />}</Table.Td>
      <Table.Td>{job.asked_by}</Table.Td>
      <Table.Td>{mayChange && <JobActions job={job} />}</Table.Td>
    </Table.Tr>
  );
}

function JobProgress({ job, zone }: { readonly job: Job; readonly zone: Zone }) {
  const percent = percentDone(job);
  return (
    <>
      {job.state === "running" && percent !== null && (
        <Progress value={percent} aria-label={`Progress of job ${String(job.id)}`} style={{ maxWidth: 220 }} />
      )}
      <Text fz="sm">{describeProgress(job)}</Text>
      {job.message !== "" && (
        <Text fz="sm" style={{ overflowWrap: "anywhere" }} {...(job.state === "failed" ? { c: "var(--bad)" } : {})}>
          {job.message}
        </Text>
      )}
      {job.state === "failed" && job.next_try_at !== null && (
        <Text fz="sm" className="soft">
          {nodes`tried ${counted(job.n_tries, "time")}, again ${<Instant at={fromApi(job.next_try_at)} zone={zone} />}`}
        </Text>
      )}
    </>
  );
}

function JobActions({ job }: { readonly job: Job }) {
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries();
  const stopping = useMutation({
    mutationFn: () => api.POST("/jobs/{id}/stop", { params: { path: { id: job.id } } }),
    onSuccess,
  });
  const retrying = useMutation({
    mutationFn: () => api.POST("/jobs/{id}/retry", { params: { path: { id: job.id } } }),
    onSuccess,
  });
  return (
    <Group gap={4} wrap="nowrap">
      {job.is_stoppable && (
        <Tooltip label="Stop; completed work is kept">
          <ActionIcon
            aria-label={`Stop job ${String(job.id)}`}
            loading={stopping.isPending}
            onClick={() => {
              stopping.mutate();
            }}
          >
            <IconHandStop size={15} />
          </ActionIcon>
        </Tooltip>
      )}
      {job.is_retriable && (
        <Tooltip label="Try again now">
          <ActionIcon
            aria-label={`Retry job ${String(job.id)}`}
            loading={retrying.isPending}
            onClick={() => {
              retrying.mutate();
            }}
          >
            <IconRefresh size={15} />
          </ActionIcon>
        </Tooltip>
      )}
      <ErrorLine error={stopping.error ?? retrying.error} />
    </Group>
  );
}
