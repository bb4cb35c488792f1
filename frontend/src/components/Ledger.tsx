import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Fragment, useId, useState } from "react";
import type { Comparison, LedgerLine, LedgerPart, StatInfo } from "../logic/api";
import { statOf } from "../logic/comparison";
import {
  barOf,
  certaintyOf,
  culpritsOf,
  describeChange,
  describeAmount,
  describeNormal,
  describeNow,
  describePartNormal,
  describeReason,
  describeShare,
  describeTaken,
  describeUnseen,
  farthestWindows,
  isNormal,
  ledgersOf,
  nameOf,
  resourceOf,
  stripOf,
  windowLength,
} from "../logic/ledger";
import { processOf } from "../logic/process";
import { surroundings } from "../logic/range";
import { describeDuration, type Window, wholeSecond } from "../logic/time";
import { formatClock } from "../logic/zone";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";
import { PageLink } from "./PageLink";
import { useZone } from "./zone";
import { counted } from "../logic/counted";
import "./Ledger.css";

interface LedgerProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
  /** The incident, to which links to processes lead. */
  readonly window: Window;
  readonly clock: Clock;
}

/** Who took what of each host's resources. Nothing for a comparison without a ledger. */
export function Ledger({ comparison, ...props }: LedgerProps) {
  return ledgersOf(comparison).map(({ host, lines }) => (
    <HostTable key={host} {...props} host={comparison.hosts.length > 1 ? host : null} lines={lines} />
  ));
}

type Around = Omit<LedgerProps, "comparison">;

interface HostTableProps extends Around {
  /** Null: the only one. */
  readonly host: string | null;
  readonly lines: readonly LedgerLine[];
}

function HostTable({ host, lines, ...around }: HostTableProps) {
  return (
    <div className="ledger">
      <table className="ledger-table">
        <caption>{host === null ? "Who took what" : `Who took what on ${host}`}</caption>
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">Now</th>
            <th scope="col">Normal range</th>
            <td className="ledger-bar-cell" />
            <th scope="col">Who</th>
            <th scope="col">Certainty</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <Row key={`${line.resource} ${line.instance}`} line={line} {...around} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ line, ...around }: Around & { readonly line: LedgerLine }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const { title, device } = resourceOf(line);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <>
      <tr data-certainty={line.certainty} data-resource={line.resource} data-open={isOpen}>
        <th scope="row">
          <button
            type="button"
            className="ledger-toggle"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => {
              setOpen(!isOpen);
            }}
          >
            <Chevron size={14} aria-hidden />
            <span>
              {title} {device !== "" && <span className="ledger-device">{device}</span>}
            </span>
          </button>
        </th>
        <td className="ledger-now">{describeNow(line)}</td>
        <td className="ledger-normal">{describeNormal(line)}</td>
        <td className="ledger-bar-cell">
          <UseBar line={line} />
        </td>
        <td className="ledger-who">
          <Who line={line} />
        </td>
        <td className="ledger-certainty">{certaintyOf(line)}</td>
      </tr>
      <tr id={id} className="ledger-more" hidden={!isOpen}>
        <td colSpan={6}>{isOpen && <Parts line={line} title={`${title} ${device}`.trim()} {...around} />}</td>
      </tr>
    </>
  );
}

/** The normal range, the capacity and the amount; the cells beside it say the same in numbers. */
function UseBar({ line }: { readonly line: LedgerLine }) {
  const { low, width, now, isWhole } = barOf(line);
  return (
    <span className="ledger-bar" data-whole={isWhole} aria-hidden>
      <span className="ledger-bar-normal" style={{ left: `${String(low)}%`, width: `${String(width)}%` }} />
      <span className="ledger-bar-now" style={{ left: `${String(now)}%` }} />
    </span>
  );
}

function Who({ line }: { readonly line: LedgerLine }) {
  const culprits = culpritsOf(line);
  if (culprits.length === 0) {
    return isNormal(line) ? null : <span className="soft">{describeUnseen(line)}</span>;
  }
  return (
    <>
      {culprits.map((part) => (
        <Fragment key={`${part.name} ${part.quantity}`}>
          <span className="ledger-culprit">
            <b>{part.name}</b> {[describeTaken(part), describeShare(part)].filter((text) => text !== "").join(", ")}
            <Badge part={part} />
          </span>{" "}
        </Fragment>
      ))}
      {line.note !== "" && <span className="soft">{line.note}</span>}
    </>
  );
}

function Badge({ part }: { readonly part: LedgerPart }) {
  const kind = part.is_gone ? "gone" : part.is_new ? "new" : null;
  return (
    kind !== null && (
      <span className="ledger-badge" data-change={kind}>
        {kind === "new" ? "new" : "gone"}
      </span>
    )
  );
}

/** All parts of a line, the remainder, and how certain the line is. */
function Parts({ line, title, stats, window, clock }: Around & { readonly line: LedgerLine; readonly title: string }) {
  const parts = line.remainder === null ? line.parts : [...line.parts, line.remainder];
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
  return (
    <>
      {parts.length === 0 ? (
        <p>{describeUnseen(line)}</p>
      ) : (
        <table className="ledger-parts" aria-label={`Parts of ${title}`}>
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
            {parts.map((part) => (
              <tr
                key={`${part.name} ${part.quantity} ${part.pids.join(" ")}`}
                data-kind={part.kind}
                data-outside={part.is_outside}
              >
                <th scope="row">
                  <Linked host={line.host} search={link(part, null)} text={nameOf(line, part)} />
                  <Badge part={part} />
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
            ))}
          </tbody>
        </table>
      )}
      <p className="soft">
        {certaintyOf(line)}: {describeReason(line)}
      </p>
      {line.windows.length > 0 && <Windows line={line} clock={clock} />}
    </>
  );
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
