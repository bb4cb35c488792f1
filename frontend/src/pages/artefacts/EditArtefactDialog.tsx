import { api } from "../../api/client";
import { Group, Select, Textarea, TextInput } from "@mantine/core";
import { ARTEFACT_KEYS } from "../../api/artefacts";
import { FormDialog } from "../../components/FormDialog";
import { useServerForm } from "../../components/useServerForm";
import type { Artefact } from "../../logic/api";
import { EFFECTS, parseSeconds } from "../../logic/artefact";
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
  const started = fromApi(artefact.start);
  const initialStart = formatInstant(zone, started);
  // What was not touched keeps its fractions of a second.
  const readStart = (text: string) => (text === initialStart ? started : parseInstant(text, zone, readNow()));
  const readEnd = (text: string) => (text.trim() === "" ? null : parseInstant(text, zone, readNow()));
  const { title, question, command, effect } = artefact;
  const { form, submission } = useServerForm({
    initialValues: {
      title,
      question,
      command,
      start: initialStart,
      end: artefact.end === null ? "" : formatInstant(zone, fromApi(artefact.end)),
      duration_s: artefact.duration_s === null ? "" : String(artefact.duration_s),
      effect: EFFECTS.find((each) => each === effect) ?? "none",
    },
    validate: {
      start: (text) => (readStart(text) === null ? `“${text}” is not a time. Example: 2026-11-21 09:05, 09:05 or now-7d` : null),
      end: (text, values) => {
        const [start, end] = [readStart(values.start), readEnd(text)];
        const isGood = text.trim() === "" || (end !== null && (start === null || end >= start));
        return isGood ? null : "That is not after the start. Leave it empty if it is not known";
      },
      duration_s: (text) =>
        text.trim() === "" || parseSeconds(text) !== null ? null : "Type seconds, for example 10.042, or leave it empty",
    },
    checksEarly: ["start", "end", "duration_s"],
    send: (values) => {
      const end = readEnd(values.end);
      const body = {
        ...values,
        start: toIso(readStart(values.start) ?? started),
        end: end === null ? null : toIso(end),
        duration_s: values.duration_s.trim() === "" ? null : parseSeconds(values.duration_s),
      };
      return api.PUT("/artefacts/{id}", { body, params: { path: { id: artefact.id } } });
    },
    renews: ARTEFACT_KEYS,
    onSaved: onClose,
  });
  const label = zoneLabel(zone, started);
  return (
    <FormDialog {...submission} title="Change artefact" size="lg" onClose={onClose}>
      <TextInput label="Title" maxLength={300} data-autofocus {...form.getInputProps("title")} />
      <Textarea label="Question" autosize minRows={1} maxRows={8} maxLength={20_000} {...form.getInputProps("question")} />
      <Textarea
        label="Command"
        className="mono"
        autosize
        minRows={1}
        maxRows={8}
        maxLength={20_000}
        spellCheck={false}
        {...form.getInputProps("command")}
      />
      <Group grow align="flex-start" gap="sm">
        <TextInput label={`Started at (${label})`} spellCheck={false} {...form.getInputProps("start")} />
        <TextInput label={`Ended at (${label})`} spellCheck={false} {...form.getInputProps("end")} />
      </Group>
      <Group grow align="flex-start" gap="sm">
        <TextInput
          label="Watched for (seconds)"
          description="Totals are compared per second of it"
          inputMode="decimal"
          {...form.getInputProps("duration_s")}
        />
        <Select
          label="Observer effect"
          description="How much the tool slowed down what it watched"
          allowDeselect={false}
          data={[...EFFECTS]}
          {...form.getInputProps("effect")}
        />
      </Group>
    </FormDialog>
  );
}
