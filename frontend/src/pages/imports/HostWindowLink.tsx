import { Tooltip } from "@mantine/core";
import { PageLink } from "../../components/PageLink";
import { useZone } from "../../components/zone";
import { windowToShow } from "../../logic/imports";
import { type Window, wholeSecond } from "../../logic/time";
import { formatWindow } from "../../logic/zone";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

interface HostWindowLinkProps {
  readonly host: string;
  readonly window: Window;
  readonly clock: Clock;
}

/** The window of the loaded samples, as a link to their graphs. */
export function HostWindowLink({ host, window: loaded, clock }: HostWindowLinkProps) {
  const range = { kind: "fixed", window: windowToShow(loaded) } as const;
  return (
    <Tooltip label={`Show on the page of ${host}`}>
      <PageLink to="/hosts/$host" params={{ host }} search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, range })} fz="sm">
        {formatWindow(useZone(clock), { start: wholeSecond(loaded.start), end: wholeSecond(loaded.end) })}
      </PageLink>
    </Tooltip>
  );
}
