import { TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
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
  const [typed, setTyped] = useState("");
  const isTyped = typed.trim() === word;
  return (
    <FormDialog
      title={title}
      size="lg"
      action={action}
      isDangerous
      isReady={isTyped}
      isPending={isPending}
      error={error}
      onSubmit={() => {
        onConfirm();
      }}
      onClose={onClose}
    >
      {children}
      <TextInput
        label={<>{nodes`Type ${<b className="mono">{word}</b>} to confirm`}</>}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
        }}
      />
    </FormDialog>
  );
}
