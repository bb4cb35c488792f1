import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ErrorLine } from "./StateView";
import { words } from "../words";

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
    <Modal opened onClose={onClose} title={title} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isTyped) {
            onConfirm();
          }
        }}
      >
        <Stack gap="sm">
          {children}
          <TextInput
            label={<>{words.components.typedConfirmDialog.typeToConfirm(<b className="mono">{word}</b>)}</>}
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
            }}
          />
          <ErrorLine error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {words.common.cancel}
            </Button>
            <Button type="submit" color="red" loading={isPending} disabled={!isTyped}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
