import { Group, Table, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { rulesQuery } from "../../api/watch";
import { mayWrite, useMe } from "../../components/me";
import { PageButton, PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView } from "../../components/StateView";
import { nameSubsystem } from "../../logic/host_status";
import { formatCount } from "../../logic/number";
import { describeRule } from "../../logic/watch";
import type { Clock } from "../../state/url";
import { DEFAULT_INCIDENTS_VIEW, encodeIncidentsView } from "../../state/incidents";
import { encodeClock } from "../../state/zone_choice";
import type { WatchRuleInfo } from "../../logic/api";
import { counted } from "../../logic/counted";
import "../../components/WatchTable.css";
import "./watch.css";

/** Rules are listed as they are read: their names are for files and links. */
function byTitle(rules: readonly WatchRuleInfo[]): readonly WatchRuleInfo[] {
  return [...rules].sort((a, b) => a.title.localeCompare(b.title));
}

/** All rules: what each watches, on how many hosts, and how often it found something. */
export function RuleTable({ clock }: { readonly clock: Clock }) {
  const me = useMe();
  const rules = useQuery(rulesQuery);
  const search = encodeClock(clock);
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text fz="sm" className="soft" maw={760}>
          A rule says at which level something needs attention, and what to do then. Rules are evaluated on all samples as they
          arrive.
        </Text>
        {mayWrite(me) && (
          <PageButton variant="default" leftSection={<IconPlus size={14} />} to="/watch/new-rule" search={search}>
            New rule
          </PageButton>
        )}
      </Group>
      <ScrollCard label="Rules">
        {rules.data === undefined ? (
          <PendingView query={rules} what="the rules" />
        ) : (
          <Table aria-label="Rules" className="watch-table watch-rules">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Rule</Table.Th>
                <Table.Th>Subsystem</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th className="number">Hosts</Table.Th>
                <Table.Th className="number">Active</Table.Th>
                <Table.Th className="number">Last 7 days</Table.Th>
                <Table.Th>Made by</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {byTitle(rules.data.rules).map((rule) => (
                <Table.Tr key={rule.name}>
                  <Table.Td>
                    <PageLink to="/watch/rules/$rule" params={{ rule: rule.name }} search={search} fw={600}>
                      {rule.title}
                    </PageLink>
                  </Table.Td>
                  <Table.Td>{nameSubsystem(rule.subsystem)}</Table.Td>
                  <Table.Td className="watch-rule-state">{describeRule(rule)}</Table.Td>
                  <Table.Td className="number">
                    {rule.subsystem === "normstat" ? "–" : formatCount(rule.n_hosts)}
                    {rule.n_lacking > 0 && (
                      <Text fz="xs" className="soft">
                        {`${counted(rule.n_lacking, "host")} ${rule.n_lacking === 1 ? "lacks" : "lack"} its inputs`}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td className="number">{formatCount(rule.n_on)}</Table.Td>
                  <Table.Td className="number">
                    {rule.n_week === 0 ? (
                      formatCount(rule.n_week)
                    ) : (
                      <PageLink
                        to="/incidents"
                        search={encodeIncidentsView({ ...DEFAULT_INCIDENTS_VIEW, clock, show: "alert", rule: rule.name })}
                      >
                        {formatCount(rule.n_week)}
                      </PageLink>
                    )}
                  </Table.Td>
                  <Table.Td>{rule.is_builtin ? "built in" : rule.updated_by}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
    </>
  );
}
