import { Checkbox, Group, MultiSelect, NumberInput, Select, TagsInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { saveRoute } from "../../api/alerts";
import { hostsQuery } from "../../api/queries";
import { rulesQuery } from "../../api/watch";
import { FormDialog } from "../../components/FormDialog";
import { useZoneGroups } from "../../components/zone";
import { GROUPINGS, LOWEST, newRoute } from "../../logic/alert";
import type { AlertChannelInfo, AlertRouteInfo, RouteSettings } from "../../logic/api";
import { COLOUR_LABELS } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { zoneOf } from "../../state/clock";
import { NameField } from "../../components/NameAndNote";
import { EscalationFields, HoursFields, toOptions, toIds } from "./RouteParts";
import { RouteTrial } from "./RouteTrial";

const ALERTS_GROUPINGS = {
  story: "what begins together on a host",
  host: "all of a host",
  rule: "a rule on all hosts",
  route: "everything",
};

interface RouteDialogProps {
  /** Null: a new one. */
  readonly route: AlertRouteInfo | null;
  readonly channels: readonly AlertChannelInfo[];
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Creates or changes a route, and tries it on the past before it wakes anybody. */
export function RouteDialog({ route, channels, zone, onClose }: RouteDialogProps) {
  const client = useQueryClient();
  const [name, setName] = useState(route?.name ?? "");
  const [isEnabled, setEnabled] = useState(route?.is_enabled ?? true);
  const [settings, setSettings] = useState(() => route?.settings ?? newRoute(zoneOf("local")));
  const change = (part: Partial<RouteSettings>): void => {
    setSettings({ ...settings, ...part });
  };
  const saving = useMutation({
    mutationFn: () => saveRoute(route?.id ?? null, { name: name.trim(), is_enabled: isEnabled, settings }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["alerts"] });
      onClose();
    },
  });
  return (
    <FormDialog
      size="xl"
      title={route === null ? "New route" : `Edit ${route.name}`}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} />
      <MatchFields settings={settings} onChange={change} />
      <SendFields settings={settings} channels={channels} onChange={change} />
      <Checkbox
        label="Sends messages"
        checked={isEnabled}
        onChange={(event) => {
          setEnabled(event.currentTarget.checked);
        }}
      />
      <RouteTrial settings={settings} zone={zone} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly settings: RouteSettings;
  readonly onChange: (part: Partial<RouteSettings>) => void;
}

function MatchFields({ settings: { match }, onChange }: FieldsProps) {
  const hosts = useQuery(hostsQuery);
  const rules = useQuery(rulesQuery);
  const zones = useZoneGroups(match.time_zone);
  const change = (part: Partial<RouteSettings["match"]>): void => {
    onChange({ match: { ...match, ...part } });
  };
  const lists = [
    { key: "hosts", label: "Hosts", data: (hosts.data?.hosts ?? []).map((host) => host.name) },
    { key: "tags", label: "Tags", data: [...new Set((hosts.data?.hosts ?? []).flatMap((host) => host.tags))] },
    { key: "sources", label: "Rules", data: ["comparison", ...(rules.data?.rules ?? []).map((rule) => rule.name)] },
    { key: "subsystems", label: "Subsystem", data: [...new Set((rules.data?.rules ?? []).map((rule) => rule.subsystem))] },
    { key: "groups", label: "Host groups", data: [] },
  ] as const;
  return (
    <>
      <Title order={3} fz="sm" mt="xs">
        Which episodes
      </Title>
      {lists.map(({ key, label, data }) => (
        <TagsInput
          key={key}
          size="xs"
          label={label}
          splitChars={[",", " "]}
          placeholder={
            match[key].length === 0 ? (key === "hosts" || key === "sources" ? "any; * and ? stand for other letters" : "any") : ""
          }
          data={[...data]}
          value={[...match[key]]}
          onChange={(values) => {
            change({ [key]: values });
          }}
        />
      ))}
      <Group gap="xs" grow>
        <Select
          size="xs"
          label="From this state on"
          allowDeselect={false}
          value={match.lowest}
          data={LOWEST.map((value) => ({ value, label: COLOUR_LABELS[value] }))}
          onChange={(lowest) => {
            change({ lowest: LOWEST.find((known) => known === lowest) ?? "red" });
          }}
        />
        <Select
          size="xs"
          label="Zone of the times"
          allowDeselect={false}
          searchable
          value={match.time_zone}
          data={[...zones]}
          onChange={(zone) => {
            change({ time_zone: zone ?? match.time_zone });
          }}
        />
      </Group>
      <HoursFields
        hours={match.hours}
        onChange={(hours) => {
          change({ hours });
        }}
      />
    </>
  );
}

interface SendFieldsProps extends FieldsProps {
  readonly channels: readonly AlertChannelInfo[];
}

function SendFields({ settings, channels, onChange }: SendFieldsProps) {
  const { wait_s, repeat_min, group_by, sends_resolved, is_last, escalations } = settings;
  return (
    <>
      <Title order={3} fz="sm" mt="xs">
        What it sends
      </Title>
      <MultiSelect
        searchable
        size="xs"
        label="Channels"
        required
        data={toOptions(channels)}
        value={settings.channels.map(String)}
        onChange={(chosen) => {
          onChange({ channels: toIds(chosen) });
        }}
      />
      <Group gap="xs" grow align="flex-end">
        <Select
          size="xs"
          label="One message for"
          allowDeselect={false}
          value={group_by}
          data={GROUPINGS.map((value) => ({ value, label: ALERTS_GROUPINGS[value] }))}
          onChange={(grouping) => {
            onChange({ group_by: GROUPINGS.find((known) => known === grouping) ?? "story" });
          }}
        />
        <NumberInput
          size="xs"
          label="Wait before the first (s)"
          min={0}
          max={86_400}
          allowDecimal={false}
          value={wait_s}
          onChange={(value) => {
            onChange({ wait_s: Number(value) });
          }}
        />
        <NumberInput
          size="xs"
          label="Repeat every (min)"
          placeholder="never"
          min={5}
          max={43_200}
          allowDecimal={false}
          value={repeat_min ?? ""}
          onChange={(value) => {
            onChange({ repeat_min: value === "" ? null : Number(value) });
          }}
        />
      </Group>
      <EscalationFields
        escalations={escalations}
        channels={channels}
        onChange={(next) => {
          onChange({ escalations: next });
        }}
      />
      <Checkbox
        label="Say when it is over"
        checked={sends_resolved}
        onChange={(event) => {
          onChange({ sends_resolved: event.currentTarget.checked });
        }}
      />
      <Checkbox
        label="Routes below do not get what this one takes"
        checked={is_last}
        onChange={(event) => {
          onChange({ is_last: event.currentTarget.checked });
        }}
      />
    </>
  );
}
