import { percent } from "../../logic/surface";

/** How large something is beside the largest of its table; the number stands beside it. */
export function SizeBar({ share }: { readonly share: number }) {
  return (
    <div className="size-bar" aria-hidden>
      <div style={{ width: percent(share) }} />
    </div>
  );
}
