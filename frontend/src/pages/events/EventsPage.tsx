import { Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { EventTable } from "../../components/EventTable";
import { IgnoredNote } from "../../components/IgnoredNote";
import { useZone } from "../../components/zone";
import { decodeEventsView, encodeEventsView } from "../../state/events";

/** The events of all hosts: what was noted, deployed, logged and changed. */
export function EventsPage() {
  useDocumentTitle("Events · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeEventsView(search), [search]);
  const navigate = useNavigate();
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Title order={1} mb="sm">
        Events
      </Title>
      <EventTable
        host={null}
        view={view}
        zone={useZone(view.clock)}
        clock={view.clock}
        onView={(change) => {
          void navigate({ to: "/events", search: encodeEventsView({ ...view, page: 0, ...change }), replace: true });
        }}
      />
    </div>
  );
}
