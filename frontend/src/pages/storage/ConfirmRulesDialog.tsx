import { Text } from "@mantine/core";
import { TypedConfirmDialog } from "../../components/TypedConfirmDialog";
import { type Consequence, DELETED_LABELS, describeKept } from "../../logic/storage";
import { formatDate } from "../../logic/zone";
import { nodes } from "../../components/nodes";

interface ConfirmRulesDialogProps {
  readonly consequences: readonly Consequence[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Lists what new retention rules will delete, before they are saved. */
export function ConfirmRulesDialog({ consequences, isPending, error, onConfirm, onClose }: ConfirmRulesDialogProps) {
  const isRaw = consequences.some(({ what }) => what === "raw_bytes");
  const isSamples = consequences.some(({ what }) => what === "samples");
  return (
    <TypedConfirmDialog
      title="Delete old data automatically"
      word="delete"
      action="Save rules"
      isPending={isPending}
      error={error}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <Text fz="sm">From tonight on, this data will be deleted every night on all hosts, one more day each night:</Text>
      <ul className="consequences">
        {consequences.map(({ key, what, stat, before, keptUntilNow_days }) => (
          <li key={key}>
            {nodes`${DELETED_LABELS[what]} of ${stat === null ? "all stats without their own rule" : <b className="mono">{stat}</b>} before ${<b>{formatDate("UTC", before)}</b>} (UTC; currently kept ${describeKept(keptUntilNow_days)})`}
          </li>
        ))}
      </ul>
      {isSamples && (
        <Text fz="sm">
          Without samples, that period has no graphs, comparisons or exports, even if its raw bytes are still stored.
        </Text>
      )}
      {isRaw && (
        <Text fz="sm">Without raw bytes, tool output can no longer be viewed or reparsed, for example with a better spec.</Text>
      )}
      <Text fz="sm">Deleted data can only be restored from a backup.</Text>
    </TypedConfirmDialog>
  );
}
