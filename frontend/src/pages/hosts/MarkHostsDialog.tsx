import { Select } from "@mantine/core";
import { useState } from "react";
import { MarkBaselineDialog } from "../../components/MarkBaselineDialog";
import type { BaselineInfo } from "../../logic/api";
import { lastOf } from "../../logic/fleet";
import { type EpochMs, HOUR, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { words } from "../../words";

interface MarkHostsDialogProps {
  readonly hosts: readonly string[];
  readonly end: EpochMs;
  readonly zone: Zone;
  readonly onClose: () => void;
  readonly onDone: (baseline: BaselineInfo) => void;
}

const LENGTHS = [
  { value: String(10 * MINUTE), label: words.hosts.markHostsDialog.last10Minutes },
  { value: String(30 * MINUTE), label: words.hosts.markHostsDialog.last30Minutes },
  { value: String(HOUR), label: words.hosts.markHostsDialog.lastHour },
  { value: String(4 * HOUR), label: words.hosts.markHostsDialog.last4Hours },
  { value: String(24 * HOUR), label: words.hosts.markHostsDialog.last24Hours },
] as const;

/** Saves a time before the moment that is shown as a baseline of several hosts. */
export function MarkHostsDialog({ hosts, end, zone, onClose, onDone }: MarkHostsDialogProps) {
  const [length, setLength] = useState<string>(LENGTHS[2].value);
  // The end stands still while the dialog is open.
  const [last] = useState(end);
  return (
    <MarkBaselineDialog hosts={hosts} window={lastOf(last, Number(length))} zone={zone} onClose={onClose} onDone={onDone}>
      <Select
        size="xs"
        label={words.hosts.markHostsDialog.whatWasNormal}
        data={LENGTHS}
        value={length}
        allowDeselect={false}
        onChange={(value) => {
          setLength(value ?? LENGTHS[2].value);
        }}
      />
    </MarkBaselineDialog>
  );
}
