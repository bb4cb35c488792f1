import { Textarea, TextInput, type TextInputProps } from "@mantine/core";

interface NameFieldProps {
  readonly value: string;
  readonly placeholder?: string;
  readonly onChange: (value: string) => void;
}

/** The name field, the first of its dialog. */
export function NameField({ value, placeholder, onChange }: NameFieldProps) {
  return (
    <TextInput
      label="Name"
      placeholder={placeholder}
      required
      maxLength={200}
      data-autofocus
      value={value}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}

interface NoteFieldProps extends NameFieldProps {
  readonly minRows?: number;
  readonly maxRows?: number;
}

/** The note field; its limit is the server's. */
export function NoteField({ minRows = 2, onChange, ...rest }: NoteFieldProps) {
  return (
    <Textarea
      label="Note"
      autosize
      minRows={minRows}
      maxLength={10_000}
      {...rest}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}

/** Why something is done, on one line. */
export function ReasonField({ onChange, ...rest }: Pick<TextInputProps, "size" | "w" | "placeholder"> & NameFieldProps) {
  return (
    <TextInput
      label="Reason"
      maxLength={1000}
      {...rest}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}
