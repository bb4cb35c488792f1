import { percent } from "../../logic/surface";

/** A size relative to the largest of its table, as a bar beside the number. */
export function SizeBar({ share }: { readonly share: number }) {
  return (
    <div className="size-bar" aria-hidden>
      <div style={{ width: percent(share) }} />
    </div>
  );
}
