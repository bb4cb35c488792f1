import { api } from "../../api/client";
import { Group, Select, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ARTEFACT_KEYS } from "../../api/artefacts";
import { FormDialog } from "../../components/FormDialog";
import type { Artefact } from "../../logic/api";
import { type ArtefactEffect, EFFECTS, parseSeconds } from "../../logic/artefact";
import { fromApi, toIso } from "../../logic/time";
import { formatInstant, parseInstant, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";

interface EditArtefactDialogProps {
  readonly artefact: Artefact;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Changes what people say of an artefact; its text and parts stay. */
export function EditArtefactDialog({ artefact, zone, onClose }: EditArtefactDialogProps) {
  const client = useQueryClient();
  const [title, setTitle] = useState(artefact.title);
  const [question, setQuestion] = useState(artefact.question);
  const [command, setCommand] = useState(artefact.command);
  const [from, setFrom] = useState(formatInstant(zone, fromApi(artefact.start)));
  const [to, setTo] = useState(artefact.end === null ? "" : formatInstant(zone, fromApi(artefact.end)));
  const [length, setLength] = useState(artefact.duration_s === null ? "" : String(artefact.duration_s));
  const [effect, setEffect] = useState<ArtefactEffect>(EFFECTS.find((each) => each === artefact.effect) ?? "none");
  // What was not touched keeps its fractions of a second.
  const start =
    from === formatInstant(zone, fromApi(artefact.start)) ? fromApi(artefact.start) : parseInstant(from, zone, readNow());
  const end = to.trim() === "" ? null : parseInstant(to, zone, readNow());
  const seconds = length.trim() === "" ? null : parseSeconds(length);
  const isEndWrong = to.trim() !== "" && (end === null || (start !== null && end < start));
  const isLengthWrong = length.trim() !== "" && seconds === null;
  const saving = useMutation({
    mutationFn: async () =>
      start === null
        ? null
        : api.PUT("/artefacts/{id}", {
            body: {
              title,
              question,
              command,
              effect,
              start: toIso(start),
              end: end === null ? null : toIso(end),
              duration_s: seconds,
            },
            params: { path: { id: artefact.id } },
          }),
    onSuccess: async () => {
      await Promise.all(ARTEFACT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  const label = zoneLabel(zone, fromApi(artefact.start));
  return (
    <FormDialog
      title="Change artefact"
      size="lg"
      isReady={start !== null && !isEndWrong && !isLengthWrong}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <TextInput
        label="Title"
        maxLength={300}
        data-autofocus
        value={title}
        onChange={(event) => {
          setTitle(event.currentTarget.value);
        }}
      />
      <Textarea
        label="Question"
        autosize
        minRows={1}
        maxRows={8}
        maxLength={20_000}
        value={question}
        onChange={(event) => {
          setQuestion(event.currentTarget.value);
        }}
      />
      <Textarea
        label="Command"
        className="mono"
        autosize
        minRows={1}
        maxRows={8}
        maxLength={20_000}
        spellCheck={false}
        value={command}
        onChange={(event) => {
          setCommand(event.currentTarget.value);
        }}
      />
      <Group grow align="flex-start" gap="sm">
        <TextInput
          label={`Started at (${label})`}
          spellCheck={false}
          error={start === null ? `“${from}” is no time. Type for example 2026-11-21 09:05, 09:05 or now-7d` : null}
          value={from}
          onChange={(event) => {
            setFrom(event.currentTarget.value);
          }}
        />
        <TextInput
          label={`Ended at (${label})`}
          spellCheck={false}
          error={isEndWrong ? "That is not after the start. Leave it empty if it is not known" : null}
          value={to}
          onChange={(event) => {
            setTo(event.currentTarget.value);
          }}
        />
      </Group>
      <Group grow align="flex-start" gap="sm">
        <TextInput
          label="Watched for (seconds)"
          description="Totals are compared per second of it"
          inputMode="decimal"
          error={isLengthWrong ? "Type seconds, for example 10.042, or leave it empty" : null}
          value={length}
          onChange={(event) => {
            setLength(event.currentTarget.value);
          }}
        />
        <Select
          label="Observer effect"
          description="How much the tool slowed down what it watched"
          allowDeselect={false}
          data={[...EFFECTS]}
          value={effect}
          onChange={(value) => {
            setEffect(EFFECTS.find((each) => each === value) ?? "none");
          }}
        />
      </Group>
    </FormDialog>
  );
}
