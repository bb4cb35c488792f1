import { Button } from "@mantine/core";
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { DeleteButton } from "../../components/DeleteButton";

interface EditDeleteProps {
  readonly name: string;
  readonly deleteTitle: string;
  readonly deleteText: string;
  /** What is asked for again once it is deleted. */
  readonly queryKey?: QueryKey;
  readonly onEdit: () => void;
  readonly onDelete: () => Promise<unknown>;
}

/** The last two buttons of a row of channels, routes or webhooks. */
export function EditDelete({ name, deleteTitle, deleteText, queryKey = ["alerts"], onEdit, onDelete }: EditDeleteProps) {
  const client = useQueryClient();
  return (
    <>
      <Button size="compact-sm" variant="default" aria-label={`Edit ${name}`} onClick={onEdit}>
        Edit
      </Button>
      <DeleteButton
        size="compact-sm"
        label={`Delete ${name}`}
        title={deleteTitle}
        onDelete={onDelete}
        onDeleted={() => client.invalidateQueries({ queryKey })}
      >
        {deleteText}
      </DeleteButton>
    </>
  );
}
