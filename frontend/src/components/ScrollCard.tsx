import type { ReactNode } from "react";

interface ScrollCardProps {
  /** What is inside, for people who come to it by keyboard. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A card whose content may be wider than the page; it can be scrolled by keyboard too. */
export function ScrollCard({ label, children }: ScrollCardProps) {
  return (
    <div className="card scroll-card" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
