import { useQuery, type UseQueryResult, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { openNowQuery } from "../../api/watch";
import { useMe } from "../../components/me";
import { PendingView, StateView } from "../../components/StateView";
import { TagHostsDialog } from "../../components/TagHostsDialog";
import { useZone } from "../../components/zone";
import type { Fleet, FleetHost } from "../../logic/api";
import { hourOf, sortFleet, tagsOf, tagWord, toItems, withWord } from "../../logic/fleet";
import { SECOND, toEpochMs, type Window } from "../../logic/time";
import { useNow } from "../../state/clock";
import type { FleetView } from "../../state/fleet";
import { FleetTable } from "./FleetTable";
import { MarkHostsDialog } from "./MarkHostsDialog";
import { SelectionBar } from "./SelectionBar";

interface FleetBodyProps {
  readonly fleet: UseQueryResult<Fleet>;
  readonly view: FleetView;
  readonly shown: readonly FleetHost[];
  readonly set: (change: Partial<FleetView>) => void;
  readonly hasTools: boolean;
}

/** The table with its selection, or why there is none. */
export function FleetBody({ fleet, view, shown, set, hasTools }: FleetBodyProps) {
  const me = useMe();
  const client = useQueryClient();
  const now = useNow(SECOND);
  const zone = useZone(view.clock);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isTagging, setTagging] = useState(false);
  const [marking, setMarking] = useState<readonly string[] | null>(null);
  const open = useQuery(openNowQuery(view.at)).data;
  const on = useMemo(() => new Map((open?.hosts ?? []).map((each) => [each.host, each])), [open]);
  const sorted = useMemo(() => sortFleet(shown, view.sort, on), [shown, view.sort, on]);
  const items = useMemo(() => toItems(sorted, view.hasRecorded || view.filter !== ""), [sorted, view.hasRecorded, view.filter]);
  const select = useCallback((hosts: readonly string[], isOn: boolean): void => {
    setSelected((before) => {
      const next = new Set(before);
      for (const host of hosts) {
        if (isOn) {
          next.add(host);
        } else {
          next.delete(host);
        }
      }
      return next;
    });
  }, []);
  const mark = useCallback((host: string) => {
    setMarking([host]);
  }, []);
  const showTag = useCallback(
    (tag: string) => {
      set({ filter: withWord(view.filter, tagWord(tag)) });
    },
    [set, view.filter],
  );
  const end = fleet.data === undefined ? now : toEpochMs(view.at ?? now);
  const hour: Window = hourOf(toEpochMs(fleet.data?.end_ms ?? now), fleet.data?.n_minutes ?? 60);
  const pastHour = useMemo<Window | null>(() => (view.at === null ? null : hourOf(view.at, 60)), [view.at]);
  const chosen = shown.map(({ name }) => name).filter((name) => selected.has(name));
  const isOperator = me.role !== "viewer";

  if (fleet.data === undefined) {
    return (
      <div className="card">
        <PendingView query={fleet} what="hosts" />
      </div>
    );
  }
  if (shown.length === 0) {
    return (
      <div className="card">
        <StateView
          state={
            fleet.data.hosts.length === 0
              ? {
                  kind: "empty",
                  title: me.is_limited ? "You see no hosts" : "No hosts yet",
                  next: me.is_limited
                    ? "Your account sees only the hosts of its host groups, and they have none. An administrator can add groups to the account."
                    : "Run the command above on a host that you want to monitor. The host appears here once it sends data, usually within 15 seconds; this page refreshes by itself.",
                }
              : { kind: "empty", title: `No hosts match “${view.filter}”`, next: "Clear the filter to see all hosts." }
          }
        />
      </div>
    );
  }
  return (
    <>
      {hasTools && chosen.length > 0 && (
        <SelectionBar
          hosts={chosen}
          hour={hour}
          now={now}
          clock={view.clock}
          isPast={view.at !== null}
          canMark={isOperator}
          onMark={() => {
            setMarking(chosen);
          }}
          onTag={() => {
            setTagging(true);
          }}
          onClear={() => {
            setSelected(new Set());
          }}
        />
      )}
      <FleetTable
        items={items}
        view={view}
        past={pastHour}
        selected={selected}
        on={on}
        hasTools={hasTools}
        onSort={(sort) => {
          set({ sort });
        }}
        onFold={() => {
          set({ hasRecorded: !view.hasRecorded });
        }}
        onSelect={select}
        onMark={mark}
        onTag={showTag}
      />
      {isTagging && chosen.length > 0 && (
        <TagHostsDialog
          hosts={shown.filter(({ name }) => selected.has(name))}
          known={tagsOf(fleet.data.hosts).map(({ name }) => name)}
          onClose={() => {
            setTagging(false);
          }}
        />
      )}
      {marking !== null && (
        <MarkHostsDialog
          hosts={marking}
          end={end}
          zone={zone}
          onClose={() => {
            setMarking(null);
          }}
          onDone={() => {
            setMarking(null);
            void client.invalidateQueries({ queryKey: ["fleet"] });
          }}
        />
      )}
    </>
  );
}
