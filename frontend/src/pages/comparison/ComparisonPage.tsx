import { Button, Group as Row, Modal, Text } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import { comparisonQuery, savedComparisonQuery } from "../../api/comparison";
import { statsQuery } from "../../api/queries";
import { ComparisonForm } from "../../components/ComparisonForm";
import { IgnoredNote } from "../../components/IgnoredNote";
import { PageButton } from "../../components/PageLink";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import { type ComparisonInputs, inputsOf } from "../../logic/against";
import { fromApi } from "../../logic/time";
import { type ComparisonView, decodeComparisonView, DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import { DEFAULT_INCIDENTS_VIEW, encodeIncidentsView } from "../../state/incidents";
import { ChooseComparison } from "./ChooseComparison";
import { Compared } from "./Compared";
import { ComparisonActions } from "./ComparisonActions";
import { ComparisonProgress } from "./ComparisonProgress";
import { PastIncidents } from "./PastIncidents";
import { SaveDialog } from "./SaveDialog";
import "./ComparisonPage.css";

/** What changed in the incident against the baseline. */
export function ComparisonPage() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  // Fetched in parallel, so that column names are known when the comparison arrives.
  useQuery(statsQuery);
  const { view, ignored } = useMemo(() => decodeComparisonView(search), [search]);
  useDocumentTitle("Compare · normstat");
  const show = (next: ComparisonView, isNew: boolean): void => {
    void navigate({ to: "/comparison", search: encodeComparisonView(next), replace: !isNew, resetScroll: isNew });
  };
  const inputs = useMemo(() => inputsOfView(view), [view]);
  const part = {
    view,
    onChange: (change: Partial<ComparisonView>, isNew: boolean) => {
      show({ ...view, ...change }, isNew);
    },
    // Filters and pins refer to the groups of the old comparison.
    onCompare: (next: ComparisonInputs) => {
      show({ ...DEFAULT_COMPARISON_VIEW, clock: view.clock, ...next }, true);
    },
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      {view.savedId !== null ? (
        <SavedComparison {...part} id={view.savedId} />
      ) : inputs === null ? (
        <>
          <Row justify="flex-end">
            <PageButton
              variant="default"
              to="/incidents"
              search={encodeIncidentsView({ ...DEFAULT_INCIDENTS_VIEW, clock: view.clock, show: "comparison" })}
            >
              Open saved…
            </PageButton>
          </Row>
          <ChooseComparison key={view.hosts.join()} view={view} onCompare={part.onCompare} />
        </>
      ) : (
        <NewComparison {...part} inputs={inputs} />
      )}
    </div>
  );
}

/** Return the comparison that the link asks for. Missing: null while a choice is missing. */
function inputsOfView({ hosts, incident, against, divisor }: ComparisonView): ComparisonInputs | null {
  return hosts.length === 0 || incident === null || against === null ? null : { hosts, incident, against, divisor };
}

interface PartProps {
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
  readonly onCompare: (inputs: ComparisonInputs) => void;
}

type Dialog = "choose" | "save";

function NewComparison({ inputs, view, onChange, onCompare }: PartProps & { readonly inputs: ComparisonInputs }) {
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const comparison = useQuery(comparisonQuery(inputs));
  const zone = useZone(view.clock);
  const close = (): void => {
    setDialog(null);
  };
  return (
    <>
      {comparison.data ? (
        <Compared
          comparison={comparison.data}
          inputs={inputs}
          incident={inputs.incident}
          view={view}
          onChange={onChange}
          past={<PastIncidents of={inputs} zone={zone} clock={view.clock} />}
          onNewest={() => {
            if (inputs.against.kind === "baseline") {
              onCompare({ ...inputs, against: { ...inputs.against, version: null } });
            }
          }}
          note={comparison.isFetching ? <ComparisonProgress inputs={inputs} /> : null}
          actions={
            <ComparisonActions
              inputs={inputs}
              of={inputs}
              clock={view.clock}
              onSave={() => {
                setDialog("save");
              }}
              onChoose={() => {
                setDialog("choose");
              }}
              onAgain={null}
            />
          }
        />
      ) : comparison.error ? (
        <div className="card">
          <StateView state={errorState(comparison.error, () => void comparison.refetch())} />
          <Row justify="center" pb="lg">
            <Button
              variant="default"
              onClick={() => {
                setDialog("choose");
              }}
            >
              Change comparison…
            </Button>
          </Row>
        </div>
      ) : (
        <ComparisonProgress inputs={inputs} />
      )}
      <Modal opened={dialog === "choose"} onClose={close} title="Compare with a baseline" size="lg">
        <ComparisonForm
          {...inputs}
          zone={zone}
          onCancel={close}
          onCompare={(next) => {
            close();
            onCompare(next);
          }}
        />
      </Modal>
      {dialog === "save" && (
        <SaveDialog
          of={inputs}
          suggested={`${inputs.hosts.join(", ")} against ${comparison.data?.against.name ?? "a baseline"}`}
          onClose={close}
          onDone={({ id }) => {
            close();
            onChange({ ...DEFAULT_COMPARISON_VIEW, clock: view.clock, savedId: id }, true);
          }}
        />
      )}
    </>
  );
}

function SavedComparison({ id, view, onChange, onCompare }: PartProps & { readonly id: number }) {
  const saved = useQuery(savedComparisonQuery(id));
  const zone = useZone(view.clock);
  const [isEditing, setEditing] = useState(false);
  if (saved.data === undefined) {
    return (
      <div className="card">
        <PendingView query={saved} what="the comparison" />
      </div>
    );
  }
  const { result, name, note } = saved.data;
  const inputs = inputsOf(result);
  return (
    <>
      <Compared
        comparison={result}
        inputs={null}
        incident={{ start: fromApi(result.start), end: fromApi(result.end) }}
        view={view}
        onChange={onChange}
        past={<PastIncidents of={id} zone={zone} clock={view.clock} />}
        onNewest={() => {
          if (inputs?.against.kind === "baseline") {
            onCompare({ ...inputs, against: { ...inputs.against, version: null } });
          }
        }}
        note={
          <section className="card saved-note" aria-label="Saved comparison">
            <b>{`Saved: ${name}`}</b>
            <Text fz="sm" style={{ whiteSpace: "pre-wrap" }}>
              {note}
            </Text>
          </section>
        }
        actions={
          <ComparisonActions
            inputs={inputs}
            of={id}
            clock={view.clock}
            onSave={() => {
              setEditing(true);
            }}
            onChoose={null}
            onAgain={
              inputs &&
              (() => {
                onCompare(inputs);
              })
            }
          />
        }
      />
      {isEditing && (
        <SaveDialog
          of={saved.data}
          suggested={name}
          onClose={() => {
            setEditing(false);
          }}
          onDone={() => {
            setEditing(false);
          }}
        />
      )}
    </>
  );
}

function errorState(error: Error, onRetry: () => void) {
  if (error instanceof ApiError && error.code === "no_data") {
    return {
      kind: "empty",
      title: "One of the windows has no samples",
      next: `${error.message}. Choose windows with samples; the strip on the host's page shows them.`,
    } as const;
  }
  return { kind: "error", error, onRetry } as const;
}
