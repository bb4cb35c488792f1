/** A part with stacks. */
export interface StackReference {
  readonly artefact: number;
  readonly part: number;
}

interface FlameDiffProps {
  readonly before: StackReference;
  readonly after: StackReference;
}

/** Two parts with stacks, one over the other. */
export function FlameDiff({ before, after }: FlameDiffProps) {
  return <div className="card" data-before={before.artefact} data-after={after.artefact} />;
}
