import { api } from "../../api/client";
import { Button, Group, Menu, Popover, TextInput } from "@mantine/core";
import { IconArrowBackUp, IconBellOff, IconCheck, IconFlag } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { mayWrite, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import { useServerForm } from "../../components/useServerForm";
import type { OnNow } from "../../logic/api";
import { DAY, HOUR, toEpochMs, toIso } from "../../logic/time";
import { readNow } from "../../state/clock";
import { undo } from "../../state/undo";

const MUTES = [
  { length: HOUR, label: "For an hour" },
  { length: 8 * HOUR, label: "For eight hours" },
  { length: 7 * DAY, label: "For a week" },
] as const;

/** What people may do about an entry: acknowledge it, mute it, mark its time as an incident; each can be undone. */
export function EpisodeActions({ entry }: { readonly entry: OnNow }) {
  const me = useMe();
  const client = useQueryClient();
  const name = `${entry.host ?? "normstat"}: ${entry.title}`;
  const renew = () => client.invalidateQueries({ queryKey: ["watch"] });
  // Says what went wrong with the way back where the row may be gone by then.
  const goBack = async (send: () => Promise<unknown>): Promise<void> => {
    try {
      await send();
    } catch (error) {
      undo.say(error instanceof Error ? error.message : String(error), null);
    }
    await client.invalidateQueries();
  };
  const takeBack = () =>
    Promise.all(entry.episodes.map(({ id }) => api.DELETE("/episodes/{id}/acknowledge", { params: { path: { id } } })));
  const takingBack = useMutation({ mutationFn: takeBack, onSuccess: renew });
  const muting = useMutation({
    mutationFn: (length: number) =>
      api.POST("/watch/mutes", {
        body: { host: entry.host, source: entry.source, end: toIso(toEpochMs(readNow() + length)), reason: "" },
      }),
    onSuccess: async ({ id }) => {
      undo.say(`Muted: ${name}`, () => void goBack(() => api.DELETE("/watch/mutes/{id}", { params: { path: { id } } })));
      await renew();
    },
  });
  const marking = useMutation({
    mutationFn: () =>
      Promise.all(
        entry.episodes
          .filter(({ exclusion_id }) => exclusion_id === null)
          .map(({ id }) => api.POST("/episodes/{id}/incident", { body: { note: "" }, params: { path: { id } } })),
      ),
    onSuccess: async (marked) => {
      const made = marked.flatMap(({ exclusion_id }) => (exclusion_id === null ? [] : [exclusion_id]));
      undo.say(
        `Marked as incident: ${name}. Baselines exclude its time.`,
        () =>
          void goBack(() => Promise.all(made.map((id: number) => api.DELETE("/exclusions/{id}", { params: { path: { id } } })))),
      );
      await client.invalidateQueries();
    },
  });
  if (!mayWrite(me)) {
    return null;
  }
  const isMarked = entry.episodes.every(({ exclusion_id }) => exclusion_id !== null);
  return (
    <>
      <Group gap={4} className="watch-actions">
        {entry.is_acknowledged ? (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconArrowBackUp size={14} />}
            aria-label={`Take back the acknowledgement of ${name}`}
            loading={takingBack.isPending}
            onClick={() => {
              takingBack.mutate();
            }}
          >
            Take back
          </Button>
        ) : (
          <Acknowledge entry={entry} name={name} onDone={() => undo.say(`Acknowledged: ${name}`, () => void goBack(takeBack))} />
        )}
        {entry.mute === null && (
          <Menu position="bottom-end">
            <Menu.Target>
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconBellOff size={14} />}
                aria-label={`Mute ${name}`}
                loading={muting.isPending}
              >
                Mute
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
            aria-label={`Mark as incident: ${name}`}
            loading={marking.isPending}
            onClick={() => {
              marking.mutate();
            }}
          >
            Incident
          </Button>
        )}
      </Group>
      <ErrorLine error={takingBack.error ?? muting.error ?? marking.error} />
    </>
  );
}

interface AcknowledgeProps {
  readonly entry: OnNow;
  readonly name: string;
  readonly onDone: () => void;
}

/** Says that a person looks after an entry, with a note for the others. */
function Acknowledge({ entry, name, onDone }: AcknowledgeProps) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { form, submission } = useServerForm({
    initialValues: { note: "" },
    send: ({ note }) =>
      Promise.all(
        entry.episodes.map(({ id }) =>
          api.POST("/episodes/{id}/acknowledge", { body: { note: note.trim() }, params: { path: { id } } }),
        ),
      ),
    onSaved: async () => {
      setOpen(false);
      onDone();
      await client.invalidateQueries({ queryKey: ["watch"] });
    },
  });
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconCheck size={14} />}
          aria-label={`Acknowledge ${name}`}
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          Acknowledge
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={`Acknowledge ${name}`}>
        <form onSubmit={submission.onSubmit}>
          <TextInput
            size="xs"
            mb={6}
            label="Note, such as who looks after it"
            maxLength={1000}
            data-autofocus
            {...form.getInputProps("note")}
          />
          <Button size="compact-sm" type="submit" loading={submission.isPending}>
            Acknowledge
          </Button>
          <ErrorLine error={submission.error} />
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
