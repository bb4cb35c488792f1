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
import { words } from "../../words";
import { EscalationFields, HoursFields, toOptions, toIds } from "./RouteParts";
import { RouteTrial } from "./RouteTrial";

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
      title={route === null ? words.watch.alerts.newRoute : words.watch.alerts.editName(route.name)}
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
        label={words.watch.alerts.sends}
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
    { key: "hosts", label: words.common.hosts, data: (hosts.data?.hosts ?? []).map((host) => host.name) },
    { key: "tags", label: words.common.tags, data: [...new Set((hosts.data?.hosts ?? []).flatMap((host) => host.tags))] },
    {
      key: "sources",
      label: words.watch.alerts.rules,
      data: ["comparison", ...(rules.data?.rules ?? []).map((rule) => rule.name)],
    },
    {
      key: "subsystems",
      label: words.watch.rules.subsystem,
      data: [...new Set((rules.data?.rules ?? []).map((rule) => rule.subsystem))],
    },
    { key: "groups", label: words.watch.alerts.groups, data: [] },
  ] as const;
  return (
    <>
      <Title order={3} fz="sm" mt="xs">
        {words.watch.alerts.takes}
      </Title>
      {lists.map(({ key, label, data }) => (
        <TagsInput
          key={key}
          size="xs"
          label={label}
          splitChars={[",", " "]}
          placeholder={
            match[key].length === 0
              ? key === "hosts" || key === "sources"
                ? words.watch.alerts.anyPattern
                : words.watch.alerts.any
              : ""
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
          label={words.watch.alerts.lowest}
          allowDeselect={false}
          value={match.lowest}
          data={LOWEST.map((value) => ({ value, label: COLOUR_LABELS[value] }))}
          onChange={(lowest) => {
            change({ lowest: LOWEST.find((known) => known === lowest) ?? "red" });
          }}
        />
        <Select
          size="xs"
          label={words.watch.alerts.timeZone}
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
        {words.watch.alerts.does}
      </Title>
      <MultiSelect
        searchable
        size="xs"
        label={words.watch.alerts.channels}
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
          label={words.watch.alerts.groupBy}
          allowDeselect={false}
          value={group_by}
          data={GROUPINGS.map((value) => ({ value, label: words.watch.alerts.groupings[value] }))}
          onChange={(grouping) => {
            onChange({ group_by: GROUPINGS.find((known) => known === grouping) ?? "story" });
          }}
        />
        <NumberInput
          size="xs"
          label={words.watch.alerts.waitS}
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
          label={words.watch.alerts.repeatMin}
          placeholder={words.watch.alerts.never}
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
        label={words.watch.alerts.sendsResolved}
        checked={sends_resolved}
        onChange={(event) => {
          onChange({ sends_resolved: event.currentTarget.checked });
        }}
      />
      <Checkbox
        label={words.watch.alerts.isLast}
        checked={is_last}
        onChange={(event) => {
          onChange({ is_last: event.currentTarget.checked });
        }}
      />
    </>
  );
}
