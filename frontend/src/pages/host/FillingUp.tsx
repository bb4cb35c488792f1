import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { forecastsQuery } from "../../api/forecasts";
import { PageLink } from "../../components/PageLink";
import type { Forecast } from "../../logic/api";
import { DAY, fromApi, toEpochMs, type Window } from "../../logic/time";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

/** More are shown when they are asked for. */
const SHOWN = 3;
const HISTORY_MS = 28 * DAY;

/** What of the host reaches a limit by its trend, the soonest first; nothing where nothing does. */
export function FillingUp({ host, clock }: { readonly host: string; readonly clock: Clock }) {
  const { data } = useQuery(forecastsQuery(host));
  const [hasAll, setHasAll] = useState(false);
  const filling = data?.forecasts.filter(({ state }) => state === "filling") ?? [];
  if (data === undefined || filling.length === 0) {
    return null;
  }
  const end = fromApi(data.at);
  const window = { start: toEpochMs(end - HISTORY_MS), end };
  return (
    <Group component="section" aria-label="Filling up" gap="4px 14px" mt={6} px={4} fz="sm">
      <Text fz="sm" fw={600}>
        Filling up
      </Text>
      {filling.slice(0, hasAll ? filling.length : SHOWN).map((own) => (
        <PageLink
          key={`${own.kind} ${own.instance}`}
          fz="sm"
          to="/hosts/$host"
          params={{ host }}
          search={seriesGraph(own, window, clock)}
          title="Show the level of the last four weeks"
        >
          {own.sentence}
        </PageLink>
      ))}
      {filling.length > SHOWN && !hasAll && (
        <button
          type="button"
          className="text-button"
          onClick={() => {
            setHasAll(true);
          }}
        >
          {`${String(filling.length - SHOWN)} more`}
        </button>
      )}
    </Group>
  );
}

/** The link to a graph of one series in a window. */
export function seriesGraph(
  { stat, field, instance }: Pick<Forecast, "stat" | "field" | "instance">,
  window: Window,
  clock: Clock,
) {
  return encodeHostView({
    ...DEFAULT_HOST_VIEW,
    clock,
    range: { kind: "fixed", window },
    panels: [{ stat, fields: [field], choice: instance === "" ? { kind: "one" } : { kind: "only", names: [instance] } }],
  });
}
