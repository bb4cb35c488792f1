import { api } from "../../api/client";
import { Button, Group, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconDownload, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { experimentAnalysisQuery, experimentQuery, runsCsvAddress } from "../../api/experiments";
import { AddToReport } from "../../components/AddToReport";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { ExperimentDetails } from "../../logic/api";
import { experimentNote } from "../../logic/note";
import { downloadFrom } from "../../state/download";
import { decodeExperimentView, encodeExperimentList, encodeExperimentView, type ExperimentView } from "../../state/experiment";
import { counted } from "../../logic/counted";
import { CompareRuns } from "./CompareRuns";
import { EditExperimentDialog } from "./ExperimentDialogs";
import { TeachRun } from "./ExperimentsPage";
import { LevelTable } from "./LevelTable";
import { RunTable } from "./RunTable";
import { ScalingChart } from "./ScalingChart";
import { ScalingVerdict } from "./ScalingVerdict";
import { useRunDeletion } from "./useRunDeletion";
import "./experiments.css";

/** One experiment: what its runs say, the chart, the means of repeats and the runs. */
export function ExperimentPage() {
  const { experiment } = useParams({ strict: false });
  const id = Number(experiment);
  const raw = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeExperimentView(raw), [raw]);
  const navigate = useNavigate();
  const found = useQuery(experimentQuery(id));
  const name = found.data?.experiment.name ?? "Experiments";
  useDocumentTitle(`${name} · Experiments · normstat`);
  const setView = (change: Partial<ExperimentView>): void => {
    const search = encodeExperimentView({ ...view, ...change });
    void navigate({ to: "/experiments/$experiment", params: { experiment: String(id) }, search, replace: true });
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <PageLink to="/experiments" search={encodeExperimentList({ clock: view.clock, search: "" })} fz="sm">
        All experiments
      </PageLink>
      {found.data === undefined ? (
        <PendingView query={found} what="experiments" />
      ) : (
        <ShownExperiment details={found.data} view={view} onView={setView} />
      )}
    </div>
  );
}

interface ShownExperimentProps {
  readonly details: ExperimentDetails;
  readonly view: ExperimentView;
  readonly onView: (change: Partial<ExperimentView>) => void;
}

function ShownExperiment({ details, view, onView }: ShownExperimentProps) {
  const { experiment, runs } = details;
  const zone = useZone(view.clock);
  const writes = mayWrite(useMe());
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const remove = useRunDeletion();
  const analysis = useQuery(experimentAnalysisQuery(experiment.id, view));
  return (
    <>
      <Group justify="space-between" mb="xs">
        <div>
          <Title order={1}>{experiment.name}</Title>
          <Text fz="sm" className="soft">
            {[experiment.title, counted(runs.length, "run"), experiment.hosts.join(", ")].filter(Boolean).join(" · ")}
          </Text>
        </div>
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconDownload size={14} />}
            onClick={() => {
              downloadFrom(runsCsvAddress(experiment.id));
            }}
          >
            CSV
          </Button>
          <AddToReport size="xs" note={{ ...experimentNote(experiment.id, view), title: experiment.title || experiment.name }} />
          {writes && (
            <>
              <Button
                variant="default"
                size="xs"
                leftSection={<IconPencil size={14} />}
                onClick={() => {
                  setEditing(true);
                }}
              >
                Edit
              </Button>
              <Button
                variant="default"
                size="xs"
                leftSection={<IconTrash size={14} />}
                onClick={() => {
                  remove(
                    () => api.DELETE("/experiments/{id}", { params: { path: { id: experiment.id } } }),
                    () => api.POST("/experiments/{id}/restore", { params: { path: { id: experiment.id } } }),
                    `Deleted experiment ${experiment.name}`,
                    `Restored experiment ${experiment.name}`,
                  );
                  void navigate({ to: "/experiments", search: encodeExperimentList({ clock: view.clock, search: "" }) });
                }}
              >
                Delete
              </Button>
            </>
          )}
        </Group>
      </Group>
      {experiment.note !== "" && (
        <Text fz="sm" mb="sm" style={{ whiteSpace: "pre-wrap" }}>
          {experiment.note}
        </Text>
      )}
      {runs.length === 0 ? (
        <div className="card">
          <StateView
            state={{ kind: "empty", title: "This experiment has no runs yet", next: <TeachRun name={experiment.name} /> }}
          />
        </div>
      ) : (
        <>
          {analysis.data === undefined ? (
            <PendingView query={analysis} what="experiments" />
          ) : analysis.data.result === null ? (
            <div className="card">
              <StateView
                isCompact
                state={{
                  kind: "empty",
                  title: "The runs have no results",
                  next: "Edit a run to give it results, or measure the command with `normstat run`.",
                }}
              />
            </div>
          ) : (
            <div aria-busy={analysis.isPlaceholderData}>
              <div className="experiment-grid">
                <ScalingChart analysis={analysis.data} view={view} onView={onView} />
                <ScalingVerdict analysis={analysis.data} />
              </div>
              <div className="experiment-levels">
                <LevelTable analysis={analysis.data} />
              </div>
            </div>
          )}
          <CompareRuns runs={runs} view={view} onView={onView} />
          <RunTable
            runs={runs}
            analysis={analysis.data ?? null}
            factors={experiment.factors}
            view={view}
            zone={zone}
            writes={writes}
            onView={onView}
          />
        </>
      )}
      {isEditing && (
        <EditExperimentDialog
          experiment={experiment}
          onClose={() => {
            setEditing(false);
          }}
        />
      )}
    </>
  );
}
