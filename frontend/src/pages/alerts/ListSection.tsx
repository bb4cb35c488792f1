import { Button, Group, Table, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ScrollCard } from "../../components/ScrollCard";
import { type PendingState, StateView } from "../../components/StateView";

interface ListSectionProps {
  readonly title: string;
  /** Creates a new one; null for those who may not. */
  readonly add: { readonly label: string; readonly onAdd: () => void } | null;
  /** What is to be said about all of them. */
  readonly note?: ReactNode;
  /** What is shown instead of an empty table. */
  readonly empty: Extract<PendingState, { kind: "empty" }> | null;
  /** The heads of the columns. */
  readonly columns: readonly string[];
  /** The rows of the table. */
  readonly children: ReactNode;
}

/** A section of the tab: its title, the button for a new one, and the table. */
export function ListSection({ title, add, note, empty, columns, children }: ListSectionProps) {
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} fz="md">
          {title}
        </Title>
        {add !== null && (
          <Button variant="default" leftSection={<IconPlus size={14} />} onClick={add.onAdd}>
            {add.label}
          </Button>
        )}
      </Group>
      {note}
      <ScrollCard label={title}>
        {empty !== null ? (
          <StateView isCompact state={empty} />
        ) : (
          <Table aria-label={title} className="alerts-table">
            <Table.Thead>
              <Table.Tr>
                {columns.map((column) => (
                  <Table.Th key={column}>{column}</Table.Th>
                ))}
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>{children}</Table.Tbody>
          </Table>
        )}
      </ScrollCard>
    </section>
  );
}

interface SendingStateProps {
  /** Null when what is stored cannot be read. */
  readonly settings: object | null;
  readonly isEnabled: boolean;
}

/** Whether a channel or a route sends. */
export function SendingState({ settings, isEnabled }: SendingStateProps) {
  return settings === null ? (
    <span className="alerts-failed">cannot be read any more; save it again</span>
  ) : (
    <>{isEnabled ? "sends" : "off"}</>
  );
}
