import type { ReactNode } from "react";

interface ScrollCardProps {
  /** The accessible name of the content. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A card that scrolls, by keyboard too, when its content is wider than the page. */
export function ScrollCard({ label, children }: ScrollCardProps) {
  return (
    <div className="card scroll-card" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
