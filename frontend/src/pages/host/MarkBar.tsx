import { ActionIcon, Button, Group, Kbd, Menu, Select, Text, Tooltip } from "@mantine/core";
import { IconBookmarkPlus, IconDots, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect, useRef, useState } from "react";
import { isNotFound } from "../../api/client";
import { comparisonQuery } from "../../api/comparison";
import { statisticsQuery } from "../../api/series";
import { PageButton } from "../../components/PageLink";
import { ErrorLine } from "../../components/StateView";
import type { ComparisonInputs } from "../../logic/against";
import type { BaselineInfo } from "../../logic/api";
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

/** The selected window over the page: its three largest differences from the baseline, and what to do with it. */
export function MarkBar(props: MarkBarProps) {
  const { host, mark, plan, baselines, bandId, zone } = props;
  const [chosen, setChosen] = useState<Reference | null>(null);
  const [hasLines, setLines] = useState(false);
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
        <MarkActions
          {...props}
          inputs={inputs}
          hasLines={hasLines}
          onLines={() => {
            setLines(!hasLines);
          }}
        />
      </Group>
      <div className="mark-body">
        <Differences host={host} inputs={inputs} />
        {hasLines && plan !== null && <SelectionLines host={host} mark={mark} plan={plan} reference={reference} />}
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
        compared with
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

interface MarkActionsProps extends MarkBarProps {
  readonly inputs: ComparisonInputs;
  /** Whether the numbers of the panel are shown. */
  readonly hasLines: boolean;
  readonly onLines: () => void;
}

/** Opens the comparison, or saves the selection as normal; everything else is in the menu. */
function MarkActions({ inputs, plan, clock, mayWrite, hasLines, onLines, ...on }: MarkActionsProps) {
  return (
    <Group gap={6} className="mark-actions" wrap="nowrap">
      <PageButton to="/comparison" search={encodeComparisonView({ ...DEFAULT_COMPARISON_VIEW, clock, ...inputs })}>
        Open
      </PageButton>
      <Tooltip
        label={mayWrite ? "Save the selection as normal behaviour (b)" : "Only operators and administrators can save baselines"}
      >
        <Button variant="default" leftSection={<IconBookmarkPlus size={14} />} disabled={!mayWrite} onClick={on.onBaseline}>
          Save as baseline…
        </Button>
      </Tooltip>
      <Menu position="top-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="More actions for the selection">
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {plan !== null && (
            <Menu.Item onClick={onLines}>{`${hasLines ? "Hide the numbers" : "Numbers"} of ${plan.title}`}</Menu.Item>
          )}
          <Menu.Item onClick={on.onZoom}>Zoom in</Menu.Item>
          <Menu.Item rightSection={<Kbd size="xs">c</Kbd>} onClick={on.onCompare}>
            Compare with another baseline…
          </Menu.Item>
          {mayWrite && (
            <>
              <Menu.Item rightSection={<Kbd size="xs">x</Kbd>} onClick={on.onExclude}>
                Exclude from baselines…
              </Menu.Item>
              <Menu.Item rightSection={<Kbd size="xs">n</Kbd>} onClick={on.onNote}>
                Note event…
              </Menu.Item>
              <Menu.Item onClick={on.onRun}>Add as run…</Menu.Item>
            </>
          )}
          <Menu.Item onClick={on.onExport}>Export…</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Tooltip label="Clear selection (Esc)">
        <ActionIcon aria-label="Clear selection" onClick={on.onClear}>
          <IconX size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

interface DifferencesProps {
  readonly host: string;
  readonly inputs: ComparisonInputs;
}

/** The three largest differences over the host: the same comparison as the page that *Open* shows, which then needs no time. */
function Differences({ host, inputs }: DifferencesProps) {
  const { data, error, isFetching } = useQuery(comparisonQuery(inputs));
  const found = data === undefined ? [] : largestDifferences(data);
  return (
    <section className="mark-differences" aria-label={`Largest differences on ${host}`} aria-busy={isFetching}>
      <ErrorLine error={error} />
      {data === undefined && error === null && <p className="soft">Comparing …</p>}
      {found.length > 0 && (
        <ol>
          {found.map(({ title, sentence, certainty }) => (
            <li key={sentence} title={sentence}>
              <b>{title}</b> {certainty === "likely" && <span className="mark-likely">likely </span>}
              {sentence}
            </li>
          ))}
        </ol>
      )}
      {data !== undefined && found.length === 0 && <p>{data.verdict}</p>}
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
