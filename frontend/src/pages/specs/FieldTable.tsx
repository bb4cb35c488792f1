import { Table } from "@mantine/core";
import { ScrollCard } from "../../components/ScrollCard";
import type { FieldInfo, StatInfo } from "../../logic/api";
import { KIND_HELP } from "../../logic/specs";
import { words } from "../../words";

const WORSE: Readonly<Record<FieldInfo["worse"], string>> = {
  higher: words.specs.fieldTable.higher,
  lower: words.specs.fieldTable.lower,
  neither: "–",
};

/** The fields of a stat with their documentation. */
export function FieldTable({ stat }: { readonly stat: StatInfo }) {
  return (
    <ScrollCard label={words.specs.fieldTable.fieldsOf(stat.name)}>
      <Table aria-label={words.specs.fieldTable.fieldsOf(stat.name)} verticalSpacing={3}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.specs.fieldTable.column}</Table.Th>
            <Table.Th>{words.common.key}</Table.Th>
            <Table.Th>{words.specs.fieldTable.unit}</Table.Th>
            <Table.Th>{words.common.kind}</Table.Th>
            <Table.Th>{words.specs.fieldTable.worseIs}</Table.Th>
            <Table.Th>{words.specs.fieldTable.help}</Table.Th>
            <Table.Th>{words.specs.fieldTable.source}</Table.Th>
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
              <Table.Td>{field.is_documented ? field.help : words.specs.fieldTable.hostsSentColumnBut}</Table.Td>
              <Table.Td className="soft">{field.source}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}
