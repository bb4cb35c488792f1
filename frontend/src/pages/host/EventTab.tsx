import { useState } from "react";
import { EventTable } from "../../components/EventTable";
import type { Zone } from "../../logic/zone";
import { DEFAULT_EVENT_LIST, type EventListView } from "../../state/events";
import type { Clock } from "../../state/url";

interface EventTabProps {
  readonly host: string;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** All events of a host, those of all hosts among them. */
export function EventTab({ host, zone, clock }: EventTabProps) {
  const [view, setView] = useState<EventListView>({ ...DEFAULT_EVENT_LIST, hosts: [host] });
  return (
    <EventTable
      host={host}
      view={view}
      zone={zone}
      clock={clock}
      onView={(change) => {
        setView({ ...view, page: 0, ...change });
      }}
    />
  );
}
