import type { Scheme } from "../../logic/palette";
import { strokeOf } from "../../logic/palette";
import { describeStates, stateParts, stateSlot, stateTitle } from "../../logic/process_report";
import { percent } from "../../logic/surface";

interface StateBarProps {
  readonly states: readonly string[];
  readonly values: readonly (number | null)[];
  readonly scheme: Scheme;
}

/** The time of a process by state: one bar, its values as text for the pointer and for screen readers. */
export function StateBar({ states, values, scheme }: StateBarProps) {
  const parts = stateParts(states, values);
  const text = describeStates(parts);
  return (
    <span className="state-bar" role="img" aria-label={text} title={text}>
      {parts.map(({ state, share }) => (
        <span key={state} style={{ width: percent(share), background: strokeOf(stateSlot(state), scheme).color }} />
      ))}
    </span>
  );
}

/** What the colours of the bars mean. */
export function StateLegend({ states, scheme }: Pick<StateBarProps, "states" | "scheme">) {
  return (
    <ul className="state-legend" aria-label="Colours of the states">
      {states.map((state) => (
        <li key={state}>
          <span style={{ background: strokeOf(stateSlot(state), scheme).color }} aria-hidden />
          {stateTitle(state)}
        </li>
      ))}
    </ul>
  );
}
