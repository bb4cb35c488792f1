import { Button, FileButton, Group, NumberInput } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { uploadReportFile } from "../../api/reports";
import { ErrorLine } from "../../components/StateView";
import type { NoteContent } from "../../logic/api";
import { toPercent } from "../../logic/note";

/** A note of one kind. */
export type NoteOf<K extends NoteContent["kind"]> = Extract<NoteContent, { kind: K }>;

interface FileFieldProps {
  readonly report: number;
  readonly note: NoteOf<"image" | "file">;
  readonly onChange: (note: NoteContent) => void;
}

/** Uploads the file of a note; an image also has its width. */
export function FileField({ report, note, onChange }: FileFieldProps) {
  const isImage = note.kind === "image";
  const sending = useMutation({
    mutationFn: (file: File) => uploadReportFile(report, file, isImage),
    onSuccess: (file) => {
      onChange({ ...note, file: file.id, title: note.title ? note.title : file.name });
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
            value={toPercent(note.share)}
            onChange={(share) => {
              onChange({ ...note, share: Number(share) / 100 });
            }}
          />
        )}
      </Group>
      <ErrorLine error={sending.error} />
    </>
  );
}
