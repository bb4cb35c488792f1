import { FLAME_KINDS, kindColour, type Scheme } from "../../logic/flame_colour";
import { words } from "../../words";

/** What the colours of frames mean. */
export function FlameLegend({ scheme }: { readonly scheme: Scheme }) {
  return (
    <div className="flame-legend">
      {FLAME_KINDS.map((kind) => (
        <span key={kind}>
          <i style={{ background: kindColour(kind, scheme) }} aria-hidden />
          {words.flame.kinds[kind]}
        </span>
      ))}
    </div>
  );
}
