import { Group, List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { normalChangesQuery } from "../../api/normal";
import { PageLink } from "../../components/PageLink";
import type { ChangeOfNormal } from "../../logic/api";
import { counted } from "../../logic/counted";
import { eventSurroundings } from "../../logic/event";
import { fromApi } from "../../logic/time";
import { dayStart, formatDate, type Zone } from "../../logic/zone";
import { readNow } from "../../state/clock";
import type { Clock } from "../../state/url";
import { seriesGraph } from "./FillingUp";

/** Older ones are marks in the graphs and events of the host: a baseline has been marked since, or will never be. */
const RECENT_DAYS = 35;

interface NormalChangesProps {
  readonly host: string;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** Since when series of the host differ from the weeks before, in the last weeks, newest first; nothing where none does. */
export function NormalChanges({ host, zone, clock }: NormalChangesProps) {
  const [start] = useState(() => dayStart(zone, readNow(), RECENT_DAYS));
  const { data } = useQuery(normalChangesQuery(host, start));
  const recent = data?.changes ?? [];
  return (
    recent.length > 0 && (
      <section aria-label="Normal changed">
        {recent.map((change) => (
          <Change key={change.at} host={host} change={change} zone={zone} clock={clock} />
        ))}
      </section>
    )
  );
}

function Change({ host, change, zone, clock }: NormalChangesProps & { readonly change: ChangeOfNormal }) {
  const [isOpen, setIsOpen] = useState(false);
  const at = fromApi(change.at);
  const window = eventSurroundings(at, null, "normal");
  const [first, ...others] = change.series;
  const [near] = change.events;
  if (first === undefined) {
    return null;
  }
  return (
    <>
      <Group gap="4px 14px" mt={6} px={4} fz="sm">
        <Text fz="sm" fw={600}>
          Normal changed {formatDate(zone, at)}
        </Text>
        <PageLink
          fz="sm"
          to="/hosts/$host"
          params={{ host }}
          search={seriesGraph(first, window, clock)}
          title="Show it with the weeks before and after"
        >
          {change.sentence}
        </PageLink>
        {near !== undefined && (
          <Text fz="sm" className="soft">
            {near.sentence}
          </Text>
        )}
        {others.length > 0 && (
          <button
            type="button"
            className="text-button"
            aria-expanded={isOpen}
            onClick={() => {
              setIsOpen(!isOpen);
            }}
          >
            {isOpen ? "Hide series" : counted(others.length, "more series", "more series")}
          </button>
        )}
      </Group>
      {isOpen && (
        <List fz="sm" mt={4} pl={24} aria-label="Changed series">
          {others.map((series) => (
            <List.Item key={`${series.stat} ${series.field} ${series.instance}`}>
              <PageLink fz="sm" to="/hosts/$host" params={{ host }} search={seriesGraph(series, window, clock)}>
                {series.sentence}
              </PageLink>
            </List.Item>
          ))}
          {change.n_series > change.series.length && (
            <List.Item>{counted(change.n_series - change.series.length, "further series", "further series")}</List.Item>
          )}
        </List>
      )}
    </>
  );
}
