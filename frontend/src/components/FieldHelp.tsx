import { ActionIcon, Popover, Table, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import type { FieldInfo, StatInfo } from "../logic/api";
import { words } from "../words";
import "./FieldHelp.css";

const WORSE: Readonly<Record<FieldInfo["worse"], string>> = {
  higher: words.components.fieldHelp.higherIsWorse,
  lower: words.components.fieldHelp.lowerIsWorse,
  neither: words.components.fieldHelp.neitherDirectionIsWorse,
};

/** Documentation of a field: meaning, unit, kind, direction, source. */
export function FieldCard({ field }: { readonly field: FieldInfo }) {
  return (
    <div className="field-card">
      <Text fz="sm" fw={600}>
        {field.group === "" ? field.column : `${field.group} ${field.column}`}{" "}
        <Text span fz="xs" className="soft mono">
          {field.key}
        </Text>
      </Text>
      <Text fz="sm">{field.is_documented ? field.help : words.components.fieldHelp.columnNotSpecYet}</Text>
      <Text fz="xs" className="soft">
        {field.unit === "" ? words.components.fieldHelp.noUnit : field.unit} · {field.kind} · {WORSE[field.worse]}
        {field.source !== "" && ` · ${field.source}`}
      </Text>
    </div>
  );
}

/** An (i) button that shows the documentation of a panel's fields. */
export function PanelHelp({ stat, fields }: { readonly stat: StatInfo; readonly fields: readonly FieldInfo[] }) {
  return (
    <Popover width={420} position="bottom-end" withArrow shadow="md" withinPortal>
      <Popover.Target>
        <ActionIcon size="sm" aria-label={words.components.fieldHelp.whatTheseFieldsMean}>
          <IconInfoCircle size={15} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown className="panel-help">
        {fields.map((field) => (
          <FieldCard key={field.key} field={field} />
        ))}
        <Table withRowBorders={false} verticalSpacing={1} highlightOnHover={false} mt={4}>
          <Table.Tbody>
            <Table.Tr>
              <Table.Td className="soft">{words.components.fieldHelp.stat}</Table.Td>
              <Table.Td className="mono">{stat.name}</Table.Td>
            </Table.Tr>
            <Table.Tr>
              <Table.Td className="soft">{words.components.fieldHelp.command}</Table.Td>
              <Table.Td className="mono">{stat.commands.join(" or ")}</Table.Td>
            </Table.Tr>
          </Table.Tbody>
        </Table>
      </Popover.Dropdown>
    </Popover>
  );
}
