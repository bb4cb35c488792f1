import { Alert, Anchor, Button, Group, Select, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconArrowsExchange } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { artefactDiffQuery, type DiffQuery } from "../../api/artefact_diff";
import { IgnoredNote } from "../../components/IgnoredNote";
import { PageLink } from "../../components/PageLink";
import { PendingView, StateView } from "../../components/StateView";
import { useSettled } from "../../components/useSettled";
import { useZone } from "../../components/zone";
import type { Artefact, ArtefactDiff } from "../../logic/api";
import { windowOf } from "../../logic/artefact_diff";
import { formatDigits } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { formatInstant, formatWindow, type Zone } from "../../logic/zone";
import { type ArtefactDiffView, decodeArtefactDiff, encodeArtefactDiff } from "../../state/artefact_diff";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import { Answers } from "./Answers";
import type { ReactNode } from "react";
import { nodes } from "../../components/nodes";
import { DiffHistogram } from "./DiffHistogram";
import { DiffTable, PAGE_ROWS } from "./DiffTable";
import { FlameDiff } from "./FlameDiff";
import "./artefact_diff.css";

const PAGE = {
  title: "Two artefacts compared",
  tab: "Artefacts compared · normstat",
  what: "the comparison",
  before: "Before",
  after: "After",
  swap: "Swap before and after",
  choose: "Choose two artefacts to compare",
  chooseNext: (list: ReactNode) => nodes`Open an artefact from ${list} and choose what to compare it with.`,
  theList: "the list of artefacts",
  same: "Before and after are the same artefact; choose another one to see a difference.",
  compareHosts: "Compare the hosts in these windows",
  number: (id: string) => `Artefact ${id}`,
  duration: (seconds: string) => `watched for ${seconds} s`,
  unknownDuration: "duration unknown",
  partsOfPair: "Part",
  onlyBefore: (title: string) => `${title} (only before)`,
  onlyAfter: (title: string) => `${title} (only after)`,
  slowed: "slowed down what it watched",
};

/** Two artefacts, before and after: what changed, as a sentence, then by key, stack or bucket. */
export function ArtefactDiffPage() {
  useDocumentTitle("Artefacts compared · normstat");
  const raw = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeArtefactDiff(raw), [raw]);
  const navigate = useNavigate();
  const onView = (change: Partial<ArtefactDiffView>): void => {
    void navigate({
      to: "/artefacts/diff",
      search: encodeArtefactDiff({ ...view, page: 0, ...change }),
      replace: !("before" in change),
      resetScroll: false,
    });
  };
  const { before, after } = view;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Title order={1} mb="sm">
        Two artefacts compared
      </Title>
      {before === null || after === null ? (
        <StateView
          state={{
            kind: "empty",
            title: "Choose two artefacts to compare",
            next: nodes`Open an artefact from ${<Anchor href="/artefacts">the list of artefacts</Anchor>} and choose what to compare it with.`,
          }}
        />
      ) : (
        <Diff view={view} before={before} after={after} onView={onView} />
      )}
    </div>
  );
}

interface DiffProps {
  readonly view: ArtefactDiffView;
  readonly before: number;
  readonly after: number;
  readonly onView: (change: Partial<ArtefactDiffView>) => void;
}

function Diff({ view, before, after, onView }: DiffProps) {
  const zone = useZone(view.clock);
  const search = useSettled(view.search);
  const { pair, column, group, normalisation, queueLimit } = view;
  const query: DiffQuery = { before, after, pair, column, group, normalisation, search, queueLimit };
  const found = useQuery(artefactDiffQuery(query, view.page * PAGE_ROWS, PAGE_ROWS));
  if (found.data === undefined || found.isError) {
    return <PendingView query={found} what="the comparison" />;
  }
  const data = found.data;
  const stacks = stacksOf(data);
  return (
    <>
      <Heads data={data} view={view} zone={zone} onView={onView} />
      <section className="card diff-lead" aria-live="polite">
        <Text fw={600} className="diff-text">
          {data.diff.headline}
        </Text>
        {data.diff.normalisation !== "" && (
          <Text fz="sm" className="soft">
            {`Compared ${data.diff.normalisation}.`}
          </Text>
        )}
        {data.diff.warnings.map((warning) => (
          <Text key={warning} fz="sm" c="var(--warn)">
            {warning}
          </Text>
        ))}
      </section>
      {before === after && <Alert my="sm">Before and after are the same artefact; choose another one to see a difference.</Alert>}
      <Pairs data={data} onView={onView} />
      {stacks !== null && <FlameDiff before={stacks.before} after={stacks.after} />}
      {data.diff.table !== null && <DiffTable table={data.diff.table} query={query} view={view} onView={onView} />}
      {data.diff.histogram !== null && <DiffHistogram diff={data.diff.histogram} query={query} view={view} onView={onView} />}
      <Answers artefact={data.after} title="Suggestions for the second" />
      {before !== after && <Answers artefact={data.before} title="Suggestions for the first" />}
    </>
  );
}

/** Return the stacks that are compared. Missing: null for a pair of another kind. */
function stacksOf({ diff: { pairs, pair }, before, after }: ArtefactDiff) {
  const parts = pair === null ? undefined : pairs[pair];
  if (parts?.kind !== "stacks" || parts.before === null || parts.after === null) {
    return null;
  }
  return { before: { artefact: before.id, part: parts.before }, after: { artefact: after.id, part: parts.after } };
}

interface HeadsProps {
  readonly data: ArtefactDiff;
  readonly view: ArtefactDiffView;
  readonly zone: Zone;
  readonly onView: (change: Partial<ArtefactDiffView>) => void;
}

function Heads({ data, view, zone, onView }: HeadsProps) {
  const windows = { before: windowOf(data.before), after: windowOf(data.after) };
  return (
    <>
      <div className="diff-heads">
        <Head side="before" artefact={data.before} zone={zone} />
        <Head side="after" artefact={data.after} zone={zone} />
      </div>
      <Group gap="xs" my="xs">
        <Button
          size="xs"
          variant="default"
          leftSection={<IconArrowsExchange size={14} aria-hidden />}
          onClick={() => {
            onView({ before: view.after, after: view.before, pair: null });
          }}
        >
          Swap before and after
        </Button>
        {windows.before !== null && windows.after !== null && (
          <PageLink
            fz="sm"
            to="/comparison"
            search={encodeComparisonView({
              ...DEFAULT_COMPARISON_VIEW,
              clock: view.clock,
              hosts: [data.after.host],
              incident: windows.after,
              against:
                data.before.host === data.after.host
                  ? { kind: "window", window: windows.before }
                  : { kind: "host", host: data.before.host },
            })}
          >
            Compare the hosts in these windows
          </PageLink>
        )}
      </Group>
    </>
  );
}

interface HeadProps {
  readonly side: "before" | "after";
  readonly artefact: Artefact;
  readonly zone: Zone;
}

function Head({ side, artefact, zone }: HeadProps) {
  const name =
    [artefact.title, artefact.question, artefact.file_name].find((text) => text !== "") ?? `Artefact ${String(artefact.id)}`;
  const duration = artefact.duration_s === null ? "duration unknown" : `watched for ${formatDigits(artefact.duration_s)} s`;
  const facts = [
    artefact.host,
    artefact.tool,
    whenOf(artefact, zone),
    duration,
    artefact.effect === "heavy" ? "slowed down what it watched" : "",
  ];
  return (
    <section className={`card diff-head diff-${side}`} aria-label={PAGE[side]}>
      <Text fz="xs" fw={700} className={`diff-side-${side}`}>
        {PAGE[side]}
      </Text>
      <Anchor fz="sm" fw={600} className="diff-text" href={`/artefacts/${String(artefact.id)}`}>
        {name.slice(0, 200)}
      </Anchor>
      <Text fz="xs" className="soft">
        {facts.filter((fact) => fact !== "").join(" · ")}
      </Text>
      {artefact.command !== "" && (
        <Text fz="xs" className="mono soft diff-text" lineClamp={2}>
          {artefact.command}
        </Text>
      )}
    </section>
  );
}

/** Return when the tool ran: its window, or its moment where no end is known. */
function whenOf(artefact: Artefact, zone: Zone): string {
  const window = artefact.end === null ? null : windowOf(artefact);
  return window === null ? formatInstant(zone, fromApi(artefact.start)) : formatWindow(zone, window);
}

interface PairsProps {
  readonly data: ArtefactDiff;
  readonly onView: (change: Partial<ArtefactDiffView>) => void;
}

/** Which part is compared, where there are several; those of one artefact only are named. */
function Pairs({ data, onView }: PairsProps) {
  const { pairs, pair } = data.diff;
  if (pairs.length < 2) {
    return null;
  }
  return (
    <Select
      size="xs"
      maw={420}
      mb="xs"
      label="Part"
      allowDeselect={false}
      data={pairs.map((each, at) => ({
        value: String(at),
        label: `${String(at + 1)}. ${each.after === null ? `${each.title} (only before)` : each.before === null ? `${each.title} (only after)` : each.title}`,
        disabled: each.before === null || each.after === null,
      }))}
      value={pair === null ? null : String(pair)}
      onChange={(text) => {
        onView({ pair: text === null ? null : Number(text), column: null, group: [], normalisation: null, search: "" });
      }}
    />
  );
}
