import { api } from "../../api/client";
import { Textarea, TextInput } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { EXPERIMENT_KEYS } from "../../api/experiments";
import { FormDialog } from "../../components/FormDialog";
import { NameField, NoteField, ReasonField } from "../../components/NameAndNote";
import { useServerForm } from "../../components/useServerForm";
import type { Experiment, ExperimentRun } from "../../logic/api";
import {
  factorsProblem,
  formatFactors,
  formatResultLines,
  parseFactorLines,
  parseResultLines,
  resultsProblem,
} from "../../logic/experiment";

interface EditExperimentDialogProps {
  readonly experiment: Experiment;
  readonly onClose: () => void;
}

/** Changes the name, the title and the note of an experiment. */
export function EditExperimentDialog({ experiment, onClose }: EditExperimentDialogProps) {
  const { id, name, title, note } = experiment;
  const { form, submission } = useServerForm({
    initialValues: { name, title, note },
    validate: { name: isNotEmpty("Enter a name") },
    send: (body) => api.PUT("/experiments/{id}", { body, params: { path: { id } } }),
    renews: EXPERIMENT_KEYS,
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title="Edit experiment" onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <TextInput label="Title" maxLength={300} {...form.getInputProps("title")} />
      <NoteField {...form.getInputProps("note")} />
    </FormDialog>
  );
}

interface RunDialogProps {
  readonly run: ExperimentRun;
  readonly onClose: () => void;
}

/** Changes the factors, the results and the note of a run. */
export function EditRunDialog({ run, onClose }: RunDialogProps) {
  const measured = formatResultLines(run.results.slice(0, run.n_measured));
  const { form, submission } = useServerForm({
    initialValues: { factors: formatFactors(run.factors), results: measured, note: run.note },
    validate: { factors: factorsProblem, results: resultsProblem },
    checksEarly: ["factors", "results"],
    send: ({ note, ...text }) => {
      const factors = parseFactorLines(text.factors);
      const results = parseResultLines(text.results);
      return api.PUT("/experiments/runs/{id}", {
        body: {
          factors: typeof factors === "string" ? run.factors : factors,
          note,
          excluded_reason: run.excluded_reason,
          // A measured value keeps all its digits unless it was edited.
          results: text.results === measured || typeof results === "string" ? null : [...results],
        },
        params: { path: { id: run.id } },
      });
    },
    renews: EXPERIMENT_KEYS,
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title={`Edit run ${String(run.id)}`} onClose={onClose}>
      <Textarea data-autofocus label="Factors, one a line: NAME=VALUE" autosize minRows={2} {...form.getInputProps("factors")} />
      <Textarea
        label="Results, one a line: NAME=VALUE UNIT"
        autosize
        minRows={3}
        maxRows={12}
        {...form.getInputProps("results")}
      />
      <TextInput label="Note" maxLength={10_000} {...form.getInputProps("note")} />
    </FormDialog>
  );
}

/** Takes a run out of means and models, with the reason that everybody sees. */
export function ExcludeRunDialog({ run, onClose }: RunDialogProps) {
  const { id, factors, note } = run;
  const { form, submission } = useServerForm({
    initialValues: { excluded_reason: "" },
    validate: { excluded_reason: isNotEmpty("Enter the reason") },
    send: ({ excluded_reason }) =>
      api.PUT("/experiments/runs/{id}", {
        body: { factors, note, excluded_reason: excluded_reason.trim() },
        params: { path: { id } },
      }),
    renews: EXPERIMENT_KEYS,
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title={`Exclude run ${String(id)}`} action="Exclude" onClose={onClose}>
      <ReasonField data-autofocus placeholder="a backup was running" maxLength={300} {...form.getInputProps("excluded_reason")} />
    </FormDialog>
  );
}
