import { ActionIcon, Button, Group } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";

interface EditedRowsProps {
  /** How many rows there are. */
  readonly n: number;
  /** What a row is: `escalation`. */
  readonly what: string;
  readonly addLabel: string;
  readonly onAdd: () => void;
  readonly onRemove: (at: number) => void;
  /** The fields of a row. */
  readonly children: (at: number) => ReactNode;
}

/** Rows of fields in a form; each can be removed, and one more added. */
export function EditedRows({ n, what, addLabel, onAdd, onRemove, children }: EditedRowsProps) {
  return (
    <>
      {[...Array(n).keys()].map((at) => (
        <Group
          key={at}
          gap="xs"
          align="flex-end"
          role="group"
          aria-label={`${what.charAt(0).toUpperCase()}${what.slice(1)} ${String(at + 1)}`}
        >
          {children(at)}
          <ActionIcon
            mb={4}
            aria-label={`Remove ${what} ${String(at + 1)}`}
            onClick={() => {
              onRemove(at);
            }}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button size="compact-sm" variant="default" leftSection={<IconPlus size={13} />} onClick={onAdd}>
          {addLabel}
        </Button>
      </div>
    </>
  );
}
