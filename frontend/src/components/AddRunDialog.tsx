import { api } from "../api/client";
import { Autocomplete, Text, Textarea } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { EXPERIMENT_KEYS, experimentsQuery } from "../api/experiments";
import { factorsProblem, parseFactorLines } from "../logic/experiment";
import { toIso, type Window } from "../logic/time";
import { undo } from "../state/undo";
import { FormDialog } from "./FormDialog";
import { useServerForm } from "./useServerForm";

interface RunFormProps {
  readonly title: string;
  readonly action: string;
  readonly explain?: string;
  readonly onAdd: (experiment: string, factors: Readonly<Record<string, string>>) => Promise<unknown>;
  readonly onClose: () => void;
}

/** The experiment and the factors of what is added. */
function RunForm({ title, action, explain, onAdd, onClose }: RunFormProps) {
  const known = useQuery(experimentsQuery("")).data?.experiments ?? [];
  const { form, submission } = useServerForm({
    initialValues: { experiment: "", factors: "" },
    validate: { experiment: isNotEmpty("Enter a name"), factors: factorsProblem },
    checksEarly: ["factors"],
    send: async (values) => {
      const name = values.experiment.trim();
      const factors = parseFactorLines(values.factors);
      await onAdd(name, typeof factors === "string" ? {} : factors);
      return name;
    },
    renews: EXPERIMENT_KEYS,
    onSaved: (name) => {
      undo.say(`Added a run to ${name}`, null);
      onClose();
    },
  });
  return (
    <FormDialog {...submission} title={title} action={action} onClose={onClose}>
      {explain !== undefined && <Text fz="sm">{explain}</Text>}
      <Autocomplete
        data-autofocus
        label="Experiment"
        description="A new name makes a new experiment"
        maxLength={200}
        data={known.map(({ name }) => name)}
        {...form.getInputProps("experiment")}
      />
      <Textarea
        label="Factors, one a line: NAME=VALUE"
        autosize
        minRows={2}
        placeholder="threads=4"
        {...form.getInputProps("factors")}
      />
    </FormDialog>
  );
}

interface AddRunDialogProps {
  readonly host: string;
  readonly window: Window;
  readonly onClose: () => void;
}

/** Adds a window of a host as a run of an experiment; its length is the result `real`. */
export function AddRunDialog({ host, window: marked, onClose }: AddRunDialogProps) {
  return (
    <RunForm
      title="Add the selection as a run"
      action="Add run"
      onClose={onClose}
      onAdd={(experiment, factors) =>
        api.POST("/experiments/runs", {
          body: {
            experiment,
            host,
            start: toIso(marked.start),
            end: toIso(marked.end),
            factors,
            command: "",
            note: "",
            results: [{ name: "real", value: (marked.end - marked.start) / 1000, unit: "s" }],
            artefacts: [],
            reads_artefacts: false,
            source: "page",
          },
        })
      }
    />
  );
}

interface ArtefactRunsDialogProps {
  readonly artefact: number;
  readonly onClose: () => void;
}

/** Makes runs of what an artefact of IOzone or time holds. */
export function ArtefactRunsDialog({ artefact, onClose }: ArtefactRunsDialogProps) {
  return (
    <RunForm
      title="Make runs of this artefact"
      action="Make runs"
      explain="Each row of IOzone or time becomes a run with its factors and results."
      onClose={onClose}
      onAdd={(experiment, factors) => api.POST("/experiments/artefact-runs", { body: { experiment, artefact, factors } })}
    />
  );
}
