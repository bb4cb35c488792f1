import { Button, Group, Modal, SegmentedControl, Stack, Switch, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { BYTE_UNITS, DEFAULT_LOOK, type PanelLook, parseBound } from "../../logic/look";
import type { PanelPlan } from "../../logic/panel";
import type { ReferenceLine } from "../../logic/reference";
import { isBytes } from "../../logic/unit";

interface LookDialogProps {
  readonly plan: PanelPlan;
  readonly look: PanelLook;
  readonly references: readonly ReferenceLine[];
  /** Says what is expected of the panel's series; null for those who may not. */
  readonly expected: ReactNode;
  readonly onLook: (change: Partial<PanelLook>) => void;
  readonly onClose: () => void;
}

const BYTE_LABELS = { decimal: "kB, MB (1000)", binary: "KiB, MiB (1024)" } as const;

/** Chooses how a panel is drawn. Each choice shows at once, and is in the link. */
export function LookDialog({ plan, look, references, expected, onLook, onClose }: LookDialogProps) {
  const isStacked = look.isStacked ?? plan.isStacked;
  return (
    <Modal opened onClose={onClose} title={`Axis and lines: ${plan.title}`} size="md">
      <Stack gap="sm">
        <Bounds unit={plan.unit} look={look} onLook={onLook} />
        <Switch
          label="Logarithmic axis"
          description="Values of zero and below are not drawn"
          checked={look.isLog}
          disabled={isStacked}
          onChange={(event) => {
            onLook({ isLog: event.currentTarget.checked });
          }}
        />
        <Switch
          label="Stacked"
          description="Only where all samples are drawn and the lines are parts of one whole"
          checked={isStacked}
          onChange={(event) => {
            const next = event.currentTarget.checked;
            onLook({ isStacked: next === plan.isStacked ? null : next });
          }}
        />
        <Switch
          label="Steps"
          description="Each sample holds until the next one"
          checked={look.isStep}
          disabled={isStacked}
          onChange={(event) => {
            onLook({ isStep: event.currentTarget.checked });
          }}
        />
        {isBytes(plan.unit) && (
          <div>
            <Text fz="sm" mb={4}>
              Unit of the axis
            </Text>
            <SegmentedControl
              size="xs"
              aria-label="Unit of the axis"
              data={[{ value: "", label: "as printed" }, ...BYTE_UNITS.map((value) => ({ value, label: BYTE_LABELS[value] }))]}
              value={look.bytes ?? ""}
              onChange={(value) => {
                onLook({ bytes: BYTE_UNITS.find((known) => known === value) ?? null });
              }}
            />
          </div>
        )}
        {references.length > 0 && (
          <Switch
            label="Reference lines"
            description={references.map(({ label, source }) => `${label}. ${source}.`).join(" ")}
            checked={look.hasReferences}
            onChange={(event) => {
              onLook({ hasReferences: event.currentTarget.checked });
            }}
          />
        )}
        {expected}
        <Group justify="space-between">
          <Button
            variant="default"
            onClick={() => {
              onLook({ ...DEFAULT_LOOK, legend: look.legend, sort: look.sort, hidden: look.hidden });
            }}
          >
            Reset
          </Button>
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface BoundsProps {
  readonly unit: string;
  readonly look: PanelLook;
  readonly onLook: (change: Partial<PanelLook>) => void;
}

/** The ends of the axis in the unit that the tool prints; an empty one follows the samples. */
function Bounds({ unit, look, onLook }: BoundsProps) {
  const [low, setLow] = useState(look.low === null ? "" : String(look.low));
  const [high, setHigh] = useState(look.high === null ? "" : String(look.high));
  const problem = boundsProblem(low, high);
  const apply = (nextLow: string, nextHigh: string): void => {
    setLow(nextLow);
    setHigh(nextHigh);
    if (boundsProblem(nextLow, nextHigh) === null) {
      onLook({ low: parseBound(nextLow), high: parseBound(nextHigh) });
    }
  };
  const of = unit === "" ? "" : ` (${unit})`;
  return (
    <div>
      <Group grow gap="xs">
        <TextInput
          size="xs"
          label={`Lowest value${of}`}
          placeholder="from the samples"
          value={low}
          disabled={look.isLog}
          onChange={(event) => {
            apply(event.currentTarget.value, high);
          }}
        />
        <TextInput
          size="xs"
          label={`Highest value${of}`}
          placeholder="from the samples"
          value={high}
          disabled={look.isLog}
          onChange={(event) => {
            apply(low, event.currentTarget.value);
          }}
        />
      </Group>
      <Text fz="xs" {...(problem === null ? { className: "soft" } : { c: "var(--bad)" })} mih={18} role="status">
        {problem ?? (look.isLog ? "A logarithmic axis follows the samples" : "")}
      </Text>
    </div>
  );
}

/** Return what is wrong with typed ends of an axis; null if nothing is. */
function boundsProblem(low: string, high: string): string | null {
  const [from, to] = [low, high].map((text) => (text.trim() === "" ? null : parseBound(text)));
  if ((low.trim() !== "" && from === null) || (high.trim() !== "" && to === null)) {
    return "Type a number such as 0, 12.5 or 1e6";
  }
  return from != null && to != null && from >= to ? "The lowest value must be below the highest" : null;
}
