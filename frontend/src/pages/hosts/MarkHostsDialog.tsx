import { Select } from "@mantine/core";
import { useState } from "react";
import { MarkBaselineDialog } from "../../components/MarkBaselineDialog";
import type { BaselineInfo } from "../../logic/api";
import { lastOf } from "../../logic/fleet";
import { type EpochMs, HOUR, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";

interface MarkHostsDialogProps {
  readonly hosts: readonly string[];
  readonly end: EpochMs;
  readonly zone: Zone;
  readonly onClose: () => void;
  readonly onDone: (baseline: BaselineInfo) => void;
}

const LENGTHS = [
  { value: String(10 * MINUTE), label: "the last 10 minutes" },
  { value: String(30 * MINUTE), label: "the last 30 minutes" },
  { value: String(HOUR), label: "the last hour" },
  { value: String(4 * HOUR), label: "the last 4 hours" },
  { value: String(24 * HOUR), label: "the last 24 hours" },
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
        label="What was normal"
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
