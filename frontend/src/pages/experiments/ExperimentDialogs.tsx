import { api } from "../../api/client";
import { Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { EXPERIMENT_KEYS } from "../../api/experiments";
import { FormDialog } from "../../components/FormDialog";
import type { Experiment, ExperimentRun } from "../../logic/api";
import { formatFactors, formatResultLines, parseFactorLines, parseResultLines } from "../../logic/experiment";

/** Return what runs after a change: everything that shows experiments is asked for again. */
function useRefresh(onClose: () => void): () => void {
  const client = useQueryClient();
  return () => {
    for (const queryKey of EXPERIMENT_KEYS) {
      void client.invalidateQueries({ queryKey });
    }
    onClose();
  };
}

interface EditExperimentDialogProps {
  readonly experiment: Experiment;
  readonly onClose: () => void;
}

/** Changes the name, the title and the note of an experiment. */
export function EditExperimentDialog({ experiment, onClose }: EditExperimentDialogProps) {
  const [name, setName] = useState(experiment.name);
  const [title, setTitle] = useState(experiment.title);
  const [note, setNote] = useState(experiment.note);
  const done = useRefresh(onClose);
  const saving = useMutation({
    mutationFn: () => api.PUT("/experiments/{id}", { body: { name, title, note }, params: { path: { id: experiment.id } } }),
    onSuccess: done,
  });
  return (
    <FormDialog
      title="Edit experiment"
      isReady={name.trim() !== ""}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label="Name"
        maxLength={200}
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
        }}
      />
      <TextInput
        label="Title"
        maxLength={300}
        value={title}
        onChange={(event) => {
          setTitle(event.currentTarget.value);
        }}
      />
      <Textarea
        label="Note"
        autosize
        minRows={2}
        maxLength={10_000}
        value={note}
        onChange={(event) => {
          setNote(event.currentTarget.value);
        }}
      />
    </FormDialog>
  );
}

interface RunDialogProps {
  readonly run: ExperimentRun;
  readonly onClose: () => void;
}

/** Changes the factors, the results and the note of a run. */
export function EditRunDialog({ run, onClose }: RunDialogProps) {
  const measured = run.results.slice(0, run.n_measured);
  const [factorText, setFactorText] = useState(formatFactors(run.factors));
  const [resultText, setResultText] = useState(formatResultLines(measured));
  const [note, setNote] = useState(run.note);
  const factors = parseFactorLines(factorText);
  const results = parseResultLines(resultText);
  const isSame = resultText === formatResultLines(measured);
  const done = useRefresh(onClose);
  const saving = useMutation({
    mutationFn: () =>
      api.PUT("/experiments/runs/{id}", {
        body: {
          factors: typeof factors === "string" ? run.factors : factors,
          note,
          excluded_reason: run.excluded_reason,
          // A measured value keeps all its digits unless it was edited.
          results: isSame || typeof results === "string" ? null : [...results],
        },
        params: { path: { id: run.id } },
      }),
    onSuccess: done,
  });
  const problem =
    typeof factors === "string"
      ? `“${factors}” is not NAME=VALUE`
      : typeof results === "string"
        ? `“${results}” is not NAME=VALUE UNIT`
        : null;
  return (
    <FormDialog
      title={`Edit run ${String(run.id)}`}
      isReady={problem === null}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <Textarea
        data-autofocus
        label="Factors, one a line: NAME=VALUE"
        autosize
        minRows={2}
        value={factorText}
        onChange={(event) => {
          setFactorText(event.currentTarget.value);
        }}
      />
      <Textarea
        label="Results, one a line: NAME=VALUE UNIT"
        autosize
        minRows={3}
        maxRows={12}
        value={resultText}
        onChange={(event) => {
          setResultText(event.currentTarget.value);
        }}
      />
      <TextInput
        label="Note"
        maxLength={10_000}
        value={note}
        onChange={(event) => {
          setNote(event.currentTarget.value);
        }}
      />
      {problem !== null && (
        <Text fz="sm" c="var(--bad)" role="status">
          {problem}
        </Text>
      )}
    </FormDialog>
  );
}

/** Takes a run out of means and models, with the reason that everybody sees. */
export function ExcludeRunDialog({ run, onClose }: RunDialogProps) {
  const [reason, setReason] = useState("");
  const done = useRefresh(onClose);
  const saving = useMutation({
    mutationFn: () =>
      api.PUT("/experiments/runs/{id}", {
        body: { factors: run.factors, note: run.note, excluded_reason: reason.trim() },
        params: { path: { id: run.id } },
      }),
    onSuccess: done,
  });
  return (
    <FormDialog
      title={`Exclude run ${String(run.id)}`}
      action="Exclude"
      isReady={reason.trim() !== ""}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label="Reason"
        placeholder="a backup was running"
        maxLength={300}
        value={reason}
        onChange={(event) => {
          setReason(event.currentTarget.value);
        }}
      />
    </FormDialog>
  );
}
