import { Select, Table, Text, TextInput } from "@mantine/core";
import { FIELD_KINDS, KIND_HELP, WORSE_CHOICES } from "../../logic/specs";
import { type FieldBlock, readFields, renameField, setFieldValue } from "../../logic/toml";

interface ColumnsTableProps {
  readonly toml: string;
  readonly onChange: (toml: string) => void;
}

/** The fields in a spec's text as an editable table; each edit changes the text. */
export function ColumnsTable({ toml, onChange }: ColumnsTableProps) {
  const fields = readFields(toml);
  if (fields.length === 0) {
    return (
      <Text fz="sm">The spec has no fields ([[stats.fields]]). Draft them from a sample, or write them on the Text tab.</Text>
    );
  }
  const hasStats = new Set(fields.map(({ stat }) => stat)).size > 1;
  return (
    <div className="scroll-card" role="region" aria-label="Columns" tabIndex={0}>
      <Table aria-label="Columns" verticalSpacing={3} highlightOnHover={false} miw={980}>
        <Table.Thead>
          <Table.Tr>
            {hasStats && <Table.Th>Stat</Table.Th>}
            <Table.Th>Printed as</Table.Th>
            <Table.Th>Key</Table.Th>
            <Table.Th>Unit</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>Direction</Table.Th>
            <Table.Th>Help</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fields.map((field) => (
            <ColumnRow
              key={field.index}
              field={field}
              hasStats={hasStats}
              onRename={(key) => {
                onChange(renameField(toml, field.index, key));
              }}
              onSet={(name, value) => {
                onChange(setFieldValue(toml, field.index, name, value));
              }}
            />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

interface ColumnRowProps {
  readonly field: FieldBlock;
  readonly hasStats: boolean;
  readonly onRename: (key: string) => void;
  readonly onSet: (name: string, value: string) => void;
}

function ColumnRow({ field, hasStats, onRename, onSet }: ColumnRowProps) {
  const { values } = field;
  const column = values["column"] ?? values["pattern"] ?? "";
  const kind = FIELD_KINDS.find((known) => known === values["kind"]) ?? null;
  return (
    <Table.Tr>
      {hasStats && <Table.Td className="mono">{field.stat}</Table.Td>}
      <Table.Td className="mono">{column}</Table.Td>
      <Table.Td>
        <TextInput
          size="xs"
          w={150}
          aria-label={`Key of ${column}`}
          classNames={{ input: "mono" }}
          value={values["key"] ?? ""}
          onChange={(event) => {
            onRename(event.currentTarget.value);
          }}
        />
      </Table.Td>
      <Table.Td>
        <TextInput
          size="xs"
          w={110}
          aria-label={`Unit of ${column}`}
          placeholder="none"
          value={values["unit"] ?? ""}
          onChange={(event) => {
            onSet("unit", event.currentTarget.value);
          }}
        />
      </Table.Td>
      <Table.Td>
        <Select
          size="xs"
          w={110}
          aria-label={`Kind of ${column}`}
          allowDeselect={false}
          data={[...FIELD_KINDS]}
          value={kind}
          {...(kind === null ? {} : { title: KIND_HELP[kind] })}
          onChange={(value) => {
            onSet("kind", value ?? "gauge");
          }}
        />
      </Table.Td>
      <Table.Td>
        <Select
          size="xs"
          w={150}
          aria-label={`Direction of ${column}`}
          allowDeselect={false}
          data={[...WORSE_CHOICES]}
          value={values["worse"] ?? null}
          onChange={(value) => {
            onSet("worse", value ?? "neither");
          }}
        />
      </Table.Td>
      <Table.Td>
        <TextInput
          size="xs"
          miw={240}
          aria-label={`Help of ${column}`}
          placeholder="one sentence that explains the field"
          value={values["help"] ?? ""}
          onChange={(event) => {
            onSet("help", event.currentTarget.value);
          }}
        />
      </Table.Td>
    </Table.Tr>
  );
}
