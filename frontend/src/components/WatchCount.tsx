import { VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { openNowQuery } from "../api/watch";
import { formatCount } from "../logic/number";
import type { Clock } from "../state/url";
import { encodeClock } from "../state/zone_choice";
import "./ColourBadge.css";

/** How many entries of the page of incidents need attention, in the colour of the worst; nothing while none does. */
export function WatchCount() {
  const open = useQuery(openNowQuery(null)).data;
  return open === undefined || open.n_waiting === 0 ? null : (
    <span className="shell-count" data-colour={open.worst}>
      {formatCount(open.n_waiting)}
      <VisuallyHidden> {open.n_waiting === 1 ? "needs attention" : "need attention"}</VisuallyHidden>
    </span>
  );
}

/** The same as a link of its own, where the pages are folded into a menu. */
export function WatchCountLink({ clock }: { readonly clock: Clock }) {
  const open = useQuery(openNowQuery(null)).data;
  return open === undefined || open.n_waiting === 0 ? null : (
    <Link to="/incidents" search={encodeClock(clock)} className="shell-waiting">
      <WatchCount />
    </Link>
  );
}
