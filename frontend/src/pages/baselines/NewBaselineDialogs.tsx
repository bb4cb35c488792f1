import { api } from "../../api/client";
import { Group, NumberInput, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { FormDialog } from "../../components/FormDialog";
import { toNamedZone } from "../../logic/host_zone";
import type { BaselineCreate } from "../../logic/api";
import { toRule, defaultRule } from "../../logic/rule";
import { HOUR, toEpochMs, wholeSecond } from "../../logic/time";
import { formatInstant, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { RuleFields, type Subject, SubjectFields } from "./BaselineFields";

interface DialogProps {
  readonly zone: Zone;
  readonly onClose: () => void;
}

const EMPTY: Subject = { name: "", note: "", hosts: [], group: null };
const DEFAULT_HOURS = 24;

/** Records a baseline from now on, for a number of hours. */
export function RecordDialog({ zone, onClose }: DialogProps) {
  const [hours, setHours] = useState(DEFAULT_HOURS);
  const end = toEpochMs(readNow() + hours * HOUR);
  return (
    <NewBaseline
      title="Record a baseline from now on"
      action="Start recording"
      zone={zone}
      how={hours > 0 ? { record_hours: hours } : null}
      onClose={onClose}
    >
      <Group align="flex-end" gap="sm">
        <NumberInput
          label="Duration (hours)"
          w={120}
          min={0.01}
          max={24 * 366}
          value={hours}
          onChange={(value) => {
            setHours(Number(value));
          }}
        />
        <Text fz="sm" className="soft" pb={8} role="status">
          {`until ${formatInstant(zone, wholeSecond(end))} ${zoneLabel(zone, end)}. Recording continues after a server restart; you can stop it earlier.`}
        </Text>
      </Group>
    </NewBaseline>
  );
}

/** Creates a baseline of recurring hours, which updates itself. */
export function RuleDialog({ zone, onClose }: DialogProps) {
  const [draft, setDraft] = useState(defaultRule(toNamedZone(zone)));
  const rule = toRule(draft);
  return (
    <NewBaseline title="Recurring hours" action="Create baseline" zone={draft.zone} how={rule && { rule }} onClose={onClose}>
      <RuleFields
        draft={draft}
        onChange={(change) => {
          setDraft({ ...draft, ...change });
        }}
      />
    </NewBaseline>
  );
}

interface NewBaselineProps extends DialogProps {
  readonly title: string;
  readonly action: string;
  /** The content of the baseline; null while the form is incomplete. */
  readonly how: Partial<BaselineCreate> | null;
  readonly children: ReactNode;
}

function NewBaseline({ title, action, zone, how, onClose, children }: NewBaselineProps) {
  const client = useQueryClient();
  const [subject, setSubject] = useState(EMPTY);
  const { name, note, hosts, group } = subject;
  const making = useMutation({
    mutationFn: () =>
      api.POST("/baselines", {
        body: { name, note, time_zone: toNamedZone(zone), ...(group === null ? { hosts: [...hosts] } : { group }), ...how },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  const isReady = name.trim() !== "" && (group !== null || hosts.length > 0) && how !== null;
  return (
    <FormDialog
      title={title}
      size="lg"
      action={action}
      isReady={isReady}
      isPending={making.isPending}
      error={making.error}
      onSubmit={() => {
        making.mutate();
      }}
      onClose={onClose}
    >
      <SubjectFields
        subject={subject}
        onChange={(change) => {
          setSubject({ ...subject, ...change });
        }}
      />
      {children}
    </FormDialog>
  );
}
