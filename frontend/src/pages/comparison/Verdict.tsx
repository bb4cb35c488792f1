import { IconCircleCheck, IconInfoCircle } from "@tabler/icons-react";
import type { Comparison, StatInfo } from "../../logic/api";
import { describeAccount } from "../../logic/group";
import { isAllClear } from "../../logic/story";
import { words } from "../../words";

interface VerdictProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
}

/** The result without findings, and what to check next. A tick only where every series that matters was judged. */
export function Verdict({ comparison, stats }: VerdictProps) {
  const { appeared, disappeared, insufficient_data, muted } = comparison.counts;
  const isClear = isAllClear(comparison, stats);
  return (
    <section className="verdict-big" aria-label={words.comparison.verdict.verdict} data-clear={isClear}>
      {isClear ? <IconCircleCheck size={40} aria-hidden /> : <IconInfoCircle size={40} aria-hidden />}
      <p className="verdict-sentence">{comparison.verdict}</p>
      <p className="soft">{describeAccount(comparison)}.</p>
      <p>
        {words.comparison.verdict.doesWindowContainProblem}
        {appeared + disappeared > 0 && words.comparison.verdict.seriesAppearedDisappearedHave}
        {insufficient_data > 0 && words.comparison.verdict.seriesWithoutEnoughSamples}
        {muted > 0 && words.comparison.verdict.mutedSeriesHaveTheir}
      </p>
    </section>
  );
}
