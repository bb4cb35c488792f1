import { Badge, Group, Table, Text, Title, Tooltip } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconHistory, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { specsQuery } from "../../api/queries";
import { FilteredList } from "../../components/FilteredList";
import { FilterBox } from "../../components/ListFilters";
import { IgnoredNote } from "../../components/IgnoredNote";
import { isAdministrator, useMe } from "../../components/me";
import { PageButton, PageLink } from "../../components/PageLink";
import { ReparseButton } from "../../components/ReparseButton";
import type { SpecInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { filterSpecs, sortSpecs, systemName } from "../../logic/specs";
import { type Clock, decodeListView, encodeListView } from "../../state/url";
import { counted } from "../../logic/counted";

/** All specs: built-in ones and add-ons. */
export function SpecsPage() {
  useDocumentTitle("Specs · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeListView(search), [search]);
  const navigate = useNavigate();
  const me = useMe();
  const specs = useQuery(specsQuery);
  const all = specs.data?.specs ?? [];
  const shown = sortSpecs(filterSpecs(all, view.filter));
  const filterBy = (filter: string): void => {
    void navigate({ to: "/specs", search: encodeListView({ ...view, filter }), replace: true });
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb={4}>
        <Group gap="sm">
          <Title order={1}>Specs</Title>
          {specs.data && (
            <Text fz="sm" className="soft">
              {counted(all.length, "spec")}
              {shown.length < all.length && `, ${formatCount(shown.length)} shown`}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          <FilterBox label="Filter specs" placeholder="Filter by tool, system or stat" value={view.filter} onChange={filterBy} />
          {isAdministrator(me) && (
            <PageButton
              to="/specs/new"
              search={encodeListView({ clock: view.clock, filter: "" })}
              variant="light"
              leftSection={<IconPlus size={14} />}
            >
              New add-on
            </PageButton>
          )}
        </Group>
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        {isAdministrator(me)
          ? "A spec describes a tool's output format and what each column means. Your add-ons work like the built-in specs."
          : "A spec describes a tool's output format and what each column means. Administrators can add specs, which work like the built-in ones."}
      </Text>
      <FilteredList
        label="Specs"
        query={specs}
        n={shown.length}
        isFiltered={view.filter !== ""}
        words={view.filter}
        onAll={() => {
          filterBy("");
        }}
      >
        <SpecTable specs={shown} clock={view.clock} />
      </FilteredList>
    </div>
  );
}

function SpecTable({ specs, clock }: { readonly specs: readonly SpecInfo[]; readonly clock: Clock }) {
  const hasOutdated = specs.some(({ n_streams_outdated }) => n_streams_outdated > 0);
  return (
    <Table aria-label="Specs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Spec</Table.Th>
          <Table.Th>Title</Table.Th>
          <Table.Th>Tool</Table.Th>
          <Table.Th>System</Table.Th>
          <Table.Th>Stats</Table.Th>
          <Table.Th className="number">Version</Table.Th>
          <Table.Th className="number">Streams</Table.Th>
          {hasOutdated && <Table.Th>Outdated</Table.Th>}
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
                    add-on
                  </Badge>
                )}
                {spec.disabled_reason !== "" && (
                  <Tooltip label={spec.disabled_reason}>
                    <Badge variant="outline" color="red">
                      disabled
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
                <span style={{ whiteSpace: "nowrap" }}>{counted(spec.stats.length, "stat")}</span>
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
        {counted(spec.n_streams_outdated, "outdated stream")}
      </Badge>
      <ReparseButton request={{ spec: spec.name, is_outdated_only: true }} what={`outdated streams of ${spec.name}`} />
    </Group>
  );
}
