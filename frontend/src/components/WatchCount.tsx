import { VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { openNowQuery } from "../api/watch";
import { formatCount } from "../logic/number";
import { words } from "../words";
import "./ColourBadge.css";

/** How many entries of the page Watch wait for somebody, in the colour of the worst; nothing while none does. */
export function WatchCount() {
  const open = useQuery(openNowQuery(null)).data;
  return open === undefined || open.n_waiting === 0 ? null : (
    <span className="shell-count" data-colour={open.worst}>
      <span aria-hidden>{formatCount(open.n_waiting)}</span>
      <VisuallyHidden>, {words.watch.watchPage.nWaiting(open.n_waiting)}</VisuallyHidden>
    </span>
  );
}
