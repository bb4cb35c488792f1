import { Checkbox, Group, MultiSelect, NumberInput, Select, TagsInput, Title } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { saveRoute } from "../../api/alerts";
import { hostsQuery } from "../../api/queries";
import { rulesQuery } from "../../api/watch";
import { FormDialog } from "../../components/FormDialog";
import { useZoneGroups } from "../../components/zone";
import { GROUPINGS, LOWEST, newRoute } from "../../logic/alert";
import type { AlertChannelInfo, AlertRouteInfo } from "../../logic/api";
import { COLOUR_LABELS } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { zoneOf } from "../../state/clock";
import { NameField } from "../../components/NameAndNote";
import { useServerForm } from "../../components/useServerForm";
import {
  type ChannelFieldsProps,
  EscalationFields,
  HoursFields,
  type RouteFieldsProps,
  type RouteValues,
  toOptions,
} from "./RouteParts";
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
  const initialValues: RouteValues = {
    name: route?.name ?? "",
    is_enabled: route?.is_enabled ?? true,
    settings: route?.settings ?? newRoute(zoneOf("local")),
  };
  const { form, submission } = useServerForm({
    initialValues,
    validate: { name: isNotEmpty("Enter a name"), settings: { channels: isNotEmpty("Choose at least one") } },
    send: (values) => saveRoute(route?.id ?? null, { ...values, name: values.name.trim() }),
    renews: [["alerts"]],
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} size="xl" title={route === null ? "New route" : `Edit ${route.name}`} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <MatchFields form={form} />
      <SendFields form={form} channels={channels} />
      <Checkbox label="Sends messages" {...form.getInputProps("is_enabled", { type: "checkbox" })} />
      <RouteTrial settings={form.values.settings} zone={zone} />
    </FormDialog>
  );
}

function MatchFields({ form }: RouteFieldsProps) {
  const { match } = form.values.settings;
  const hosts = useQuery(hostsQuery);
  const rules = useQuery(rulesQuery);
  const zones = useZoneGroups(match.time_zone);
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
            match[key].length === 0 ? (key === "hosts" || key === "sources" ? "any; * and ? are wildcards" : "any") : ""
          }
          data={[...data]}
          {...form.getInputProps(`settings.match.${key}`)}
        />
      ))}
      <Group gap="xs" grow>
        <Select
          size="xs"
          label="From this state on"
          allowDeselect={false}
          data={LOWEST.map((value) => ({ value, label: COLOUR_LABELS[value] }))}
          {...form.getInputProps("settings.match.lowest")}
        />
        <Select
          size="xs"
          label="Zone of the times"
          allowDeselect={false}
          searchable
          data={[...zones]}
          {...form.getInputProps("settings.match.time_zone")}
        />
      </Group>
      <HoursFields form={form} />
    </>
  );
}

function SendFields({ form, channels }: ChannelFieldsProps) {
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
        {...form.getInputProps("settings.channels")}
      />
      <Group gap="xs" grow align="flex-end">
        <Select
          size="xs"
          label="One message for"
          allowDeselect={false}
          data={GROUPINGS.map((value) => ({ value, label: ALERTS_GROUPINGS[value] }))}
          {...form.getInputProps("settings.group_by")}
        />
        <NumberInput
          size="xs"
          label="Wait before the first (s)"
          min={0}
          max={86_400}
          allowDecimal={false}
          {...form.getInputProps("settings.wait_s")}
        />
        <NumberInput
          size="xs"
          label="Repeat every (min)"
          placeholder="never"
          min={5}
          max={43_200}
          allowDecimal={false}
          {...form.getInputProps("settings.repeat_min")}
          value={form.values.settings.repeat_min ?? ""}
          onChange={(value) => {
            form.setFieldValue("settings.repeat_min", value === "" ? null : Number(value));
          }}
        />
      </Group>
      <EscalationFields form={form} channels={channels} />
      <Checkbox label="Send a message when it ends" {...form.getInputProps("settings.sends_resolved", { type: "checkbox" })} />
      <Checkbox
        label="Stop here: routes below do not get the message"
        {...form.getInputProps("settings.is_last", { type: "checkbox" })}
      />
    </>
  );
}
