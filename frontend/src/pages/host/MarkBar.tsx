import { ActionIcon, Button, Group, Loader, Select, Text, Tooltip } from "@mantine/core";
import {
  IconArrowsDiff,
  IconBookmarkOff,
  IconBookmarkPlus,
  IconDownload,
  IconFlag,
  IconFlask,
  IconX,
  IconZoomIn,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect, useRef, useState } from "react";
import { isNotFound } from "../../api/client";
import { comparisonQuery } from "../../api/comparison";
import { statisticsQuery, statsQuery } from "../../api/queries";
import { Ledger } from "../../components/Ledger";
import { PageLink } from "../../components/PageLink";
import { ErrorLine } from "../../components/StateView";
import type { ComparisonInputs } from "../../logic/against";
import type { BaselineInfo, StatInfo } from "../../logic/api";
import { fieldsAsked, type PanelPlan } from "../../logic/panel";
import {
  againstOf,
  EARLIER,
  earlierLabel,
  earlierWindow,
  formatReference,
  largestDifferences,
  type Reference,
  usualReference,
} from "../../logic/selection";
import { dockOf } from "../../logic/surface";
import { describeDuration, lengthOf, type Window } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import type { Clock } from "../../state/url";
import { SelectionTable } from "./SelectionTable";
import "./MarkBar.css";

interface MarkBarProps {
  readonly host: string;
  readonly mark: Window;
  /** The panel whose lines are shown; null for a selection on the strip. */
  readonly plan: PanelPlan | null;
  readonly baselines: readonly BaselineInfo[];
  readonly bandId: number | null;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly mayWrite: boolean;
  readonly onBaseline: () => void;
  readonly onExclude: () => void;
  readonly onCompare: () => void;
  readonly onNote: () => void;
  readonly onRun: () => void;
  readonly onExport: () => void;
  readonly onZoom: () => void;
  readonly onClear: () => void;
}

/** The selected window over the page: its largest differences from the baseline, the lines of its panel, and what to do with it. */
export function MarkBar(props: MarkBarProps) {
  const { host, mark, plan, baselines, bandId, zone, clock } = props;
  const [chosen, setChosen] = useState<Reference | null>(null);
  const reference = chosen ?? usualReference(bandId, baselines);
  const sheet = useDock(plan?.id ?? null, mark);
  const inputs: ComparisonInputs = { hosts: [host], incident: mark, against: againstOf(reference, mark), divisor: null };
  return (
    <div ref={sheet} className="mark-sheet no-print" role="region" aria-label="Selection">
      <Group gap="xs" className="mark-head">
        <Text fz="sm">
          <b>Selected</b> {formatWindow(zone, mark)} {zoneLabel(zone, mark.end)} ({describeDuration(lengthOf(mark))})
        </Text>
        <ReferenceSelect reference={reference} baselines={baselines} onChange={setChosen} />
        <MarkActions {...props} />
      </Group>
      <div className="mark-body" data-has-lines={plan !== null}>
        <Differences host={host} inputs={inputs} clock={clock} />
        {plan !== null && <SelectionLines host={host} mark={mark} plan={plan} reference={reference} />}
      </div>
    </div>
  );
}

/** Puts the sheet where it does not cover the graph that was dragged over. */
function useDock(panel: string | null, mark: Window) {
  const sheet = useRef<HTMLDivElement>(null);
  const { start, end } = mark;
  useLayoutEffect(() => {
    const owned = sheet.current;
    const graph = panel === null ? null : document.querySelector(`[data-panel="${panel}"] .time-surface`);
    const bar = owned?.parentElement;
    if (owned !== null && graph !== null && bar) {
      const page = { top: bar.getBoundingClientRect().bottom, bottom: window.innerHeight };
      const { edge, height } = dockOf(graph.getBoundingClientRect(), page);
      owned.setAttribute("data-dock", edge);
      owned.style.maxHeight = `${String(height)}px`;
    }
  }, [panel, start, end]);
  return sheet;
}

interface ReferenceSelectProps {
  readonly reference: Reference;
  readonly baselines: readonly BaselineInfo[];
  readonly onChange: (reference: Reference) => void;
}

function ReferenceSelect({ reference, baselines, onChange }: ReferenceSelectProps) {
  const choices: readonly (readonly [Reference, string])[] = [
    ...baselines.map(({ id, name }) => [{ kind: "baseline", id }, `Baseline: ${name}`] as const),
    ...EARLIER.map((when) => [{ kind: "earlier", when }, earlierLabel(when)] as const),
  ];
  return (
    <Group gap={6} wrap="nowrap">
      <Text fz="sm" className="soft">
        beside
      </Text>
      <Select
        size="xs"
        w={200}
        aria-label="Compare the selection with"
        allowDeselect={false}
        data={choices.map(([choice, label]) => ({ value: formatReference(choice), label }))}
        value={formatReference(reference)}
        onChange={(value) => {
          const next = choices.find(([choice]) => formatReference(choice) === value);
          if (next !== undefined) {
            onChange(next[0]);
          }
        }}
      />
    </Group>
  );
}

function MarkActions({ mayWrite, onBaseline, onExclude, onCompare, onNote, onRun, onExport, onZoom, onClear }: MarkBarProps) {
  return (
    <Group gap={6} className="mark-actions">
      <Tooltip label="Compare the selection with a baseline (c)">
        <Button leftSection={<IconArrowsDiff size={14} />} onClick={onCompare}>
          Compare with baseline…
        </Button>
      </Tooltip>
      <Button variant="default" leftSection={<IconZoomIn size={14} />} onClick={onZoom}>
        Zoom in
      </Button>
      <Tooltip
        label={mayWrite ? "Save the selection as normal behaviour (b)" : "Only operators and administrators can save baselines"}
      >
        <Button variant="default" leftSection={<IconBookmarkPlus size={14} />} disabled={!mayWrite} onClick={onBaseline}>
          Save as baseline…
        </Button>
      </Tooltip>
      <Tooltip
        label={mayWrite ? "Ignore the selection in all baselines (x)" : "Only operators and administrators can exclude periods"}
      >
        <Button variant="default" leftSection={<IconBookmarkOff size={14} />} disabled={!mayWrite} onClick={onExclude}>
          Exclude from baselines…
        </Button>
      </Tooltip>
      {mayWrite && (
        <Tooltip label="Note what happened in the selection (n)">
          <Button variant="default" leftSection={<IconFlag size={14} />} onClick={onNote}>
            Note event…
          </Button>
        </Tooltip>
      )}
      {mayWrite && (
        <Tooltip label="Add the selection as a run of an experiment">
          <Button variant="default" leftSection={<IconFlask size={14} />} onClick={onRun}>
            Add as run…
          </Button>
        </Tooltip>
      )}
      <Button variant="default" leftSection={<IconDownload size={14} />} onClick={onExport}>
        Export…
      </Button>
      <Tooltip label="Clear selection (Esc)">
        <ActionIcon aria-label="Clear selection" onClick={onClear}>
          <IconX size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

interface DifferencesProps {
  readonly host: string;
  readonly inputs: ComparisonInputs;
  readonly clock: Clock;
}

const NO_STATS: readonly StatInfo[] = [];

/** The three largest differences over the host: the same comparison as the page that the link opens, which then needs no time. */
function Differences({ host, inputs, clock }: DifferencesProps) {
  const { data, error, isFetching } = useQuery(comparisonQuery(inputs));
  const stats = useQuery(statsQuery).data?.stats ?? NO_STATS;
  const found = data === undefined ? [] : largestDifferences(data);
  return (
    <section className="mark-differences" aria-label={`Largest differences on ${host}`} aria-busy={isFetching}>
      <h3>
        {`Largest differences on ${host}`} {isFetching && <Loader size={11} color="gray" />}
      </h3>
      <ErrorLine error={error} />
      {found.length > 0 && (
        <ol>
          {found.map(({ title, sentence, isWorse }) => (
            <li key={sentence} data-worse={isWorse}>
              <b>{title}:</b> {sentence}
            </li>
          ))}
        </ol>
      )}
      {data !== undefined && found.length === 0 && <p>{data.verdict}</p>}
      {data !== undefined && <Ledger comparison={data} stats={stats} window={inputs.incident} clock={clock} />}
      {data?.notes?.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
      {data !== undefined && (
        <PageLink to="/comparison" search={encodeComparisonView({ ...DEFAULT_COMPARISON_VIEW, clock, ...inputs })} fz="sm">
          {`All ${data.n_findings === 0 ? "series" : "changes"} and what to ask next`}
        </PageLink>
      )}
    </section>
  );
}

interface SelectionLinesProps {
  readonly host: string;
  readonly mark: Window;
  readonly plan: PanelPlan;
  readonly reference: Reference;
}

/** The lines of the panel that was dragged over, beside the baseline. */
function SelectionLines({ host, mark, plan, reference }: SelectionLinesProps) {
  const { data, error } = useQuery(
    statisticsQuery({
      host,
      stat: plan.stat.name,
      fields: fieldsAsked(plan).map(({ key }) => key),
      choice: plan.choice,
      window: mark,
      against: reference.kind === "baseline" ? reference : { kind: "window", window: earlierWindow(mark, reference.when) },
    }),
  );
  return (
    <section className="mark-lines" aria-label={`Selected lines of ${plan.title}`} aria-busy={data === undefined}>
      <h3>
        {plan.title}
        {plan.unit !== "" && <span className="soft"> {`in ${plan.unit}`}</span>}
      </h3>
      <ErrorLine error={isNotFound(error) ? null : error} />
      {isNotFound(error) ? (
        <p>No samples of this panel in the selection. Select a longer time, or another panel.</p>
      ) : data === undefined ? (
        error === null && (
          <p className="soft" role="status">
            Loading …
          </p>
        )
      ) : data.lines.length === 0 ? (
        <p>No samples of this panel in the selection. Select a longer time, or another panel.</p>
      ) : (
        <SelectionTable plan={plan} statistics={data} />
      )}
    </section>
  );
}
