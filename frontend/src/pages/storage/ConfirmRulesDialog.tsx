import { Text } from "@mantine/core";
import { TypedConfirmDialog } from "../../components/TypedConfirmDialog";
import { type Consequence, describeKept } from "../../logic/storage";
import { formatDate } from "../../logic/zone";

interface ConfirmRulesDialogProps {
  readonly consequences: readonly Consequence[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Says what new rules will delete, from when, before they hold. */
export function ConfirmRulesDialog({ consequences, isPending, error, onConfirm, onClose }: ConfirmRulesDialogProps) {
  const isRaw = consequences.some(({ what }) => what === "raw bytes");
  const isSamples = consequences.some(({ what }) => what === "samples");
  return (
    <TypedConfirmDialog
      title="Delete old data from now on"
      word="delete"
      action="Save these rules"
      isPending={isPending}
      error={error}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <Text fz="sm">The coming night, and every night from then on with a day more, this will be deleted on all hosts:</Text>
      <ul className="consequences">
        {consequences.map(({ key, what, stat, before, keptUntilNow_days }) => (
          <li key={key}>
            {what} of {stat === null ? "all stats without a rule of their own" : <b className="mono">{stat}</b>} from before{" "}
            <b>{formatDate("UTC", before)}</b> (UTC; kept until now: {describeKept(keptUntilNow_days)})
          </li>
        ))}
      </ul>
      {isSamples && (
        <Text fz="sm">
          Without samples there are no graphs, comparisons or exports of that time, whether or not the raw bytes are still there.
        </Text>
      )}
      {isRaw && (
        <Text fz="sm">
          Without raw bytes what the tools printed cannot be looked at or read again: a better spec or a lost sample can no longer
          be had from them.
        </Text>
      )}
      <Text fz="sm">What is deleted does not come back, unless you have a backup.</Text>
    </TypedConfirmDialog>
  );
}
