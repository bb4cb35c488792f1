import { ActionIcon, Popover, Table, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import type { FieldInfo, StatInfo } from "../logic/api";
import "./FieldHelp.css";

const WORSE: Readonly<Record<FieldInfo["worse"], string>> = {
  higher: "higher is worse",
  lower: "lower is worse",
  neither: "neither direction is worse",
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
      <Text fz="sm">
        {field.is_documented
          ? field.help
          : "This column is not in the spec yet. Its values are stored as printed; its meaning is unknown."}
      </Text>
      <Text fz="xs" className="soft">
        {field.unit === "" ? "no unit" : field.unit} · {field.kind} · {WORSE[field.worse]}
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
        <ActionIcon size="sm" aria-label="What these fields mean">
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
              <Table.Td className="soft">stat</Table.Td>
              <Table.Td className="mono">{stat.name}</Table.Td>
            </Table.Tr>
            <Table.Tr>
              <Table.Td className="soft">command</Table.Td>
              <Table.Td className="mono">{stat.commands.join(" or ")}</Table.Td>
            </Table.Tr>
          </Table.Tbody>
        </Table>
      </Popover.Dropdown>
    </Popover>
  );
}
