import { Fragment } from "react";
import { shortenPath } from "../../logic/flame";

const MAX_STEPS = 6;

interface FlamePathProps {
  /** Names from the first frame to the focus. */
  readonly names: readonly string[];
  /** Go to the first n of them, 0 for the whole. */
  readonly onStep: (nSteps: number) => void;
}

/** Where a zoomed flame graph is, and the way back. */
export function FlamePath({ names, onStep }: FlamePathProps) {
  const steps = shortenPath(
    names.map((name, index) => ({ name, n: index + 1 })),
    MAX_STEPS,
  );
  return (
    <nav className="flame-path" aria-label="Zoomed to">
      <button
        type="button"
        className="text-button"
        onClick={() => {
          onStep(0);
        }}
      >
        all
      </button>
      {steps.map((step, index) => (
        <Fragment key={step?.n ?? `gap ${String(index)}`}>
          <span aria-hidden>›</span>
          {step === null ? (
            <span className="soft">…</span>
          ) : (
            <button
              type="button"
              className="text-button"
              title={step.name}
              {...(step.n === names.length ? { "aria-current": "location" as const } : {})}
              onClick={() => {
                onStep(step.n);
              }}
            >
              {step.name}
            </button>
          )}
        </Fragment>
      ))}
    </nav>
  );
}
