import { TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { FormDialog } from "./FormDialog";
import { nodes } from "./nodes";

interface TypedConfirmDialogProps {
  readonly title: string;
  /** What will be deleted. */
  readonly children: ReactNode;
  /** The word to type before the button is enabled. */
  readonly word: string;
  readonly action: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks the user to type a word before something is deleted that cannot be restored. */
export function TypedConfirmDialog(props: TypedConfirmDialogProps) {
  const { title, children, word, action, isPending, error, onConfirm, onClose } = props;
  const form = useForm({ initialValues: { word: "" } });
  return (
    <FormDialog
      title={title}
      size="lg"
      action={action}
      isDangerous
      isReady={form.values.word.trim() === word}
      isPending={isPending}
      error={error}
      onSubmit={onConfirm}
      onClose={onClose}
    >
      {children}
      <TextInput
        label={<>{nodes`Type ${<b className="mono">{word}</b>} to confirm`}</>}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("word")}
      />
    </FormDialog>
  );
}
