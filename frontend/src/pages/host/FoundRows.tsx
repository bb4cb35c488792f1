import type { Clock } from "../../state/url";
import { EpisodeRows } from "./EpisodeRows";
import type { GraphContext } from "./graph";
import { ScoreRows } from "./ScoreRows";

/** What was found by itself in the window: what was unusual, and what rules say. */
export function FoundRows({ graph, clock }: { readonly graph: GraphContext; readonly clock: Clock }) {
  return (
    <>
      <ScoreRows graph={graph} />
      <EpisodeRows graph={graph} clock={clock} />
    </>
  );
}
