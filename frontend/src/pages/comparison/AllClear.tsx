import { IconCircleCheck, IconInfoCircle } from "@tabler/icons-react";
import type { Comparison, StatInfo } from "../../logic/api";
import { describeAccount } from "../../logic/group";
import { isAllClear } from "../../logic/story";

interface AllClearProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
}

/** The result without findings, and what to check next. A tick only where every series that matters was judged. */
export function AllClear({ comparison, stats }: AllClearProps) {
  const { appeared, disappeared, insufficient_data, muted } = comparison.counts;
  const isClear = isAllClear(comparison, stats);
  return (
    <section className="verdict-big" aria-label="Verdict" data-clear={isClear}>
      {isClear ? <IconCircleCheck size={40} aria-hidden /> : <IconInfoCircle size={40} aria-hidden />}
      <p className="verdict-sentence">{comparison.verdict}</p>
      <p className="soft">{describeAccount(comparison)}.</p>
      <p>
        Does this window contain the problem? Is the baseline normal operation?
        {appeared + disappeared > 0 && " The chips show series that are new or gone."}
        {insufficient_data > 0 && " Series without enough data were not judged; a longer window judges more of them."}
        {muted > 0 && " Muted series have a chip, too."}
      </p>
    </section>
  );
}
