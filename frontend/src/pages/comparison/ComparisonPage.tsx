import { Button, Group as Row, Modal, Text } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import { comparisonParams, comparisonQuery, savedComparisonQuery, reportAddress } from "../../api/comparison";
import { statsQuery } from "../../api/queries";
import { ComparisonForm } from "../../components/ComparisonForm";
import { AddToReport } from "../../components/AddToReport";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageButton } from "../../components/PageLink";
import { ShareButton } from "../../components/ShareButton";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import { type ComparisonInputs, inputsOf } from "../../logic/against";
import { surroundings } from "../../logic/range";
import { fromApi } from "../../logic/time";
import { type ComparisonView, decodeComparisonView, DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { ChooseComparison } from "./ChooseComparison";
import { Compared } from "./Compared";
import { ComparisonProgress } from "./ComparisonProgress";
import { SaveDialog, SavedList } from "./SavedDialogs";
import "./ComparisonPage.css";

/** What changed in the incident against the baseline. */
export function ComparisonPage() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  // Fetched in parallel, so that column names are known when the comparison arrives.
  useQuery(statsQuery);
  const { view, ignored } = useMemo(() => decodeComparisonView(search), [search]);
  const [isListing, setListing] = useState(false);
  useDocumentTitle("Compare · normstat");
  const show = (next: ComparisonView, isNew: boolean): void => {
    void navigate({ to: "/comparison", search: encodeComparisonView(next), replace: !isNew, resetScroll: isNew });
  };
  const inputs = useMemo(() => inputsOfView(view), [view]);
  const zone = useZone(view.clock);
  const part = {
    view,
    onChange: (change: Partial<ComparisonView>, isNew: boolean) => {
      show({ ...view, ...change }, isNew);
    },
    // Filters and pins refer to the groups of the old comparison.
    onCompare: (next: ComparisonInputs) => {
      show({ ...DEFAULT_COMPARISON_VIEW, clock: view.clock, ...next }, true);
    },
    onList: () => {
      setListing(true);
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
            <Button variant="default" onClick={part.onList}>
              Saved comparisons…
            </Button>
          </Row>
          <ChooseComparison key={view.hosts.join()} view={view} onCompare={part.onCompare} />
        </>
      ) : (
        <NewComparison {...part} inputs={inputs} />
      )}
      {isListing && (
        <SavedList
          zone={zone}
          onClose={() => {
            setListing(false);
          }}
          onOpen={(savedId) => {
            setListing(false);
            show({ ...DEFAULT_COMPARISON_VIEW, clock: view.clock, savedId }, true);
          }}
        />
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
  readonly onList: () => void;
}

type Dialog = "choose" | "save";

function NewComparison({ inputs, view, onChange, onCompare, onList }: PartProps & { readonly inputs: ComparisonInputs }) {
  const me = useMe();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const comparison = useQuery(comparisonQuery(inputs));
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
          onNewest={() => {
            if (inputs.against.kind === "baseline") {
              onCompare({ ...inputs, against: { ...inputs.against, version: null } });
            }
          }}
          note={comparison.isFetching ? <ComparisonProgress inputs={inputs} /> : null}
          actions={
            <Actions inputs={inputs} of={inputs} view={view} onList={onList}>
              <Button
                variant="default"
                onClick={() => {
                  setDialog("choose");
                }}
              >
                Change comparison…
              </Button>
              {mayWrite(me) && (
                <Button
                  variant="default"
                  onClick={() => {
                    setDialog("save");
                  }}
                >
                  Save…
                </Button>
              )}
            </Actions>
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
          zone={useZone(view.clock)}
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

function SavedComparison({ id, view, onChange, onCompare, onList }: PartProps & { readonly id: number }) {
  const me = useMe();
  const saved = useQuery(savedComparisonQuery(id));
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
          <Actions inputs={inputs} of={id} view={view} onList={onList}>
            {inputs && (
              <Button
                variant="default"
                onClick={() => {
                  onCompare(inputs);
                }}
              >
                Compare again
              </Button>
            )}
            {mayWrite(me) && (
              <Button
                variant="default"
                onClick={() => {
                  setEditing(true);
                }}
              >
                Name and note…
              </Button>
            )}
          </Actions>
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

interface ActionsProps {
  readonly inputs: ComparisonInputs | null;
  readonly of: ComparisonInputs | number;
  readonly view: ComparisonView;
  readonly onList: () => void;
  readonly children: ReactNode;
}

/** The actions of a comparison, new or saved. */
function Actions({ inputs, of, view, onList, children }: ActionsProps) {
  const [host] = inputs?.hosts ?? [];
  const me = useMe();
  return (
    <Row gap="xs" className="no-print">
      {children}
      <Button variant="default" onClick={onList}>
        Open saved…
      </Button>
      <Button variant="default" component="a" href={reportAddress("html", of)} target="_blank" rel="noreferrer">
        Report
      </Button>
      <Button variant="default" component="a" href={reportAddress("pdf", of)} target="_blank" rel="noreferrer">
        PDF
      </Button>
      <AddToReport
        note={
          typeof of === "number"
            ? { kind: "comparison", title: "", comment: "", comparison: of, inputs: null }
            : { kind: "comparison", title: "", comment: "", comparison: null, inputs: { ...comparisonParams(of) } }
        }
      />
      <Button variant="default" component="a" href={reportAddress("csv", of)} download>
        CSV
      </Button>
      {typeof of === "number" && mayWrite(me) && <ShareButton of={{ comparison: of }} />}
      {host !== undefined && inputs && (
        <PageButton
          variant="default"
          to="/hosts/$host"
          params={{ host }}
          search={encodeHostView({
            ...DEFAULT_HOST_VIEW,
            clock: view.clock,
            range: { kind: "fixed", window: surroundings(inputs.incident, 0.2) },
            mark: inputs.incident,
          })}
        >
          Show on graphs
        </PageButton>
      )}
    </Row>
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
