import { Select, Table, Text, TextInput } from "@mantine/core";
import { FIELD_KINDS, KIND_HELP, WORSE_CHOICES } from "../../logic/specs";
import { type FieldBlock, readFields, renameField, setFieldValue } from "../../logic/toml";
import { words } from "../../words";

interface ColumnsTableProps {
  readonly toml: string;
  readonly onChange: (toml: string) => void;
}

/** The fields in a spec's text as an editable table; each edit changes the text. */
export function ColumnsTable({ toml, onChange }: ColumnsTableProps) {
  const fields = readFields(toml);
  if (fields.length === 0) {
    return <Text fz="sm">{words.specs.columnsTable.specHasNoFields}</Text>;
  }
  const hasStats = new Set(fields.map(({ stat }) => stat)).size > 1;
  return (
    <div className="scroll-card" role="region" aria-label={words.specs.columnsTable.columns} tabIndex={0}>
      <Table aria-label={words.specs.columnsTable.columns} verticalSpacing={3} highlightOnHover={false} miw={980}>
        <Table.Thead>
          <Table.Tr>
            {hasStats && <Table.Th>{words.common.stat}</Table.Th>}
            <Table.Th>{words.specs.columnsTable.printedAs}</Table.Th>
            <Table.Th>{words.common.key}</Table.Th>
            <Table.Th>{words.specs.columnsTable.unit}</Table.Th>
            <Table.Th>{words.common.kind}</Table.Th>
            <Table.Th>{words.specs.columnsTable.direction}</Table.Th>
            <Table.Th>{words.specs.columnsTable.help}</Table.Th>
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
          aria-label={words.specs.columnsTable.keyOf(column)}
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
          aria-label={words.specs.columnsTable.unitOf(column)}
          placeholder={words.common.none}
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
          aria-label={words.specs.columnsTable.kindOf(column)}
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
          aria-label={words.specs.columnsTable.directionOf(column)}
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
          aria-label={words.specs.columnsTable.helpOf(column)}
          placeholder={words.specs.columnsTable.oneSentenceExplainsField}
          value={values["help"] ?? ""}
          onChange={(event) => {
            onSet("help", event.currentTarget.value);
          }}
        />
      </Table.Td>
    </Table.Tr>
  );
}
