import { Textarea, type TextareaProps, TextInput, type TextInputProps } from "@mantine/core";

/** The name field, the first of its dialog. */
export function NameField(props: TextInputProps) {
  return <TextInput label="Name" required maxLength={200} data-autofocus {...props} />;
}

/** The note field; its limit is the server's. */
export function NoteField(props: TextareaProps) {
  return <Textarea label="Note" autosize minRows={2} maxLength={10_000} {...props} />;
}

/** Why something is done, on one line. */
export function ReasonField(props: TextInputProps) {
  return <TextInput label="Reason" maxLength={1000} {...props} />;
}
