import { ActionIcon, Button, Group } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { replaced } from "../../logic/alert";

interface EditedRowsProps<R> {
  readonly rows: readonly R[];
  /** Return what the row of a number, from 1 on, is called. */
  readonly nameOf: (no: string) => string;
  readonly removeNameOf: (no: string) => string;
  readonly addLabel: string;
  readonly newRow: () => R;
  readonly onChange: (rows: R[]) => void;
  /** The fields of a row. */
  readonly children: (row: R, change: (part: Partial<R>) => void) => ReactNode;
}

/** Rows of fields in a form; each can be removed, and one more added. */
export function EditedRows<R>({ rows, nameOf, removeNameOf, addLabel, newRow, onChange, children }: EditedRowsProps<R>) {
  return (
    <>
      {rows.map((row, at) => (
        <Group key={at} gap="xs" align="flex-end" role="group" aria-label={nameOf(String(at + 1))}>
          {children(row, (part) => {
            onChange(replaced(rows, at, { ...row, ...part }));
          })}
          <ActionIcon
            mb={4}
            aria-label={removeNameOf(String(at + 1))}
            onClick={() => {
              onChange(rows.filter((_, place) => place !== at));
            }}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={13} />}
          onClick={() => {
            onChange([...rows, newRow()]);
          }}
        >
          {addLabel}
        </Button>
      </div>
    </>
  );
}
