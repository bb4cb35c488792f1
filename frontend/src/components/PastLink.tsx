import type { ReactNode } from "react";
import type { PastIncident } from "../logic/api";
import { fromApi, lengthOf, toEpochMs } from "../logic/time";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../state/comparison";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";
import { PageLink } from "./PageLink";

interface PastLinkProps {
  readonly incident: PastIncident;
  readonly clock: Clock;
  readonly children: ReactNode;
}

/** Leads to the saved comparison of a past incident, else to the graphs of its window; one of a bundle may be of no host here. */
export function PastLink({ incident, clock, children }: PastLinkProps) {
  const [host] = incident.hosts;
  if (incident.comparison !== null) {
    const search = encodeComparisonView({ ...DEFAULT_COMPARISON_VIEW, clock, savedId: incident.comparison });
    return (
      <PageLink fz="inherit" to="/comparison" search={search}>
        {children}
      </PageLink>
    );
  }
  if (host === undefined) {
    return <>{children}</>;
  }
  const mark = { start: fromApi(incident.start), end: fromApi(incident.end) };
  const margin = lengthOf(mark);
  const window = { start: toEpochMs(mark.start - margin), end: toEpochMs(mark.end + margin) };
  return (
    <PageLink
      fz="inherit"
      to="/hosts/$host"
      params={{ host }}
      search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, mark, range: { kind: "fixed", window } })}
    >
      {children}
    </PageLink>
  );
}
