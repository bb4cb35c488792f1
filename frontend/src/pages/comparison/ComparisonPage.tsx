import { Button, Group, Modal, Text, Title, useComputedColorScheme } from "@mantine/core";
import { useDisclosure, useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { ApiError } from "../../api/client";
import { comparisonQuery, statsQuery } from "../../api/queries";
import { CompareForm } from "../../components/CompareForm";
import { IgnoredNote } from "../../components/IgnoredNote";
import { StateView } from "../../components/StateView";
import type { StatInfo } from "../../logic/api";
import type { Window } from "../../logic/time";
import { zoneOf } from "../../state/clock";
import {
  type BaselineInput,
  type ComparisonView,
  DEFAULT_HOST_VIEW,
  decodeComparisonView,
  encodeComparisonView,
  encodeHostView,
} from "../../state/url";
import { PageButton } from "../../components/PageLink";
import { ChooseComparison } from "./ChooseComparison";
import { Results } from "./Results";
import { Sides } from "./Sides";
import "./ComparisonPage.css";

/** What is different in the incident from what is normal. */
export function ComparisonPage() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { view, ignored } = useMemo(() => decodeComparisonView(search), [search]);
  const { host, baseline, incident } = view;
  useDocumentTitle(host === null ? "Compare · normstat" : `${host} compared · normstat`);
  const set = (change: Partial<ComparisonView>, isNew: boolean): void => {
    void navigate({
      to: "/comparison",
      search: encodeComparisonView({ ...view, ...change }),
      replace: !isNew,
      resetScroll: isNew,
    });
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      {host === null || baseline === null || incident === null ? (
        <ChooseComparison key={host ?? ""} view={view} onChange={set} />
      ) : (
        <Compared host={host} baseline={baseline} incident={incident} view={view} onChange={set} />
      )}
    </div>
  );
}

interface ComparedProps {
  readonly host: string;
  readonly baseline: BaselineInput;
  readonly incident: Window;
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

const NO_STATS: readonly StatInfo[] = [];

function Compared({ host, baseline, incident, view, onChange }: ComparedProps) {
  const zone = zoneOf(view.clock);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const [isChoosing, choosing] = useDisclosure(false);
  const comparison = useQuery(comparisonQuery(host, baseline, incident));
  const stats = useQuery(statsQuery).data?.stats ?? NO_STATS;
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Title order={1}>
          What is different on {host}
          {comparison.isFetching && comparison.data && (
            <Text span fz="sm" className="soft">
              {" "}
              comparing …
            </Text>
          )}
        </Title>
        <Group gap="xs" className="no-print">
          <Button variant="default" onClick={choosing.open}>
            Another baseline…
          </Button>
          <PageButton
            variant="default"
            to="/hosts/$host"
            params={{ host }}
            search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock: view.clock, range: { kind: "fixed", window: incident } })}
          >
            Open the incident on the host
          </PageButton>
        </Group>
      </Group>
      {comparison.data ? (
        <>
          <Sides comparison={comparison.data} zone={zone} clock={view.clock} />
          <Results
            comparison={comparison.data}
            stats={stats}
            view={view}
            incident={incident}
            scheme={scheme}
            onChange={onChange}
          />
        </>
      ) : (
        <div className="card">
          <StateView
            state={
              comparison.error
                ? errorState(comparison.error, () => void comparison.refetch())
                : { kind: "loading", what: "every series of both windows" }
            }
          />
          {comparison.error && (
            <Group justify="center" pb="lg">
              <Button variant="default" onClick={choosing.open}>
                Choose another baseline
              </Button>
            </Group>
          )}
        </div>
      )}
      <Modal opened={isChoosing} onClose={choosing.close} title={`Compare ${host} with what is normal`} size="lg">
        <CompareForm
          host={host}
          incident={incident}
          zone={zone}
          onCancel={choosing.close}
          onCompare={(next) => {
            choosing.close();
            onChange({ baseline: next }, true);
          }}
        />
      </Modal>
    </>
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
