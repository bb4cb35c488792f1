import { Button, Group, Text } from "@mantine/core";
import { IconFiles, IconFolder, IconUpload } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import type { ChosenFile } from "../api/uploads";
import { ErrorLine } from "./StateView";
import { filesOfDrop, filesOfList } from "./dropped";
import "./DropZone.css";

interface DropZoneProps {
  readonly onChoose: (files: readonly ChosenFile[]) => void;
}

/** The zone for dropping files and folders, with file choosers for the keyboard. */
export function DropZone({ onChoose }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);

  useEffect(() => {
    // A file dropped outside the zone must not replace the page.
    const keep = (event: DragEvent): void => {
      event.preventDefault();
    };
    document.addEventListener("dragover", keep);
    document.addEventListener("drop", keep);
    return () => {
      document.removeEventListener("dragover", keep);
      document.removeEventListener("drop", keep);
    };
  }, []);

  const take = async (transfer: DataTransfer): Promise<void> => {
    try {
      const files = await filesOfDrop(transfer);
      setProblem(files.length === 0 ? new Error("No files were dropped") : null);
      onChoose(files);
    } catch (error) {
      setProblem(new Error(`Cannot read the dropped files: ${error instanceof Error ? error.message : String(error)}`));
    }
  };

  return (
    <div
      className="drop-zone"
      data-over={isOver}
      role="group"
      aria-label="Files to load"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void take(event.dataTransfer);
      }}
    >
      <Group gap="sm" justify="center">
        <IconUpload size={20} aria-hidden />
        <Text fz="sm" fw={600}>
          {isOver ? "Release to choose the files" : "Drop files or folders here"}
        </Text>
        <Text fz="sm" className="soft">
          or
        </Text>
        <Chooser label="Choose files" isFolder={false} onChoose={onChoose} />
        <Chooser label="Choose a folder" isFolder onChoose={onChoose} />
      </Group>
      <Text fz="sm" className="soft" ta="center" mt={6}>
        Any tool&rsquo;s output, as text or packed (.gz, .bz2, .xz, .zst, .tar, .zip): also OSWatcher archives, sosreport,
        Explorer and GUDS folders, sa files, BatchLOAD files, bundles and specs. Loading a file twice changes nothing.
      </Text>
      <ErrorLine error={problem} />
    </div>
  );
}

interface ChooserProps extends DropZoneProps {
  readonly label: string;
  readonly isFolder: boolean;
}

function Chooser({ label, isFolder, onChoose }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={(node) => {
          input.current = node;
          if (isFolder) {
            node?.setAttribute("webkitdirectory", "");
          }
        }}
        type="file"
        multiple
        hidden
        aria-label={label}
        onChange={(event) => {
          onChoose(filesOfList(event.currentTarget.files ?? []));
          // Lets the same file be chosen again.
          event.currentTarget.value = "";
        }}
      />
      <Button
        variant="light"
        leftSection={isFolder ? <IconFolder size={15} aria-hidden /> : <IconFiles size={15} aria-hidden />}
        onClick={() => input.current?.click()}
      >
        {label}
      </Button>
    </>
  );
}
