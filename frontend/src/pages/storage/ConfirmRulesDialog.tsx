import { Text } from "@mantine/core";
import { TypedConfirmDialog } from "../../components/TypedConfirmDialog";
import { type Consequence, DELETED_LABELS, describeKept } from "../../logic/storage";
import { formatDate } from "../../logic/zone";
import { words } from "../../words";

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
      title={words.storage.confirmRulesDialog.deleteOldDataAutomatically}
      word={words.storage.confirmRulesDialog.delete}
      action={words.storage.confirmRulesDialog.saveRules}
      isPending={isPending}
      error={error}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <Text fz="sm">{words.storage.confirmRulesDialog.tonightDataWillDeleted}</Text>
      <ul className="consequences">
        {consequences.map(({ key, what, stat, before, keptUntilNow_days }) => (
          <li key={key}>
            {words.storage.confirmRulesDialog.beforeUtcCurrentlyKept(
              DELETED_LABELS[what],
              stat === null ? words.storage.confirmRulesDialog.allStatsWithoutTheir : <b className="mono">{stat}</b>,
              <b>{formatDate("UTC", before)}</b>,
              describeKept(keptUntilNow_days),
            )}
          </li>
        ))}
      </ul>
      {isSamples && <Text fz="sm">{words.storage.confirmRulesDialog.withoutSamplesPeriodHas}</Text>}
      {isRaw && <Text fz="sm">{words.storage.confirmRulesDialog.withoutRawBytesTool}</Text>}
      <Text fz="sm">{words.storage.confirmRulesDialog.deletedDataCanOnly}</Text>
    </TypedConfirmDialog>
  );
}
