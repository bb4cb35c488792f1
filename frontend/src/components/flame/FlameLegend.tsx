import { FLAME_KINDS, kindColour, type Scheme } from "../../logic/flame_colour";

const KINDS = {
  kernel: "kernel",
  native: "native code",
  scoped: "C++, Rust (::)",
  managed: "Java, Python or JavaScript",
  unknown: "without symbols",
};

/** What the colours of frames mean. */
export function FlameLegend({ scheme }: { readonly scheme: Scheme }) {
  return (
    <div className="flame-legend">
      {FLAME_KINDS.map((kind) => (
        <span key={kind}>
          <i style={{ background: kindColour(kind, scheme) }} aria-hidden />
          {KINDS[kind]}
        </span>
      ))}
    </div>
  );
}
