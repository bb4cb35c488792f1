import { Group, Table, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { rulesQuery } from "../../api/watch";
import { mayWrite, useMe } from "../../components/me";
import { PageButton, PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import { describeRule } from "../../logic/watch";
import type { Clock } from "../../state/url";
import { DEFAULT_WATCH_VIEW, encodeWatchView } from "../../state/watch";
import { encodeClock } from "../../state/zone_choice";
import { words } from "../../words";
import "../../components/WatchTable.css";
import "./watch.css";

/** All rules: what each watches, on how many hosts, and how often it found something. */
export function RuleTable({ clock }: { readonly clock: Clock }) {
  const me = useMe();
  const rules = useQuery(rulesQuery);
  const search = encodeClock(clock);
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text fz="sm" className="soft" maw={760}>
          {words.watch.rules.whatRulesAre}
        </Text>
        {mayWrite(me) && (
          <PageButton variant="default" leftSection={<IconPlus size={14} />} to="/watch/new-rule" search={search}>
            {words.watch.rules.newRule}
          </PageButton>
        )}
      </Group>
      <ScrollCard label={words.watch.watchPage.rules}>
        {rules.data === undefined ? (
          <PendingView query={rules} what={words.watch.rules.theRules} />
        ) : (
          <Table aria-label={words.watch.watchPage.rules} className="watch-table watch-rules">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.watch.watchPage.rule}</Table.Th>
                <Table.Th>{words.watch.rules.subsystem}</Table.Th>
                <Table.Th>{words.common.state}</Table.Th>
                <Table.Th className="number">{words.common.hosts}</Table.Th>
                <Table.Th className="number">{words.watch.watchPage.onNow}</Table.Th>
                <Table.Th className="number">{words.watch.rules.lastWeek}</Table.Th>
                <Table.Th>{words.watch.rules.madeBy}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rules.data.rules.map((rule) => (
                <Table.Tr key={rule.name}>
                  <Table.Td>
                    <PageLink to="/watch/rules/$rule" params={{ rule: rule.name }} search={search} fw={600}>
                      {rule.title}
                    </PageLink>
                  </Table.Td>
                  <Table.Td>{rule.subsystem}</Table.Td>
                  <Table.Td className="watch-rule-state">{describeRule(rule)}</Table.Td>
                  <Table.Td className="number">
                    {rule.subsystem === "normstat" ? "–" : formatCount(rule.n_hosts)}
                    {rule.n_lacking > 0 && (
                      <Text fz="xs" className="soft">
                        {words.watch.rules.lack(rule.n_lacking)}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td className="number">{formatCount(rule.n_on)}</Table.Td>
                  <Table.Td className="number">
                    {rule.n_week === 0 ? (
                      formatCount(rule.n_week)
                    ) : (
                      <PageLink
                        to="/watch"
                        search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "history", rule: rule.name })}
                      >
                        {formatCount(rule.n_week)}
                      </PageLink>
                    )}
                  </Table.Td>
                  <Table.Td>{rule.is_builtin ? words.watch.rules.builtIn : rule.updated_by}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
    </>
  );
}
