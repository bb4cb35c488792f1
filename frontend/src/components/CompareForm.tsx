import { Button, Group, Radio, ScrollArea, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { baselinesQuery } from "../api/queries";
import type { BaselineInfo } from "../logic/api";
import { toWindow } from "../logic/comparison";
import { usualBaselines } from "../logic/range";
import { describeDuration, isSameWindow, lengthOf, type Window } from "../logic/time";
import { formatWindow, type Zone } from "../logic/zone";
import type { BaselineInput } from "../state/url";
import { StateView } from "./StateView";
import { WindowInputs } from "./WindowInputs";

interface CompareFormProps {
  readonly host: string;
  readonly incident: Window;
  readonly zone: Zone;
  readonly onCompare: (baseline: BaselineInput) => void;
  readonly onCancel?: () => void;
}

/** With what an incident is compared: a baseline of the host, or any other window. */
export function CompareForm({ host, incident, zone, onCompare, onCancel }: CompareFormProps) {
  const baselines = useQuery(baselinesQuery(host));
  const list = baselines.data?.baselines ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [other, setOther] = useState<Window | null>(usualBaselines(incident)[0]?.window ?? null);
  const [inputs, setInputs] = useState(0);
  const value = chosen ?? (list[0] === undefined ? "window" : String(list[0].id));
  const input: BaselineInput | null =
    value === "window" ? other && { kind: "window", window: other } : { kind: "baseline", id: Number(value) };

  if (baselines.isPending) {
    return <StateView isCompact state={{ kind: "loading", what: "baselines" }} />;
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (input !== null) {
          onCompare(input);
        }
      }}
    >
      <Stack gap="sm">
        {baselines.error && (
          <StateView isCompact state={{ kind: "error", error: baselines.error, onRetry: () => void baselines.refetch() }} />
        )}
        <Radio.Group value={value} onChange={setChosen} label="What was normal (the baseline)">
          <ScrollArea.Autosize mah={240} mt={6}>
            <Stack gap={6}>
              {list.map((baseline) => (
                <Radio
                  key={baseline.id}
                  value={String(baseline.id)}
                  label={baseline.name}
                  description={<BaselineWindows baseline={baseline} zone={zone} />}
                />
              ))}
              {list.length === 0 && !baselines.error && (
                <Text fz="sm" className="soft">
                  No baseline is marked on {host} yet: mark a quiet time as baseline, or use any other window now.
                </Text>
              )}
              <Radio value="window" label="another window" description="any time that you know was normal" />
            </Stack>
          </ScrollArea.Autosize>
        </Radio.Group>
        {value === "window" && (
          <div style={{ paddingLeft: 30 }}>
            <Group gap={6} mb={6}>
              {usualBaselines(incident).map(({ label, window: usual }) => (
                <Button
                  key={label}
                  size="compact-xs"
                  variant={other !== null && isSameWindow(other, usual) ? "filled" : "default"}
                  onClick={() => {
                    setOther(usual);
                    setInputs(inputs + 1);
                  }}
                >
                  {label}
                </Button>
              ))}
            </Group>
            <WindowInputs key={inputs} window={other ?? incident} zone={zone} onChange={setOther} />
          </div>
        )}
        <Group justify="flex-end">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" data-autofocus disabled={input === null}>
            Compare
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function BaselineWindows({ baseline, zone }: { readonly baseline: BaselineInfo; readonly zone: Zone }) {
  const windows = baseline.windows.map(toWindow);
  const [first] = windows;
  return first === undefined ? null : (
    <>
      {formatWindow(zone, first)} ({describeDuration(lengthOf(first))})
      {windows.length > 1 && ` and ${String(windows.length - 1)} more`}
    </>
  );
}
