import { Button, Group, Radio, ScrollArea, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type Against, AGO_LABELS, AGOS } from "../logic/against";
import type { BaselineInfo, HostGroupInfo } from "../logic/api";
import { toWindow } from "../logic/comparison";
import { versionOptions } from "../logic/baseline";
import { suggestedBaselines } from "../logic/range";
import { describeDuration, isSameWindow, lengthOf, type Window } from "../logic/time";
import { formatWindow, type Zone } from "../logic/zone";
import { WindowInputs } from "./WindowInputs";
import { counted } from "../logic/counted";

interface AgainstChoiceProps {
  readonly hosts: readonly string[];
  readonly otherHosts: readonly string[];
  /** Host groups that have other hosts. */
  readonly groups: readonly Pick<HostGroupInfo, "name" | "hosts">[];
  readonly incident: Window;
  readonly baselines: readonly BaselineInfo[];
  readonly against: Against;
  readonly zone: Zone;
  readonly onChange: (against: Against) => void;
}

/** Return the value of a choice's radio button: its kind and, for a baseline, its id. */
function valueOf(against: Against): string {
  switch (against.kind) {
    case "baseline":
      return `baseline ${String(against.id)}`;
    case "ago":
      return `ago ${against.ago}`;
    case "window":
    case "host":
    case "group":
      return against.kind;
  }
}

/** Chooses what the incident is compared with: a baseline, an earlier time, any other window, another host or a host group. */
export function AgainstChoice({ hosts, otherHosts, groups, incident, baselines, against, zone, onChange }: AgainstChoiceProps) {
  const usual = suggestedBaselines(incident);
  const choices: readonly Against[] = [
    ...baselines.map(({ id }): Against => ({ kind: "baseline", id, version: null })),
    ...AGOS.map((ago): Against => ({ kind: "ago", ago })),
    { kind: "window", window: usual[0]?.window ?? incident },
    { kind: "host", host: otherHosts[0] ?? "" },
    { kind: "group", group: groups[0]?.name ?? "" },
  ];
  const chosen = against.kind === "baseline" ? baselines.find(({ id }) => id === against.id) : undefined;
  return (
    <>
      <Radio.Group
        value={valueOf(against)}
        label="Baseline"
        onChange={(value) => {
          const next = choices.find((choice) => valueOf(choice) === value);
          if (next !== undefined) {
            onChange(next);
          }
        }}
      >
        <ScrollArea.Autosize mah={180} mt={6}>
          <Stack gap={6}>
            {baselines.map((baseline) => (
              <Radio
                key={baseline.id}
                value={`baseline ${String(baseline.id)}`}
                label={baseline.name}
                description={
                  baseline.is_rolling ? (
                    "no baseline was marked: without incidents and unusual periods"
                  ) : (
                    <BaselineWindows baseline={baseline} zone={zone} />
                  )
                }
              />
            ))}
            {baselines.length === 0 && (
              <Text fz="sm" className="soft">
                {`No baselines for ${hosts.join(" and ")} yet. Save a quiet period as a baseline, or choose one of these.`}
              </Text>
            )}
          </Stack>
        </ScrollArea.Autosize>
        <Group gap="md" mt={8}>
          {AGOS.map((ago) => (
            <Radio key={ago} value={`ago ${ago}`} label={AGO_LABELS[ago]} />
          ))}
          <Radio value="window" label="another window" />
          <Radio value="host" label="another host at the same time" disabled={otherHosts.length === 0} />
          <Radio value="group" label={hosts.length > 1 ? "their group" : "its group"} disabled={groups.length === 0} />
        </Group>
      </Radio.Group>
      {against.kind === "baseline" && chosen !== undefined && chosen.version > 1 && !chosen.is_rolling && (
        <Select
          size="xs"
          w={300}
          label="Version"
          allowDeselect={false}
          data={versionOptions(chosen.version)}
          value={String(against.version ?? "")}
          onChange={(value) => {
            onChange({ ...against, version: value === null || value === "" ? null : Number(value) });
          }}
        />
      )}
      {against.kind === "window" && <OtherWindow incident={incident} window={against.window} zone={zone} onChange={onChange} />}
      {against.kind === "host" && (
        <Select
          size="xs"
          label="Reference host"
          searchable
          allowDeselect={false}
          data={[...otherHosts]}
          value={against.host}
          onChange={(value) => {
            onChange({ kind: "host", host: value ?? "" });
          }}
        />
      )}
      {against.kind === "group" && (
        <Select
          size="xs"
          label="Host group"
          description="Its other hosts at the same time: their median is the level, and what differs between them is normal."
          allowDeselect={false}
          data={groups.map(({ name, hosts: members }) => ({
            value: name,
            label: `${name} (${counted(members.length, "host")})`,
          }))}
          value={against.group}
          onChange={(value) => {
            onChange({ kind: "group", group: value ?? "" });
          }}
        />
      )}
    </>
  );
}

interface OtherWindowProps {
  readonly incident: Window;
  readonly window: Window;
  readonly zone: Zone;
  readonly onChange: (against: Against) => void;
}

function OtherWindow({ incident, window, zone, onChange }: OtherWindowProps) {
  // Changing the key resets the inputs when a button fills them in.
  const [inputs, setInputs] = useState(0);
  return (
    <div>
      <Group gap={6} mb={6}>
        {suggestedBaselines(incident).map(({ label, window: usual }) => (
          <Button
            key={label}
            size="compact-xs"
            variant={isSameWindow(window, usual) ? "filled" : "default"}
            onClick={() => {
              onChange({ kind: "window", window: usual });
              setInputs(inputs + 1);
            }}
          >
            {label}
          </Button>
        ))}
      </Group>
      <WindowInputs
        key={inputs}
        window={window}
        zone={zone}
        onChange={(next) => {
          if (next !== null) {
            onChange({ kind: "window", window: next });
          }
        }}
      />
    </div>
  );
}

function BaselineWindows({ baseline, zone }: { readonly baseline: BaselineInfo; readonly zone: Zone }) {
  const windows = baseline.windows.map(toWindow);
  const [first] = windows;
  return first === undefined ? (
    "no samples yet"
  ) : (
    <>
      {formatWindow(zone, first)} ({describeDuration(lengthOf(first))})
      {windows.length > 1 && ` and ${String(windows.length - 1)} more`}
      {baseline.version > 1 && `, version ${String(baseline.version)}`}
    </>
  );
}
