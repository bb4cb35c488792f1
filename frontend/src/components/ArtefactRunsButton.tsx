import { Button } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useState } from "react";
import { ArtefactRunsDialog } from "./AddRunDialog";

/** The specs whose artefacts hold runs. */
const SPECS_WITH_RUNS: ReadonlySet<string> = new Set(["iozone", "iozone_patterns", "time"]);

interface ArtefactRunsButtonProps {
  readonly artefact: { readonly id: number; readonly spec: string };
}

/** Makes an experiment of an artefact, where it holds runs; else nothing. */
export function ArtefactRunsButton({ artefact }: ArtefactRunsButtonProps) {
  const [isOpen, setOpen] = useState(false);
  if (!SPECS_WITH_RUNS.has(artefact.spec)) {
    return null;
  }
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconFlask size={14} />}
        onClick={() => {
          setOpen(true);
        }}
      >
        Make an experiment of it…
      </Button>
      {isOpen && (
        <ArtefactRunsDialog
          artefact={artefact.id}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </>
  );
}
