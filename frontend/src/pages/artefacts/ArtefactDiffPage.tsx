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
import { formatDigits, windowOf } from "../../logic/artefact_diff";
import { fromApi } from "../../logic/time";
import { formatInstant, formatWindow, type Zone } from "../../logic/zone";
import { type ArtefactDiffView, decodeArtefactDiff, encodeArtefactDiff } from "../../state/artefact_diff";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import { Answers } from "./Answers";
import { words } from "../../words";
import { DiffHistogram } from "./DiffHistogram";
import { DiffTable, PAGE_ROWS } from "./DiffTable";
import { FlameDiff } from "./FlameDiff";
import "./artefact_diff.css";

/** Two artefacts, before and after: what changed, as a sentence, then by key, stack or bucket. */
export function ArtefactDiffPage() {
  useDocumentTitle(words.artefactDiff.page.tab);
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
        {words.artefactDiff.page.title}
      </Title>
      {before === null || after === null ? (
        <StateView
          state={{
            kind: "empty",
            title: words.artefactDiff.page.choose,
            next: words.artefactDiff.page.chooseNext(<Anchor href="/artefacts">{words.artefactDiff.page.theList}</Anchor>),
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
    return <PendingView query={found} what={words.artefactDiff.page.what} />;
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
            {words.artefactDiff.table.normalised(data.diff.normalisation)}
          </Text>
        )}
        {data.diff.warnings.map((warning) => (
          <Text key={warning} fz="sm" c="var(--warn)">
            {warning}
          </Text>
        ))}
      </section>
      {before === after && <Alert my="sm">{words.artefactDiff.page.same}</Alert>}
      <Pairs data={data} onView={onView} />
      {stacks !== null && <FlameDiff before={stacks.before} after={stacks.after} />}
      {data.diff.table !== null && <DiffTable table={data.diff.table} query={query} view={view} onView={onView} />}
      {data.diff.histogram !== null && <DiffHistogram diff={data.diff.histogram} query={query} view={view} onView={onView} />}
      <Answers artefact={data.after} title={words.artefactDiff.answers.after} />
      {before !== after && <Answers artefact={data.before} title={words.artefactDiff.answers.before} />}
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
          {words.artefactDiff.page.swap}
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
            {words.artefactDiff.page.compareHosts}
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
  const page = words.artefactDiff.page;
  const name =
    [artefact.title, artefact.question, artefact.file_name].find((text) => text !== "") ?? page.number(String(artefact.id));
  const duration = artefact.duration_s === null ? page.unknownDuration : page.duration(formatDigits(artefact.duration_s));
  const facts = [artefact.host, artefact.tool, whenOf(artefact, zone), duration, artefact.effect === "heavy" ? page.slowed : ""];
  return (
    <section className={`card diff-head diff-${side}`} aria-label={page[side]}>
      <Text fz="xs" fw={700} className={`diff-side-${side}`}>
        {page[side]}
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
  const page = words.artefactDiff.page;
  return (
    <Select
      size="xs"
      maw={420}
      mb="xs"
      label={page.partsOfPair}
      allowDeselect={false}
      data={pairs.map((each, at) => ({
        value: String(at),
        label: `${String(at + 1)}. ${each.after === null ? page.onlyBefore(each.title) : each.before === null ? page.onlyAfter(each.title) : each.title}`,
        disabled: each.before === null || each.after === null,
      }))}
      value={pair === null ? null : String(pair)}
      onChange={(text) => {
        onView({ pair: text === null ? null : Number(text), column: null, group: [], normalisation: null, search: "" });
      }}
    />
  );
}
