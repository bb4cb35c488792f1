import { Button, Group as Row, Modal, Text } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import { comparisonQuery, keptQuery, reportAddress } from "../../api/comparison";
import { statsQuery } from "../../api/queries";
import { ComparisonForm } from "../../components/ComparisonForm";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageButton } from "../../components/PageLink";
import { StateView } from "../../components/StateView";
import { type ComparisonInputs, inputsOf } from "../../logic/against";
import { surroundings } from "../../logic/range";
import { fromApi } from "../../logic/time";
import { zoneOf } from "../../state/clock";
import { type ComparisonView, decodeComparisonView, DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { ChooseComparison } from "./ChooseComparison";
import { Compared } from "./Compared";
import { ComparisonProgress } from "./ComparisonProgress";
import { KeepDialog, KeptList } from "./KeptDialogs";
import "./ComparisonPage.css";

/** What is different in the incident from what is normal. */
export function ComparisonPage() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  // Asked for beside the comparison, so that columns have their names when it comes.
  useQuery(statsQuery);
  const { view, ignored } = useMemo(() => decodeComparisonView(search), [search]);
  const [isListing, setListing] = useState(false);
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
    // Another comparison has other groups: what was filtered and pinned is of the old one.
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
      {view.keptId !== null ? (
        <KeptComparison {...part} id={view.keptId} />
      ) : inputs === null ? (
        <>
          <Row justify="flex-end">
            <Button variant="default" onClick={part.onList}>
              Kept comparisons…
            </Button>
          </Row>
          <ChooseComparison key={view.hosts.join()} view={view} onCompare={part.onCompare} />
        </>
      ) : (
        <NewComparison {...part} inputs={inputs} />
      )}
      {isListing && (
        <KeptList
          zone={zoneOf(view.clock)}
          onClose={() => {
            setListing(false);
          }}
          onOpen={(keptId) => {
            setListing(false);
            show({ ...DEFAULT_COMPARISON_VIEW, clock: view.clock, keptId }, true);
          }}
        />
      )}
    </div>
  );
}

/** What the link asks to compare. Missing: null while something has to be chosen. */
function inputsOfView({ hosts, incident, against, divisor }: ComparisonView): ComparisonInputs | null {
  return hosts.length === 0 || incident === null || against === null ? null : { hosts, incident, against, divisor };
}

interface PartProps {
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
  readonly onCompare: (inputs: ComparisonInputs) => void;
  readonly onList: () => void;
}

type Dialog = "choose" | "keep";

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
                Compare otherwise…
              </Button>
              {mayWrite(me) && (
                <Button
                  variant="default"
                  onClick={() => {
                    setDialog("keep");
                  }}
                >
                  Keep…
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
              Compare otherwise…
            </Button>
          </Row>
        </div>
      ) : (
        <ComparisonProgress inputs={inputs} />
      )}
      <Modal opened={dialog === "choose"} onClose={close} title="Compare with what is normal" size="lg">
        <ComparisonForm
          {...inputs}
          zone={zoneOf(view.clock)}
          onCancel={close}
          onCompare={(next) => {
            close();
            onCompare(next);
          }}
        />
      </Modal>
      {dialog === "keep" && (
        <KeepDialog
          of={inputs}
          suggested={`${inputs.hosts.join(", ")} against ${comparison.data?.against.name ?? "what is normal"}`}
          onClose={close}
          onDone={({ id }) => {
            close();
            onChange({ ...DEFAULT_COMPARISON_VIEW, clock: view.clock, keptId: id }, true);
          }}
        />
      )}
    </>
  );
}

function KeptComparison({ id, view, onChange, onCompare, onList }: PartProps & { readonly id: number }) {
  const me = useMe();
  const kept = useQuery(keptQuery(id));
  const [isEditing, setEditing] = useState(false);
  if (kept.data === undefined) {
    return (
      <div className="card">
        <StateView
          state={
            kept.error
              ? { kind: "error", error: kept.error, onRetry: () => void kept.refetch() }
              : { kind: "loading", what: "the comparison" }
          }
        />
      </div>
    );
  }
  const { result, name, note } = kept.data;
  const inputs = inputsOf(result);
  return (
    <>
      <Compared
        comparison={result}
        incident={{ start: fromApi(result.start), end: fromApi(result.end) }}
        view={view}
        onChange={onChange}
        onNewest={() => {
          if (inputs?.against.kind === "baseline") {
            onCompare({ ...inputs, against: { ...inputs.against, version: null } });
          }
        }}
        note={
          <section className="card kept-note" aria-label="Kept comparison">
            <b>Kept: {name}</b>
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
        <KeepDialog
          of={kept.data}
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

/** What can be done with a comparison, new or kept. */
function Actions({ inputs, of, view, onList, children }: ActionsProps) {
  const [host] = inputs?.hosts ?? [];
  return (
    <Row gap="xs" className="no-print">
      {children}
      <Button variant="default" onClick={onList}>
        Kept…
      </Button>
      <Button variant="default" component="a" href={reportAddress("html", of)} target="_blank" rel="noreferrer">
        Report
      </Button>
      <Button variant="default" component="a" href={reportAddress("csv", of)} download>
        CSV
      </Button>
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
          Open the incident on the host
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
      next: `${error.message}. Choose windows in which the host was watched; the strip on its page shows where there are samples.`,
    } as const;
  }
  return { kind: "error", error, onRetry } as const;
}
