import { Button, FileButton, Group, Input, NumberInput } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { uploadReportFile } from "../../api/reports";
import { ErrorLine } from "../../components/StateView";
import { toPercent } from "../../logic/note";
import type { FieldsProps } from "./NoteForm";

interface FileFieldProps extends FieldsProps<"image" | "file"> {
  readonly report: number;
}

/** Uploads the file of a note; an image also has its width. */
export function FileField({ report, note, form }: FileFieldProps) {
  const isImage = note.kind === "image";
  const sending = useMutation({
    mutationFn: (file: File) => uploadReportFile(report, file, isImage),
    onSuccess: (file) => {
      form.setFieldValue("note", { ...note, file: file.id, title: note.title ? note.title : file.name });
    },
  });
  return (
    <>
      <Group>
        <FileButton
          {...(isImage ? { accept: "image/png,image/jpeg,image/webp,image/svg+xml" } : {})}
          onChange={(file) => {
            if (file !== null) {
              sending.mutate(file);
            }
          }}
        >
          {(props) => (
            <Button {...props} variant="light" loading={sending.isPending} leftSection={<IconUpload size={14} />}>
              {isImage ? "Upload an image" : "Upload a file"}
            </Button>
          )}
        </FileButton>
        {note.file > 0 && <span className="soft">uploaded</span>}
        {isImage && (
          <NumberInput
            label="Width in %"
            w={160}
            min={10}
            max={100}
            step={10}
            {...form.getInputProps("note.share")}
            value={toPercent(note.share)}
            onChange={(share) => {
              form.setFieldValue("note", { ...note, share: Number(share) / 100 });
            }}
          />
        )}
      </Group>
      <Input.Error>{form.errors["note.file"]}</Input.Error>
      <ErrorLine error={sending.error} />
    </>
  );
}
