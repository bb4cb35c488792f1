import { Modal, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { healthOfBaselineQuery, versionsQuery } from "../../api/baselines";
import { Instant } from "../../components/Instant";
import { PendingView } from "../../components/StateView";
import type { BaselineInfo, HostHealth, VersionInfo } from "../../logic/api";
import { HEALTH_WORDS, abbreviateNames, worstHealth } from "../../logic/baseline";
import { toWindow } from "../../logic/comparison";
import { formatCount, formatShare } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { formatWindow, type Zone } from "../../logic/zone";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

/** The health of a baseline as a word; opens the details. */
export function HealthBadge({ baseline, onOpen }: { readonly baseline: BaselineInfo; readonly onOpen: () => void }) {
  const health = useQuery(healthOfBaselineQuery(baseline.id, baseline.version));
  const state = health.data ? worstHealth(health.data) : null;
  const word =
    state === null ? (health.isPending ? "checking …" : "unknown") : `${HEALTH_WORDS[state].sign} ${HEALTH_WORDS[state].label}`;
  return (
    <button
      type="button"
      className="health"
      data-state={state ?? "unknown"}
      aria-label={`${word}: health and versions of ${baseline.name}`}
      onClick={onOpen}
    >
      {word}
    </button>
  );
}

interface HealthDialogProps {
  readonly baseline: BaselineInfo;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Coverage, age, new and missing instances, and all versions of a baseline. */
export function HealthDialog({ baseline, zone, onClose }: HealthDialogProps) {
  const health = useQuery(healthOfBaselineQuery(baseline.id, baseline.version));
  const versions = useQuery(versionsQuery(baseline.id, baseline.version));
  const error = health.error ?? versions.error;
  return (
    <Modal opened onClose={onClose} title={`${baseline.name}: health and versions`} size="xl">
      {health.data === undefined || versions.data === undefined ? (
        <PendingView query={{ error, refetch: () => Promise.all([health.refetch(), versions.refetch()]) }} what="its samples" />
      ) : (
        <>
          {health.data.hosts.map((host) => (
            <HostPart key={host.host} health={host} zone={zone} />
          ))}
          <Title order={3} mt="md" mb={4}>
            Versions
          </Title>
          <Versions versions={versions.data.versions} zone={zone} />
        </>
      )}
    </Modal>
  );
}

function HostPart({ health, zone }: { readonly health: HostHealth; readonly zone: Zone }) {
  const { sign, label } = HEALTH_WORDS[health.state];
  return (
    <section aria-label={`Health on ${health.host}`}>
      <Title order={3} mt="xs">
        {health.host}{" "}
        <span className="health-word" data-state={health.state}>
          {sign} {label}
        </span>
      </Title>
      <Text fz="sm">
        {`${counted(health.n_samples, "sample")}, ${formatShare(health.coverage)} of the windows covered`}
        {health.newest_at !== null && <>{nodes`, the newest ${<Instant at={fromApi(health.newest_at)} zone={zone} />}`}</>}
      </Text>
      {health.reasons.map((reason) => (
        <Text key={reason} fz="sm" c="var(--warn)">
          {reason}
        </Text>
      ))}
      <Table aria-label={`Stats of ${health.host}`} verticalSpacing={2}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Stat</Table.Th>
            <Table.Th className="number">Samples</Table.Th>
            <Table.Th className="number">Covered</Table.Th>
            <Table.Th>Disappeared since</Table.Th>
            <Table.Th>Appeared since</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {health.stats.map((stat) => (
            <Table.Tr key={stat.stat}>
              <Table.Td>{stat.stat}</Table.Td>
              <Table.Td className="number">
                {stat.is_estimate && "about "}
                {formatCount(stat.n_samples)}
              </Table.Td>
              <Table.Td className="number">{formatShare(stat.coverage)}</Table.Td>
              <Table.Td>{abbreviateNames(stat.instances_gone, stat.n_instances_gone)}</Table.Td>
              <Table.Td>{abbreviateNames(stat.instances_new, stat.n_instances_new)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

const MAX_WINDOWS = 3;

function Versions({ versions, zone }: { readonly versions: readonly VersionInfo[]; readonly zone: Zone }) {
  return (
    <Table aria-label="Versions" verticalSpacing={2}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className="number">Version</Table.Th>
          <Table.Th>Reason</Table.Th>
          <Table.Th>By</Table.Th>
          <Table.Th>Created</Table.Th>
          <Table.Th>Hosts</Table.Th>
          <Table.Th>Windows</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {versions.map((version) => (
          <Table.Tr key={version.version}>
            <Table.Td className="number">{version.version}</Table.Td>
            <Table.Td>{version.reason}</Table.Td>
            <Table.Td>{version.made_by}</Table.Td>
            <Table.Td>
              <Instant at={fromApi(version.made_at)} zone={zone} />
            </Table.Td>
            <Table.Td>{version.hosts.join(", ")}</Table.Td>
            <Table.Td>
              {abbreviateNames(
                version.windows.map((window) => formatWindow(zone, toWindow(window))),
                version.windows.length,
                MAX_WINDOWS,
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
