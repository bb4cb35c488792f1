import { isNotEmpty } from "@mantine/form";
import { api } from "../../api/client";
import { comparisonParams, saveComparison } from "../../api/comparison";
import { FormDialog } from "../../components/FormDialog";
import { NameField, NoteField } from "../../components/NameAndNote";
import { useServerForm } from "../../components/useServerForm";
import type { ComparisonInputs } from "../../logic/against";
import type { SavedComparisonInfo } from "../../logic/api";

interface SaveDialogProps {
  /** The inputs of a comparison to save, or a saved one to rename. */
  readonly of: ComparisonInputs | SavedComparisonInfo;
  readonly suggested: string;
  readonly onClose: () => void;
  readonly onDone: (kept: SavedComparisonInfo) => void;
}

/** Saves a comparison with its result, a name and a note; it stays readable after samples and baselines are deleted. */
export function SaveDialog({ of, suggested, onClose, onDone }: SaveDialogProps) {
  const isSaved = "id" in of;
  const { form, submission } = useServerForm({
    initialValues: { name: isSaved ? of.name : suggested, note: isSaved ? of.note : "" },
    validate: { name: isNotEmpty("Enter a name") },
    send: (body) =>
      isSaved
        ? api.PATCH("/comparisons/{id}", { body, params: { path: { id: of.id } } })
        : saveComparison({ ...body, inputs: comparisonParams(of) }),
    renews: [["saved"]],
    onSaved: (saved) => {
      onDone(saved);
    },
  });
  return (
    <FormDialog {...submission} title={isSaved ? "Name and note" : "Save this comparison"} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <NoteField
        placeholder="What it was, and what was done about it; printed in the report"
        minRows={4}
        maxRows={14}
        {...form.getInputProps("note")}
      />
    </FormDialog>
  );
}
