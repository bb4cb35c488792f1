import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Fragment, type ReactNode, useState } from "react";
import { PageLink } from "../../components/PageLink";
import { useZone } from "../../components/zone";
import type { LedgerLine, LedgerPart, StatInfo } from "../../logic/api";
import { statOf } from "../../logic/comparison";
import { counted } from "../../logic/counted";
import {
  certaintyOf,
  describeAmount,
  describeChange,
  describePartNormal,
  describeReason,
  describeShare,
  describeUnseen,
  farthestWindows,
  lineTitle,
  nameOf,
  partTree,
  stripOf,
  windowLength,
} from "../../logic/ledger";
import { processOf } from "../../logic/process";
import { surroundings } from "../../logic/range";
import { describeDuration, type Window, wholeSecond } from "../../logic/time";
import { formatClock } from "../../logic/zone";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { ChangeBadge } from "./ChangeBadge";

interface LedgerPartsProps {
  readonly line: LedgerLine;
  readonly stats: readonly StatInfo[];
  /** The incident, to which links to processes lead. */
  readonly window: Window;
  readonly clock: Clock;
}

/** All parts of a line, the remainder, and how certain the line is. */
export function LedgerParts({ line, stats, window, clock }: LedgerPartsProps) {
  const tree = partTree(line);
  const [shown, setShown] = useState<ReadonlySet<string>>(
    () => new Set(tree.units.filter(({ parts }) => parts.some((part) => part.is_culprit)).map(({ unit }) => keyOf(unit))),
  );
  const toggle = (key: string): void => {
    setShown((before) => new Set(before.has(key) ? [...before].filter((one) => one !== key) : [...before, key]));
  };
  const link = (part: LedgerPart, pid: number | null) => {
    const process = processOf(statOf(stats, part.stat), part.instance);
    return (
      process &&
      encodeHostView({
        ...DEFAULT_HOST_VIEW,
        clock,
        tab: "processes",
        process: { command: process.command, pid: pid ?? process.pid },
        range: { kind: "fixed", window: surroundings(window) },
        mark: window,
      })
    );
  };
  const row = (part: LedgerPart, name: ReactNode, isInUnit = false) => (
    <tr key={keyOf(part)} data-kind={part.kind} data-outside={part.is_outside} data-in-unit={isInUnit}>
      <th scope="row">
        {name}
        <ChangeBadge change={part.is_gone ? "gone" : part.is_new ? "new" : null} />
      </th>
      <td>{describeAmount(part, part.incident)}</td>
      <td>{describePartNormal(part)}</td>
      <td>{describeChange(part)}</td>
      <td>{describeShare(part)}</td>
      <td>
        {part.pids.map((pid, index) => (
          <Fragment key={pid}>
            {index > 0 && ", "}
            <Linked host={line.host} search={link(part, pid)} text={String(pid)} />
          </Fragment>
        ))}
      </td>
      <td>
        <Strip of={part} />
      </td>
    </tr>
  );
  const process = (part: LedgerPart, isInUnit: boolean) =>
    row(part, <Linked host={line.host} search={link(part, null)} text={nameOf(line, part)} />, isInUnit);
  return (
    <>
      {tree.others.length + tree.units.length === 0 ? (
        <p>{describeUnseen(line)}</p>
      ) : (
        <div className="ledger-parts-scroll">
          <table className="ledger-parts" aria-label={`Parts of ${lineTitle(line)}`}>
            <thead>
              <tr>
                <th scope="col">Who</th>
                <th scope="col">Now</th>
                <th scope="col">Normal range</th>
                <th scope="col">Change</th>
                <th scope="col">Share of the change</th>
                <th scope="col">Process ids</th>
                <th scope="col">Windows</th>
              </tr>
            </thead>
            <tbody>
              {tree.units.map(({ unit, parts }) => {
                const key = keyOf(unit);
                const isOpen = shown.has(key);
                return (
                  <Fragment key={key}>
                    {row(
                      unit,
                      parts.length === 0 ? (
                        <span className="ledger-unit">{unit.name}</span>
                      ) : (
                        <button
                          type="button"
                          className="text-button ledger-unit"
                          aria-expanded={isOpen}
                          title={isOpen ? "Hide its processes" : "Show its processes"}
                          onClick={() => {
                            toggle(key);
                          }}
                        >
                          {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
                          {unit.name}
                        </button>
                      ),
                    )}
                    {isOpen && parts.map((part) => process(part, true))}
                  </Fragment>
                );
              })}
              {tree.others.map((part) => process(part, false))}
            </tbody>
          </table>
        </div>
      )}
      <p className="soft">
        {certaintyOf(line)}: {describeReason(line)}
      </p>
      {line.windows.length > 0 && <Windows line={line} clock={clock} />}
    </>
  );
}

function keyOf(part: LedgerPart): string {
  return `${part.kind} ${part.name} ${part.quantity} ${part.pids.join(" ")}`;
}

/** How the windows of the baseline lie beside the incident, and when those were that moved most. */
function Windows({ line, clock }: { readonly line: LedgerLine; readonly clock: Clock }) {
  const zone = useZone(clock);
  const link = (window: Window) =>
    encodeHostView({ ...DEFAULT_HOST_VIEW, clock, range: { kind: "fixed", window: surroundings(window) }, mark: window });
  return (
    <p className="soft">
      <Strip of={line} />{" "}
      {`${counted(line.windows.length, "window")} of the baseline, ${describeDuration(windowLength(line))} each, and the incident; farthest from their middle:`}{" "}
      {farthestWindows(line).map(({ window, amount }, index) => (
        <Fragment key={window.start}>
          {index > 0 && ", "}
          <Linked host={line.host} search={link(window)} text={`${amount} at ${formatClock(zone, wholeSecond(window.start))}`} />
        </Fragment>
      ))}
    </p>
  );
}

/** A mark for each window of the baseline, its normal range behind them, and the incident. */
function Strip({ of }: { readonly of: Parameters<typeof stripOf>[0] }) {
  const strip = stripOf(of);
  if (strip === null) {
    return null;
  }
  const place = (share: number): number => 2 + 116 * share;
  return (
    <svg className="ledger-strip" width="120" height="14" aria-hidden>
      <rect x={place(strip.low) - 1} y="3" width={116 * (strip.high - strip.low) + 2} height="8" />
      {strip.windows.map((share, at) => (
        <line key={at} x1={place(share)} x2={place(share)} y1="3" y2="11" />
      ))}
      <circle cx={place(strip.incident)} cy="7" r="3.5" />
    </svg>
  );
}

interface LinkedProps {
  readonly host: string;
  /** Null: it has no page. */
  readonly search: ReturnType<typeof encodeHostView> | null;
  readonly text: string;
}

function Linked({ host, search, text }: LinkedProps) {
  return search === null ? (
    text
  ) : (
    <PageLink to="/hosts/$host" params={{ host }} search={search} inherit>
      {text}
    </PageLink>
  );
}
