import { Table } from "@mantine/core";
import { ScrollCard } from "../../components/ScrollCard";
import type { FieldInfo, StatInfo } from "../../logic/api";
import { KIND_HELP } from "../../logic/specs";

const WORSE: Readonly<Record<FieldInfo["worse"], string>> = { higher: "higher", lower: "lower", neither: "–" };

/** The fields of a stat with their documentation. */
export function FieldTable({ stat }: { readonly stat: StatInfo }) {
  return (
    <ScrollCard label={`Fields of ${stat.name}`}>
      <Table aria-label={`Fields of ${stat.name}`} verticalSpacing={3}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column</Table.Th>
            <Table.Th>Key</Table.Th>
            <Table.Th>Unit</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>Worse is</Table.Th>
            <Table.Th>Help</Table.Th>
            <Table.Th>Source</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {stat.fields.map((field) => (
            <Table.Tr key={field.key}>
              <Table.Td className="mono" style={{ whiteSpace: "nowrap" }}>
                {field.group !== "" && <span className="soft">{field.group} </span>}
                {field.column}
              </Table.Td>
              <Table.Td className="mono">{field.key}</Table.Td>
              <Table.Td>{field.unit}</Table.Td>
              <Table.Td title={KIND_HELP[field.kind]}>{field.kind}</Table.Td>
              <Table.Td>{WORSE[field.worse]}</Table.Td>
              <Table.Td>
                {field.is_documented
                  ? field.help
                  : "Hosts sent this column, but it is not in the spec. Its values are stored as printed."}
              </Table.Td>
              <Table.Td className="soft">{field.source}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}
