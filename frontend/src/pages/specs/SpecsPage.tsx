import { Badge, Group, Table, Text, TextInput, Title, Tooltip } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconHistory, IconPlus, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { specsQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { isAdministrator, useMe } from "../../components/me";
import { PageButton, PageLink } from "../../components/PageLink";
import { ReparseButton } from "../../components/ReparseButton";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { SpecInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { filterSpecs, sortSpecs, systemName } from "../../logic/specs";
import { type Clock, decodeListView, encodeListView } from "../../state/url";
import { words } from "../../words";

/** All specs: built-in ones and add-ons. */
export function SpecsPage() {
  useDocumentTitle(words.specs.specsPage.specsNormstat);
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeListView(search), [search]);
  const navigate = useNavigate();
  const me = useMe();
  const specs = useQuery(specsQuery);
  const all = specs.data?.specs ?? [];
  const shown = sortSpecs(filterSpecs(all, view.filter));
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb={4}>
        <Group gap="sm">
          <Title order={1}>{words.common.specs}</Title>
          {specs.data && (
            <Text fz="sm" className="soft">
              {words.specs.specsPage.nSpec(all.length)}
              {shown.length < all.length && words.specs.specsPage.shown(formatCount(shown.length))}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          <TextInput
            size="xs"
            w={260}
            aria-label={words.specs.specsPage.filterSpecs}
            placeholder={words.specs.specsPage.filterToolSystemStat}
            leftSection={<IconSearch size={14} />}
            value={view.filter}
            onChange={(event) => {
              void navigate({
                to: "/specs",
                search: encodeListView({ ...view, filter: event.currentTarget.value }),
                replace: true,
              });
            }}
          />
          {isAdministrator(me) && (
            <PageButton
              to="/specs/new"
              search={encodeListView({ clock: view.clock, filter: "" })}
              variant="light"
              leftSection={<IconPlus size={14} />}
            >
              {words.specs.specsPage.newAddOn}
            </PageButton>
          )}
        </Group>
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        {isAdministrator(me) ? words.specs.specsPage.yourAddOnsWork : words.specs.specsPage.administratorsCanAddSpecs}
      </Text>
      <ScrollCard label={words.common.specs}>
        {specs.data === undefined ? (
          <PendingView query={specs} what={words.specs.specsPage.specs} />
        ) : shown.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: words.specs.specsPage.noSpecsMatch(view.filter),
              next: isAdministrator(me) ? words.specs.specsPage.clearFilterSeeAll : words.specs.specsPage.clearFilterSeeAllSpecs,
            }}
          />
        ) : (
          <SpecTable specs={shown} clock={view.clock} />
        )}
      </ScrollCard>
    </div>
  );
}

function SpecTable({ specs, clock }: { readonly specs: readonly SpecInfo[]; readonly clock: Clock }) {
  const hasOutdated = specs.some(({ n_streams_outdated }) => n_streams_outdated > 0);
  return (
    <Table aria-label={words.common.specs}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.common.spec}</Table.Th>
          <Table.Th>{words.specs.specsPage.title}</Table.Th>
          <Table.Th>{words.specs.specsPage.tool}</Table.Th>
          <Table.Th>{words.common.system}</Table.Th>
          <Table.Th>{words.specs.specsPage.stats}</Table.Th>
          <Table.Th className="number">{words.common.version}</Table.Th>
          <Table.Th className="number">{words.common.streams}</Table.Th>
          {hasOutdated && <Table.Th>{words.specs.specsPage.outdated}</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {specs.map((spec) => (
          <Table.Tr key={spec.name}>
            <Table.Td>
              <Group gap={6} wrap="nowrap">
                <PageLink to="/specs/$spec" params={{ spec: spec.name }} search={encodeListView({ clock, filter: "" })} fw={600}>
                  {spec.name}
                </PageLink>
                {!spec.is_builtin && (
                  <Badge variant="outline" color="blue" c="var(--baseline)">
                    {words.specs.specsPage.addOn}
                  </Badge>
                )}
                {spec.disabled_reason !== "" && (
                  <Tooltip label={spec.disabled_reason}>
                    <Badge variant="outline" color="red">
                      {words.specs.specsPage.disabled}
                    </Badge>
                  </Tooltip>
                )}
              </Group>
            </Table.Td>
            <Table.Td miw={240}>{spec.title}</Table.Td>
            <Table.Td className="mono">{spec.tool}</Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>{systemName(spec.os)}</Table.Td>
            <Table.Td>
              <Tooltip label={spec.stats.join(", ")}>
                <span style={{ whiteSpace: "nowrap" }}>{words.specs.specsPage.nStat(spec.stats.length)}</span>
              </Tooltip>
            </Table.Td>
            <Table.Td className="number">{spec.version}</Table.Td>
            <Table.Td className="number">{formatCount(spec.n_streams)}</Table.Td>
            {hasOutdated && <Table.Td>{spec.n_streams_outdated > 0 && <Outdated spec={spec} />}</Table.Td>}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The number of streams parsed with another version of the spec, with a button to reparse them. */
export function Outdated({ spec }: { readonly spec: SpecInfo }) {
  return (
    <Group gap="xs">
      <Badge color="yellow" variant="outline" c="var(--warn)" leftSection={<IconHistory size={12} aria-hidden />}>
        {words.specs.specsPage.nOutdatedStream(spec.n_streams_outdated)}
      </Badge>
      <ReparseButton
        request={{ spec: spec.name, is_outdated_only: true }}
        what={words.specs.specsPage.outdatedStreamsOf(spec.name)}
      />
    </Group>
  );
}
