import { api } from "../../api/client";
import { Button, Code, Group, Paper, Stack, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ruleQuery } from "../../api/watch";
import { ColourBadge } from "../../components/ColourBadge";
import { DeleteButton } from "../../components/DeleteButton";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageButton, PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { RuleDetail, RuleReading } from "../../logic/api";
import { fromApi } from "../../logic/time";
import { colourAt, describeRule, describeSeconds, toColour, worstHostsFirst } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";
import { DEFAULT_INCIDENTS_VIEW, encodeIncidentsView } from "../../state/incidents";
import { clockOf, encodeClock } from "../../state/zone_choice";
import { counted } from "../../logic/counted";
import { BacktestPanel } from "./BacktestPanel";
import { RuleLimits } from "./RuleLimits";
import "../../components/WatchTable.css";
import "./watch.css";

const MAX_SOURCES = 3;

/** A rule: its text explained, what it is doing, its limits, hosts and history, and how to try it. */
export function RulePage() {
  const { rule } = useParams({ from: "/shell/watch/rules/$rule" });
  useDocumentTitle(`${rule} · normstat`);
  const clock = clockOf(useSearch({ strict: false }));
  const zone = useZone(clock);
  const detail = useQuery(ruleQuery(rule));
  if (detail.data === undefined) {
    return (
      <div className="page">
        <PendingView query={detail} what="the rule" />
      </div>
    );
  }
  const { info, text, toml } = detail.data;
  // What normstat knows without samples has no past to be tried on.
  const isOfSamples = text === null || text.inputs.some(({ sources }) => sources.length > 0);
  return (
    <div className="page page-narrow">
      <Stack gap="md">
        <div>
          <PageLink to="/rules" search={encodeClock(clock)} fz="sm">
            Rules
          </PageLink>
          <Group justify="space-between" align="flex-start">
            <div>
              <Title order={1}>{info.title}</Title>
              <Text fz="sm" className="soft">
                {`${info.name}, version ${String(info.version)}`} · {describeRule(info)} ·{" "}
                <PageLink
                  to="/incidents"
                  search={encodeIncidentsView({ ...DEFAULT_INCIDENTS_VIEW, clock, show: "alert", rule: info.name })}
                  fz="inherit"
                >
                  {`${counted(info.n_week, "episode")} in the last 7 days`}
                </PageLink>
              </Text>
            </div>
            <RuleButtons detail={detail.data} clock={clock} />
          </Group>
        </div>
        {text !== null && <Explanation text={text} />}
        {isOfSamples && <BacktestPanel toml={toml} rule={info.name} zone={zone} />}
        {text !== null && text.limits.length > 0 && <RuleLimits detail={detail.data} limits={text.limits} />}
        {isOfSamples && <RuleHosts detail={detail.data} zone={zone} />}
        <RuleHistory detail={detail.data} zone={zone} />
        <Paper className="card" p="md">
          <Title order={2} fz="md" mb="xs">
            Text
          </Title>
          <pre className="mono watch-toml" tabIndex={0} aria-label="Text">
            {toml}
          </pre>
        </Paper>
      </Stack>
    </div>
  );
}

function RuleButtons({ detail, clock }: { readonly detail: RuleDetail; readonly clock: Clock }) {
  const { info, has_backtest } = detail;
  const me = useMe();
  const client = useQueryClient();
  const navigate = useNavigate();
  const onSuccess = () => client.invalidateQueries({ queryKey: ["watch"] });
  const enabling = useMutation({
    mutationFn: (isEnabled: boolean) =>
      api.PUT("/rules/{rule}/enabled", { body: { is_enabled: isEnabled }, params: { path: { rule: info.name } } }),
    onSuccess,
  });
  if (!mayWrite(me)) {
    return null;
  }
  const isOn = info.is_enabled && info.stopped_why === "";
  const mayEnable = info.is_builtin || has_backtest;
  return (
    <div>
      <Group gap="xs" justify="flex-end">
        <Button
          variant={isOn ? "default" : "filled"}
          loading={enabling.isPending}
          disabled={!isOn && !mayEnable}
          onClick={() => {
            enabling.mutate(!isOn);
          }}
        >
          {isOn ? "Disable" : "Enable"}
        </Button>
        <PageButton variant="default" to="/watch/rules/$rule/edit" params={{ rule: info.name }} search={encodeClock(clock)}>
          {info.is_builtin ? "Copy and edit" : "Edit"}
        </PageButton>
        {!info.is_builtin && (
          <DeleteButton
            title="Delete the rule?"
            onDelete={() => api.DELETE("/rules/{rule}", { params: { path: { rule: info.name } } })}
            onDeleted={async () => {
              await navigate({ to: "/rules", search: {} });
              await onSuccess();
            }}
          >
            It is no longer evaluated. Its episodes and history are kept.
          </DeleteButton>
        )}
      </Group>
      {!isOn && !mayEnable && (
        <Text fz="sm" className="soft" mt={4}>
          Try it on the past first; then it can be enabled.
        </Text>
      )}
      <ErrorLine error={enabling.error} />
    </div>
  );
}

/** What a rule's text says, as tables. */
export function Explanation({ text }: { readonly text: RuleReading }) {
  return (
    <Paper className="card" p="md">
      <Text mb="xs">{text.about}</Text>
      <Text fz="sm" className="soft" mb="md">
        {`Source: ${text.source}.`} {`An episode ends after ${describeSeconds(text.ends_after_s)} without a bad state.`}
      </Text>
      <ScrollCard label="States">
        <Table aria-label="States" className="watch-table">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>State</Table.Th>
              <Table.Th>When</Table.Th>
              <Table.Th>What it means, and what to do</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {text.states.map((state) => (
              <Table.Tr key={`${state.colour} ${state.when ?? ""}`}>
                <Table.Td>
                  <ColourBadge colour={toColour(state.colour)} />
                </Table.Td>
                <Table.Td maw={380}>
                  {state.when === null ? "otherwise" : <Code style={{ overflowWrap: "anywhere" }}>{state.when}</Code>}
                </Table.Td>
                <Table.Td>
                  <Text fz="sm">{state.explanation}</Text>
                  <Text fz="sm" className="soft">
                    {state.action}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
      <Title order={2} fz="md" mt="md" mb="xs">
        Inputs
      </Title>
      <ScrollCard label="Inputs">
        <Table aria-label="Inputs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Input</Table.Th>
              <Table.Th>Unit</Table.Th>
              <Table.Th>Read from</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {text.inputs.map(({ name, unit, sources }) => (
              <Table.Tr key={name}>
                <Table.Td>
                  <Code>{name}</Code>
                </Table.Td>
                <Table.Td>{unit}</Table.Td>
                <Table.Td>
                  {sources.length === 0 && "known without samples"}
                  {sources.length > MAX_SOURCES
                    ? `${sources.slice(0, MAX_SOURCES).join(", ")} and ${String(sources.length - MAX_SOURCES)} more`
                    : sources.join(", ")}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </Paper>
  );
}

// More would bury what comes after them.
const MAX_HOSTS = 15;

function RuleHosts({ detail, zone }: { readonly detail: RuleDetail; readonly zone: Zone }) {
  const [isAll, setAll] = useState(false);
  const clock = clockOf(useSearch({ strict: false }));
  const hosts = worstHostsFirst(detail.hosts);
  const shown = isAll ? hosts : hosts.slice(0, MAX_HOSTS);
  return (
    <Paper className="card" p="md">
      <Title order={2} fz="md" mb="xs">
        Hosts
      </Title>
      {detail.hosts.length === 0 ? (
        <StateView
          isCompact
          state={{
            kind: "empty",
            title: "It has not evaluated any host yet",
            next: "An enabled rule evaluates each host with recent samples within seconds.",
          }}
        />
      ) : (
        <ScrollCard label="Hosts">
          <Table aria-label="Hosts">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Host</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Evaluated until</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map(({ host, until, colour, lacks }) => (
                <Table.Tr key={host}>
                  <Table.Td>
                    <PageLink to="/hosts/$host" params={{ host }} search={encodeClock(clock)}>
                      {host}
                    </PageLink>
                  </Table.Td>
                  <Table.Td>{lacks === null ? <ColourBadge colour={colourAt(colour)} /> : `does not send ${lacks}`}</Table.Td>
                  <Table.Td>{until !== null && <Instant at={fromApi(until)} zone={zone} />}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollCard>
      )}
      {hosts.length > MAX_HOSTS && (
        <Button
          mt="xs"
          size="compact-sm"
          variant="default"
          onClick={() => {
            setAll(!isAll);
          }}
        >
          {isAll ? "Show fewer" : `Show all ${counted(hosts.length, "host")}`}
        </Button>
      )}
    </Paper>
  );
}

function RuleHistory({ detail, zone }: { readonly detail: RuleDetail; readonly zone: Zone }) {
  return (
    <Paper className="card" p="md">
      <Title order={2} fz="md" mb="xs">
        Changes
      </Title>
      {detail.changes.length === 0 ? (
        <Text fz="sm" className="soft">
          Unchanged since installation.
        </Text>
      ) : (
        <Table aria-label="Changes">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>At</Table.Th>
              <Table.Th className="number">Version</Table.Th>
              <Table.Th>Change</Table.Th>
              <Table.Th>By</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {detail.changes.map((change) => (
              <Table.Tr key={`${change.changed_at} ${change.change}`}>
                <Table.Td>
                  <Instant at={fromApi(change.changed_at)} zone={zone} />
                </Table.Td>
                <Table.Td className="number">{change.version}</Table.Td>
                <Table.Td>{change.change}</Table.Td>
                <Table.Td>{change.changed_by}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Paper>
  );
}
