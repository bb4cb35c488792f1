interface FlamePartProps {
  readonly artefact: number;
  /** Its position among the parts of the artefact. */
  readonly part: number;
}

/** A part with stacks as a flame graph. */
export function FlamePart({ artefact, part }: FlamePartProps) {
  return <div className="card" data-artefact={artefact} data-part={part} />;
}
