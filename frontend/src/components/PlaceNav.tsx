import { Link } from "@tanstack/react-router";
import { type Clock, encodeClock } from "../state/zone_choice";
import type { Place } from "./places";
import { WatchCount } from "./WatchCount";

interface PlacesProps {
  readonly places: readonly Place[];
  /** The place of the page that is open. Null: none. */
  readonly open: Place | null;
  readonly clock: Clock;
  readonly hasCount: boolean;
  readonly isMenuOpen: boolean;
  readonly onLeave: () => void;
}

/** The five places; folded into a menu, each has its pages below it. */
export function Places({ places, open, clock, hasCount, isMenuOpen, onLeave }: PlacesProps) {
  return (
    <nav className="shell-nav" data-open={isMenuOpen} aria-label="Pages">
      {places.map((place) => {
        const { label, pages } = place;
        return (
          <div key={label} className="shell-place">
            <Link
              to={pages[0].to}
              search={encodeClock(clock)}
              className="shell-link"
              data-open={place === open}
              onClick={onLeave}
            >
              {label}
              {label === "Incidents" && hasCount && <WatchCount />}
            </Link>
            {isMenuOpen && pages.length > 1 && (
              <div className="shell-place-pages">
                {pages.map(({ to, label: page }) => (
                  <Link key={to} to={to} search={encodeClock(clock)} className="shell-link" onClick={onLeave}>
                    {page}
                  </Link>
                ))}
              </div>
            )}
          </div>
        );
      })}
    </nav>
  );
}

/** The pages of the open place, below the header. */
export function PlacePages({ place, clock }: { readonly place: Place; readonly clock: Clock }) {
  return (
    <nav className="place-pages no-print" aria-label={place.label}>
      {place.pages.map(({ to, label }) => (
        <Link key={to} to={to} search={encodeClock(clock)} className="place-page">
          {label}
        </Link>
      ))}
    </nav>
  );
}
