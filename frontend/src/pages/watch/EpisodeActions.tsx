import { Button, Group, Menu, TextInput } from "@mantine/core";
import { IconBellOff, IconCheck, IconFlag } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { acknowledgeEpisode, createWatchMute, markIncident } from "../../api/watch";
import { mayWrite, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import type { OnNow } from "../../logic/api";
import { DAY, HOUR, toEpochMs, toIso } from "../../logic/time";
import { readNow } from "../../state/clock";
import { words } from "../../words";

const MUTES = [
  { length: HOUR, label: words.watch.actions.forAnHour },
  { length: 8 * HOUR, label: words.watch.actions.forEightHours },
  { length: 7 * DAY, label: words.watch.actions.forAWeek },
] as const;

/** What people may do about an entry: acknowledge it, mute it, mark its time as an incident. */
export function EpisodeActions({ entry }: { readonly entry: OnNow }) {
  const me = useMe();
  const client = useQueryClient();
  const [note, setNote] = useState("");
  const onSuccess = () => client.invalidateQueries({ queryKey: ["watch"] });
  const acknowledging = useMutation({
    mutationFn: () => Promise.all(entry.episodes.map(({ id }) => acknowledgeEpisode(id, note.trim()))),
    onSuccess,
  });
  const muting = useMutation({
    mutationFn: (length: number) =>
      createWatchMute({ host: entry.host, source: entry.source, end: toIso(toEpochMs(readNow() + length)), reason: "" }),
    onSuccess,
  });
  const marking = useMutation({
    mutationFn: () =>
      Promise.all(entry.episodes.filter(({ exclusion_id }) => exclusion_id === null).map(({ id }) => markIncident(id))),
    onSuccess: () => client.invalidateQueries(),
  });
  if (!mayWrite(me)) {
    return null;
  }
  const name = `${entry.host ?? words.watch.onNow.thisServer}: ${entry.title}`;
  const isMarked = entry.episodes.every(({ exclusion_id }) => exclusion_id !== null);
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {!entry.is_acknowledged && (
        <Menu position="bottom-end" closeOnItemClick={false}>
          <Menu.Target>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconCheck size={14} />}
              aria-label={words.watch.actions.acknowledgeName(name)}
            >
              {words.watch.actions.acknowledge}
            </Button>
          </Menu.Target>
          <Menu.Dropdown p="xs" miw={260}>
            <form
              onSubmit={(event) => {
                event.preventDefault();
                acknowledging.mutate();
              }}
            >
              <TextInput
                size="xs"
                mb={6}
                label={words.watch.actions.whoLooks}
                value={note}
                maxLength={1000}
                data-autofocus
                onChange={(event) => {
                  setNote(event.currentTarget.value);
                }}
              />
              <Button size="compact-sm" type="submit" loading={acknowledging.isPending}>
                {words.watch.actions.acknowledge}
              </Button>
            </form>
          </Menu.Dropdown>
        </Menu>
      )}
      {entry.mute === null && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconBellOff size={14} />}
              aria-label={words.watch.actions.muteName(name)}
            >
              {words.watch.actions.mute}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {MUTES.map(({ length, label }) => (
              <Menu.Item
                key={label}
                onClick={() => {
                  muting.mutate(length);
                }}
              >
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {entry.host !== null && !isMarked && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconFlag size={14} />}
          aria-label={words.watch.actions.markName(name)}
          loading={marking.isPending}
          onClick={() => {
            marking.mutate();
          }}
        >
          {words.watch.actions.markAsIncident}
        </Button>
      )}
      <ErrorLine error={acknowledging.error ?? muting.error ?? marking.error} />
    </Group>
  );
}
