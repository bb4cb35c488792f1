import { IconCircleCheck } from "@tabler/icons-react";
import type { Comparison } from "../../logic/api";
import { describeAccount } from "../../logic/group";

/** Nothing unusual: said so that nobody overlooks it, with what else could be looked at. */
export function Verdict({ comparison }: { readonly comparison: Comparison }) {
  const { one_sided, muted } = comparison.counts;
  return (
    <section className="verdict-big" aria-label="Verdict">
      <IconCircleCheck size={40} aria-hidden />
      <p className="verdict-sentence">{comparison.verdict}</p>
      <p className="soft">{describeAccount(comparison)}.</p>
      <p>
        Was the trouble in this window? Was the baseline normal?
        {one_sided > 0 && " Series that appeared or vanished are listed apart."}
        {muted > 0 && " Muted series are listed apart."}
      </p>
    </section>
  );
}
