import { IconCircleCheck } from "@tabler/icons-react";
import type { Comparison } from "../../logic/api";
import { describeAccount } from "../../logic/group";

/** The result without findings, and what to check next. */
export function Verdict({ comparison }: { readonly comparison: Comparison }) {
  const { appeared, disappeared, muted } = comparison.counts;
  return (
    <section className="verdict-big" aria-label="Verdict">
      <IconCircleCheck size={40} aria-hidden />
      <p className="verdict-sentence">{comparison.verdict}</p>
      <p className="soft">{describeAccount(comparison)}.</p>
      <p>
        Does this window contain the problem? Is the baseline normal operation?
        {appeared + disappeared > 0 && " Series that appeared or disappeared have their own list."}
        {muted > 0 && " Muted series have their own list."}
      </p>
    </section>
  );
}
