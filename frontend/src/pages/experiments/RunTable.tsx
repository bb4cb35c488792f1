import { api } from "../../api/client";
import { ActionIcon, Checkbox, Menu, Table, Text, Tooltip } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { EXPERIMENT_KEYS } from "../../api/experiments";
import { Instant } from "../../components/Instant";
import { MarkBaselineDialog } from "../../components/MarkBaselineDialog";
import { ScrollCard } from "../../components/ScrollCard";
import type { ExperimentAnalysis, ExperimentRun } from "../../logic/api";
import { formatTimes, resultOf, startOfRun, windowOfRun } from "../../logic/experiment";
import { formatDigits } from "../../logic/number";
import type { Zone } from "../../logic/zone";
import { type ExperimentView, toggleRun } from "../../state/experiment";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { EditRunDialog, ExcludeRunDialog } from "./ExperimentDialogs";
import { useRunDeletion } from "./useRunDeletion";

/** What every run that a command made has. */
const USUAL = ["real", "user", "sys", "cpus_used"];

interface RunTableProps {
  readonly runs: readonly ExperimentRun[];
  readonly analysis: ExperimentAnalysis | null;
  readonly factors: readonly string[];
  readonly view: ExperimentView;
  readonly zone: Zone;
  readonly writes: boolean;
  readonly onView: (change: Partial<ExperimentView>) => void;
}

interface Dialog {
  readonly kind: "edit" | "exclude" | "baseline";
  readonly run: ExperimentRun;
}

/** The runs, with their factors and results; two of them can be chosen to compare. */
export function RunTable({ runs, analysis, factors, view, zone, writes, onView }: RunTableProps) {
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = (): void => {
    setDialog(null);
  };
  const chosen = analysis?.result?.name;
  const known = new Set(runs.flatMap(({ results }) => results.map(({ name }) => name)));
  const shown = [...new Set([...(chosen === undefined ? [] : [chosen]), ...USUAL.filter((name) => known.has(name))])];
  const points = new Map(analysis?.points.map((point) => [point.run, point]));
  const leftOut = new Map(analysis?.left_out.map(({ run, reason }) => [run, reason]));
  const hasGroups = analysis?.points.some(({ group }) => group !== null) === true;
  const window = dialog === null ? null : windowOfRun(dialog.run);
  return (
    <ScrollCard label="Runs">
      <Table aria-label="Runs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Run</Table.Th>
            {factors.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
            {shown.map((name) => (
              <Table.Th key={name} className="number">
                {titleOf(runs, name)}
              </Table.Th>
            ))}
            <Table.Th className="number">×</Table.Th>
            {hasGroups && (
              <Table.Th>
                <Tooltip
                  label="A: fast and busy. B: slow and idle, it waits. C: slow and busy. D: fast with little CPU"
                  multiline
                  w={280}
                >
                  <span>Group</span>
                </Tooltip>
              </Table.Th>
            )}
            <Table.Th className="number">Exit</Table.Th>
            <Table.Th>Host</Table.Th>
            <Table.Th>Started</Table.Th>
            <Table.Th>Note</Table.Th>
            <Table.Th>Artefacts</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.id} className="experiment-run" data-left-out={leftOut.has(run.id)}>
              <Table.Td>
                <Checkbox
                  size="xs"
                  label={String(run.id)}
                  aria-label={`Choose run ${String(run.id)} to compare`}
                  checked={view.runs.includes(run.id)}
                  onChange={() => {
                    onView({ runs: toggleRun(view.runs, run.id) });
                  }}
                />
              </Table.Td>
              {factors.map((name) => (
                <Table.Td key={name}>{run.factors[name] ?? "–"}</Table.Td>
              ))}
              {shown.map((name) => (
                <Table.Td key={name} className="number">
                  {formatResult(run, name)}
                </Table.Td>
              ))}
              <Table.Td className="number">{formatTimes(points.get(run.id)?.times ?? null)}</Table.Td>
              {hasGroups && <Table.Td>{points.get(run.id)?.group ?? "–"}</Table.Td>}
              <Table.Td className="number">{run.exit_status ?? "–"}</Table.Td>
              <Table.Td>{run.host}</Table.Td>
              <Table.Td>
                <Instant at={startOfRun(run)} zone={zone} />
              </Table.Td>
              <Table.Td>
                {leftOut.has(run.id) && (
                  <Text fz="xs" c="var(--bad)">
                    left out: {leftOut.get(run.id)}
                  </Text>
                )}
                {run.note}
              </Table.Td>
              <Table.Td>
                {run.artefacts.length === 0
                  ? "–"
                  : run.artefacts.map((id) => (
                      <a key={id} href={`/artefacts/${String(id)}`} style={{ marginRight: 6 }}>
                        {`no ${String(id)}`}
                      </a>
                    ))}
              </Table.Td>
              <Table.Td>
                <RunMenu run={run} view={view} writes={writes} onDialog={setDialog} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {dialog?.kind === "edit" && <EditRunDialog run={dialog.run} onClose={close} />}
      {dialog?.kind === "exclude" && <ExcludeRunDialog run={dialog.run} onClose={close} />}
      {dialog?.kind === "baseline" && window !== null && (
        <MarkBaselineDialog hosts={[dialog.run.host]} window={window} zone={zone} onClose={close} onDone={close} />
      )}
    </ScrollCard>
  );
}

function titleOf(runs: readonly ExperimentRun[], name: string): string {
  const unit = runs.map((run) => resultOf(run, name)?.unit).find((each) => each !== undefined) ?? "";
  return unit === "" ? name : `${name} (${unit})`;
}

function formatResult(run: ExperimentRun, name: string): string {
  const result = resultOf(run, name);
  return result === null ? "–" : formatDigits(result.value);
}

interface RunMenuProps {
  readonly run: ExperimentRun;
  readonly view: ExperimentView;
  readonly writes: boolean;
  readonly onDialog: (dialog: Dialog) => void;
}

function RunMenu({ run, view, writes, onDialog }: RunMenuProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useRunDeletion();
  const window = windowOfRun(run);
  const include = async (): Promise<void> => {
    await api.PUT("/experiments/runs/{id}", {
      body: { factors: run.factors, note: run.note, excluded_reason: "" },
      params: { path: { id: run.id } },
    });
    await Promise.all(EXPERIMENT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions of run ${String(run.id)}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {run.command !== "" && (
          <Menu.Label maw={420} style={{ overflowWrap: "anywhere" }}>
            Command: {run.command.slice(0, 300)}
          </Menu.Label>
        )}
        <Menu.Item
          disabled={window === null}
          onClick={() => {
            if (window !== null) {
              const range = { kind: "fixed" as const, window };
              const search = encodeHostView({ ...DEFAULT_HOST_VIEW, clock: view.clock, range });
              void navigate({ to: "/hosts/$host", params: { host: run.host }, search });
            }
          }}
        >
          {window === null ? "The run has no end, so it has no window" : "Open the host at that time"}
        </Menu.Item>
        {writes && (
          <>
            <Menu.Item
              disabled={window === null}
              onClick={() => {
                onDialog({ kind: "baseline", run });
              }}
            >
              Save its window as baseline…
            </Menu.Item>
            <Menu.Item
              onClick={() => {
                onDialog({ kind: "edit", run });
              }}
            >
              Edit…
            </Menu.Item>
            {run.excluded_reason === "" ? (
              <Menu.Item
                onClick={() => {
                  onDialog({ kind: "exclude", run });
                }}
              >
                Exclude with a reason…
              </Menu.Item>
            ) : (
              <Menu.Item onClick={() => void include()}>Count it again</Menu.Item>
            )}
            <Menu.Item
              color="red"
              onClick={() => {
                remove(
                  () => api.DELETE("/experiments/runs/{id}", { params: { path: { id: run.id } } }),
                  () => api.POST("/experiments/runs/{id}/restore", { params: { path: { id: run.id } } }),
                  `Deleted run ${String(run.id)}`,
                  `Restored run ${String(run.id)}`,
                );
              }}
            >
              Delete
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
