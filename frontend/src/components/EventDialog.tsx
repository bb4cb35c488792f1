import { api } from "../api/client";
import { Group, MultiSelect, Radio, Select, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { EVENT_KEYS } from "../api/events";
import { hostsQuery } from "../api/queries";
import type { HostEvent } from "../logic/api";
import { kindLabel, MAX_EVENT_TEXT, MAX_TAG, toTags, TYPED_KINDS } from "../logic/event";
import { type EpochMs, fromApi, toIso } from "../logic/time";
import { formatInstant, parseInstant, type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import { FormDialog } from "./FormDialog";
import { useServerForm } from "./useServerForm";

interface EventDialogProps {
  /** The host whose page is open; null on the page of all events. */
  readonly host: string | null;
  /** The event to change; null to note a new one at `at`. */
  readonly event: HostEvent | null;
  readonly at: EpochMs;
  readonly end: EpochMs | null;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Notes an event, or changes one. */
export function EventDialog({ host, event, at, end, zone, onClose }: EventDialogProps) {
  const hosts = event === null ? (host === null ? null : [host]) : event.hosts;
  const eventEnd = event === null ? end : event.end === null ? null : fromApi(event.end);
  const { form, submission } = useServerForm({
    initialValues: {
      text: event?.text ?? "",
      kind: event?.kind ?? "note",
      tags: event?.tags ?? [],
      at: formatInstant(zone, event === null ? at : fromApi(event.at)),
      end: eventEnd === null ? "" : formatInstant(zone, eventEnd),
      scope: hosts === null ? "all" : "some",
      hosts: hosts ?? [],
    },
    validate: {
      text: isNotEmpty("Say what happened"),
      at: (text) => (parseInstant(text, zone, readNow()) === null ? timeProblem(text, "2026-11-21 09:05:00") : null),
      end: (text, values) => endProblem(text, values.at, zone),
      hosts: (names, { scope }) => (scope === "some" && names.length === 0 ? "Choose a host, or all hosts" : null),
    },
    checksEarly: ["at", "end"],
    send: ({ scope, ...values }) => {
      const now = readNow();
      const until = parseInstant(values.end, zone, now);
      const body = {
        ...values,
        at: toIso(parseInstant(values.at, zone, now) ?? at),
        end: until === null ? null : toIso(until),
        hosts: scope === "all" ? null : values.hosts,
      };
      return event?.id == null
        ? api.POST("/events", { body })
        : api.PUT("/events/{id}", { body, params: { path: { id: event.id } } });
    },
    renews: EVENT_KEYS,
    onSaved: onClose,
  });
  const { kind, tags, scope, hosts: names } = form.values;
  const known = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  return (
    <FormDialog
      {...submission}
      title={event === null ? "Note an event" : "Change event"}
      action={event === null ? "Note event" : "Save"}
      onClose={onClose}
    >
      <Textarea
        label="What happened"
        placeholder="deployed 1.4"
        required
        data-autofocus
        autosize
        minRows={1}
        maxRows={8}
        maxLength={MAX_EVENT_TEXT}
        {...form.getInputProps("text")}
        onKeyDown={(key) => {
          // A note is one line most of the time: Enter saves it, Shift-Enter begins another line.
          if (key.key === "Enter" && !key.shiftKey && !key.nativeEvent.isComposing) {
            key.preventDefault();
            key.currentTarget.form?.requestSubmit();
          }
        }}
      />
      <Group gap="xs" grow align="flex-start">
        <TextInput size="xs" label={`At (${zoneLabel(zone, at)})`} spellCheck={false} {...form.getInputProps("at")} />
        <TextInput size="xs" label="Until" placeholder="a moment" spellCheck={false} {...form.getInputProps("end")} />
      </Group>
      <Text fz={12} mt={-6} className="soft">
        2026-11-21 09:05:00, 09:05 (today), now-15m, or ISO 8601 with a zone
      </Text>
      <Group gap="xs" grow align="flex-start">
        <Select
          size="xs"
          label="Kind"
          allowDeselect={false}
          data={(TYPED_KINDS.some((typed) => typed === kind) ? TYPED_KINDS : [...TYPED_KINDS, kind]).map((value) => ({
            value,
            label: kindLabel(value),
          }))}
          {...form.getInputProps("kind")}
        />
        <TagsInput
          size="xs"
          label="Tags"
          placeholder="web release"
          splitChars={[",", " "]}
          maxTags={20}
          maxLength={MAX_TAG}
          {...form.getInputProps("tags")}
          value={tags}
          onChange={(value) => {
            form.setFieldValue("tags", [...toTags(value)]);
          }}
        />
      </Group>
      <Radio.Group label="Hosts" {...form.getInputProps("scope")}>
        <Group gap="md" mt={6}>
          <Radio value="some" label={host !== null && names.length === 1 && names[0] === host ? host : "these hosts"} />
          <Radio value="all" label="all hosts" />
        </Group>
      </Radio.Group>
      {scope === "some" && (
        <MultiSelect
          size="xs"
          aria-label="Hosts of the event"
          placeholder={names.length === 0 ? "choose hosts" : ""}
          searchable
          limit={100}
          data={[...new Set([...names, ...known])]}
          {...form.getInputProps("hosts")}
        />
      )}
    </FormDialog>
  );
}

function timeProblem(text: string, example: string): string {
  return `“${text}” is not a time. Example: ${example}`;
}

function endProblem(text: string, from: string, zone: Zone): string | null {
  if (text.trim() === "") {
    return null;
  }
  const now = readNow();
  const start = parseInstant(from, zone, now);
  const end = parseInstant(text, zone, now);
  if (end === null) {
    return timeProblem(text, "2026-11-21 09:30:00, or nothing for a moment");
  }
  return start === null || end > start ? null : "The end must be after the start. Leave it empty for a moment";
}
