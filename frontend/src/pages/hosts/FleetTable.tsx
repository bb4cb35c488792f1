import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useMediaQuery } from "@mantine/hooks";
import type { HostOn } from "../../logic/api";
import { type FleetItem, type FleetSort, moveRow, RESOURCE_LABELS, RESOURCES, sliceOf, stepsOf } from "../../logic/fleet";
import { SECOND, type Window } from "../../logic/time";
import { useNow } from "../../state/clock";
import { useDensity } from "../../state/density";
import type { FleetView } from "../../state/fleet";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { FleetRow } from "./FleetRow";

interface FleetTableProps {
  readonly items: readonly FleetItem[];
  readonly view: FleetView;
  readonly past: Window | null;
  readonly selected: ReadonlySet<string>;
  /** What rules find, by host. */
  readonly on: ReadonlyMap<string, HostOn>;
  readonly hasTools: boolean;
  readonly onSort: (sort: FleetSort) => void;
  readonly onFold: () => void;
  readonly onSelect: (hosts: readonly string[], isOn: boolean) => void;
  readonly onMark: (host: string) => void;
  readonly onTag: (tag: string) => void;
}

/** Pixels of a row: on a desk, with compact rows, on a phone, on a wall. fleet.css has the same. */
const ROWS = { desk: 58, compact: 36, phone: 104, wall: 80 } as const;

const COLUMNS: readonly { readonly sort: FleetSort | null; readonly label: string; readonly className: string }[] = [
  { sort: "name", label: "Host", className: "fleet-host" },
  { sort: "state", label: "State", className: "fleet-state" },
  { sort: "unusual", label: "Unusual now", className: "fleet-verdict" },
  { sort: null, label: "Last hour", className: "fleet-ribbon-cell" },
  ...RESOURCES.map((resource) => ({ sort: resource, label: RESOURCE_LABELS[resource], className: "fleet-spark-cell" })),
];

/** The hosts, of which only the rows in view are drawn. */
export function FleetTable(props: FleetTableProps) {
  const { items, view, past, selected, on, hasTools, onSort, onFold, onSelect, onMark, onTag } = props;
  const now = useNow(SECOND);
  const navigate = useNavigate();
  const isPhone = useMediaQuery("(max-width: 800px)", false, { getInitialValueInEffect: false });
  const density = useDensity();
  const height = view.isKiosk ? ROWS.wall : isPhone ? ROWS.phone : density === "compact" ? ROWS.compact : ROWS.desk;
  const body = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const lastPicked = useRef<number | null>(null);
  const { first, last } = useSlice(body, height, items.length);
  const shown = useMemo(() => items.slice(first, last), [items, first, last]);

  const select = useCallback(
    (host: string, isRange: boolean): void => {
      const at = items.findIndex((item) => item.kind === "host" && item.host.name === host);
      const from = isRange ? (lastPicked.current ?? at) : at;
      const some = items.slice(...(from <= at ? [from, at + 1] : [at, from + 1])).flatMap(hostNames);
      lastPicked.current = at;
      onSelect(some, !selected.has(host));
    },
    [items, onSelect, selected],
  );

  // The row that is to have the focus as soon as it is drawn.
  const wanted = useRef<number | null>(null);
  const focusWanted = (): void => {
    const row = body.current?.querySelector<HTMLElement>(`[data-row="${String(wanted.current)}"]`);
    if (row != null) {
      wanted.current = null;
      row.focus({ preventScroll: true });
    }
  };
  useEffect(focusWanted);

  const focusRow = (at: number): void => {
    setActive(at);
    const top = (body.current?.getBoundingClientRect().top ?? 0) + at * height;
    if (top < 120 || top + height > window.innerHeight) {
      window.scrollBy({ top: top - window.innerHeight / 2 });
    }
    wanted.current = at;
    focusWanted();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>("[data-row]");
    if (row === null || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const at = Number(row.dataset["row"]);
    const item = items[at];
    const next = moveRow(event.key, at, items.length, 10);
    if (next !== null) {
      event.preventDefault();
      focusRow(next);
    } else if (target !== row || item === undefined) {
      return;
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (item.kind === "fold") {
        onFold();
      } else {
        const range = past === null ? DEFAULT_HOST_VIEW.range : ({ kind: "fixed", window: past } as const);
        void navigate({
          to: "/hosts/$host",
          params: { host: item.host.name },
          search: encodeHostView({ ...DEFAULT_HOST_VIEW, clock: view.clock, range }),
        });
      }
    } else if (event.key === " " && item.kind === "host" && hasTools) {
      event.preventDefault();
      select(item.host.name, event.shiftKey);
    }
  };

  const allNames = items.flatMap(hostNames);
  const isAll = allNames.length > 0 && allNames.every((name) => selected.has(name));
  return (
    <div
      className="card fleet-table"
      role="table"
      aria-label="Hosts"
      aria-rowcount={items.length + 1}
      data-tools={hasTools}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className="fleet-head">
          {hasTools && (
            <div role="columnheader" className="fleet-check">
              <input
                type="checkbox"
                aria-label="Select all hosts shown"
                checked={isAll}
                onChange={() => {
                  onSelect(allNames, !isAll);
                }}
              />
            </div>
          )}
          {COLUMNS.map(({ sort, label, className }) => (
            <div
              key={label}
              role="columnheader"
              className={className}
              aria-sort={sort !== null && sort === view.sort ? (sort === "name" ? "ascending" : "descending") : undefined}
            >
              {sort === null ? (
                label
              ) : (
                <button
                  type="button"
                  className="fleet-sort"
                  data-on={sort === view.sort}
                  onClick={() => {
                    onSort(sort);
                  }}
                >
                  {label}
                </button>
              )}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" ref={body} className="fleet-body" style={{ height: items.length * height }}>
        {shown.map((item, place) => {
          const index = first + place;
          const style = { height, transform: `translateY(${String(index * height)}px)` };
          return item.kind === "fold" ? (
            <div key="fold" role="row" aria-rowindex={index + 2} data-row={index} className="fleet-row fleet-fold" style={style}>
              <div role="cell">
                <button type="button" className="text-button" aria-expanded={item.isOpen} onClick={onFold}>
                  {`${item.isOpen ? "▾" : "▸"} Recorded hosts (${String(item.n)})`}
                </button>
              </div>
            </div>
          ) : (
            <FleetRow
              key={item.host.name}
              host={item.host}
              on={on.get(item.host.name) ?? null}
              index={index}
              style={style}
              clock={view.clock}
              past={past}
              now={now}
              isActive={index === active}
              isSelected={selected.has(item.host.name)}
              hasTools={hasTools}
              onSelect={select}
              onMark={onMark}
              onTag={onTag}
            />
          );
        })}
      </div>
    </div>
  );
}

function hostNames(item: FleetItem): readonly string[] {
  return item.kind === "host" ? [item.host.name] : [];
}

/** Return the rows to draw, as the window is scrolled. */
function useSlice(body: RefObject<HTMLDivElement | null>, height: number, n: number) {
  const [place, setPlace] = useState({ offset: 0, viewHeight: 900 });
  useEffect(() => {
    const measure = (): void => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      // In steps of a few rows: scrolling by a pixel draws nothing again.
      const step = 4 * height;
      setPlace((before) => {
        const offset = stepsOf(-top, step);
        return before.offset === offset && before.viewHeight === window.innerHeight
          ? before
          : { offset, viewHeight: window.innerHeight };
      });
    };
    measure();
    window.addEventListener("scroll", measure, { passive: true });
    window.addEventListener("resize", measure);
    return () => {
      window.removeEventListener("scroll", measure);
      window.removeEventListener("resize", measure);
    };
  }, [body, height, n]);
  return sliceOf(place.offset, place.viewHeight, height, n);
}
