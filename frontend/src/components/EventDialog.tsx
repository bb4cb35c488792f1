import { api } from "../api/client";
import { Group, MultiSelect, Radio, Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { EVENT_KEYS } from "../api/events";
import { hostsQuery } from "../api/queries";
import type { HostEvent } from "../logic/api";
import { EVENT_KINDS, kindLabel, MAX_EVENT_TEXT, MAX_TAG, toTags, TYPED_KINDS } from "../logic/event";
import { type EpochMs, fromApi, toIso } from "../logic/time";
import { formatInstant, parseInstant, type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import { FormDialog } from "./FormDialog";

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
  const client = useQueryClient();
  const hosts = event === null ? (host === null ? null : [host]) : event.hosts;
  const eventEnd = event === null ? end : event.end === null ? null : fromApi(event.end);
  const [text, setText] = useState(event?.text ?? "");
  const [kind, setKind] = useState<HostEvent["kind"]>(event?.kind ?? "note");
  const [tags, setTags] = useState<readonly string[]>(event?.tags ?? []);
  const [from, setFrom] = useState(formatInstant(zone, event === null ? at : fromApi(event.at)));
  const [to, setTo] = useState(eventEnd === null ? "" : formatInstant(zone, eventEnd));
  const [isForAll, setForAll] = useState(hosts === null);
  const [names, setNames] = useState<readonly string[]>(hosts ?? []);
  const times = readTimes(from, to, zone);
  const saving = useMutation({
    mutationFn: async () => {
      if (typeof times === "string") {
        return null;
      }
      const body = {
        text,
        kind,
        tags: [...tags],
        at: toIso(times.at),
        end: times.end === null ? null : toIso(times.end),
        hosts: isForAll ? null : [...names],
      };
      return event?.id == null
        ? api.POST("/events", { body })
        : api.PUT("/events/{id}", { body, params: { path: { id: event.id } } });
    },
    onSuccess: async (saved) => {
      if (saved !== null) {
        await Promise.all(EVENT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
        onClose();
      }
    },
  });
  const problem = typeof times === "string" ? times : !isForAll && names.length === 0 ? "Choose a host, or all hosts" : null;
  const isComplete = text.trim() !== "" && problem === null;
  const label = zoneLabel(zone, at);
  return (
    <FormDialog
      title={event === null ? "Note an event" : "Change event"}
      action={event === null ? "Note event" : "Save"}
      isReady={isComplete}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
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
        value={text}
        onChange={(change) => {
          setText(change.currentTarget.value);
        }}
        onKeyDown={(key) => {
          // A note is one line most of the time: Enter saves it, Shift-Enter begins another line.
          if (key.key === "Enter" && !key.shiftKey && !key.nativeEvent.isComposing) {
            key.preventDefault();
            key.currentTarget.form?.requestSubmit();
          }
        }}
      />
      <Group gap="xs" grow align="flex-start">
        <TextInput
          size="xs"
          label={`At (${label})`}
          value={from}
          spellCheck={false}
          onChange={(change) => {
            setFrom(change.currentTarget.value);
          }}
        />
        <TextInput
          size="xs"
          label="Until"
          placeholder="a moment"
          value={to}
          spellCheck={false}
          onChange={(change) => {
            setTo(change.currentTarget.value);
          }}
        />
      </Group>
      <div style={{ minHeight: 20, fontSize: 12, marginTop: -6 }} className={problem === null ? "soft" : undefined} role="status">
        {problem ?? "2026-11-21 09:05:00, 09:05 (today), now-15m, or ISO 8601 with a zone"}
      </div>
      <Group gap="xs" grow align="flex-start">
        <Select
          size="xs"
          label="Kind"
          allowDeselect={false}
          data={(TYPED_KINDS.some((typed) => typed === kind) ? TYPED_KINDS : [...TYPED_KINDS, kind]).map((value) => ({
            value,
            label: kindLabel(value),
          }))}
          value={kind}
          onChange={(value) => {
            setKind(EVENT_KINDS.find((known) => known === value) ?? "note");
          }}
        />
        <TagsInput
          size="xs"
          label="Tags"
          placeholder="web release"
          splitChars={[",", " "]}
          maxTags={20}
          maxLength={MAX_TAG}
          value={[...tags]}
          onChange={(value) => {
            setTags(toTags(value));
          }}
        />
      </Group>
      <Radio.Group
        value={isForAll ? "all" : "some"}
        onChange={(value) => {
          setForAll(value === "all");
        }}
        label="Hosts"
      >
        <Group gap="md" mt={6}>
          <Radio value="some" label={host !== null && names.length === 1 && names[0] === host ? host : "these hosts"} />
          <Radio value="all" label="all hosts" />
        </Group>
      </Radio.Group>
      {!isForAll && <HostChoice names={names} onChange={setNames} />}
    </FormDialog>
  );
}

interface HostChoiceProps {
  readonly names: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}

/** The hosts of an event. */
export function HostChoice({ names, onChange }: HostChoiceProps) {
  const hosts = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  return (
    <MultiSelect
      size="xs"
      aria-label="Hosts of the event"
      placeholder={names.length === 0 ? "choose hosts" : ""}
      searchable
      limit={100}
      data={[...new Set([...names, ...hosts])]}
      value={[...names]}
      onChange={onChange}
    />
  );
}

/** Return the typed times, or what is wrong with them. */
function readTimes(from: string, to: string, zone: Zone): { readonly at: EpochMs; readonly end: EpochMs | null } | string {
  const now = readNow();
  const at = parseInstant(from, zone, now);
  if (at === null) {
    return `“${from}” is no time. Type for example 2026-11-21 09:05:00`;
  }
  if (to.trim() === "") {
    return { at, end: null };
  }
  const end = parseInstant(to, zone, now);
  if (end === null) {
    return `“${to}” is no time. Type for example 2026-11-21 09:30:00, or nothing for a moment`;
  }
  return end > at ? { at, end } : "The end must be after the start. Leave it empty for a moment";
}
