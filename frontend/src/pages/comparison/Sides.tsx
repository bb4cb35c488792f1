import { Group as Row, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { csvAddress } from "../../api/addresses";
import { baselinesQuery } from "../../api/queries";
import { PageLink } from "../../components/PageLink";
import { baselineTitle, newerVersion } from "../../logic/against";
import { toWindow } from "../../logic/comparison";
import type { Comparison, SideCoverage } from "../../logic/api";
import { describeAccount } from "../../logic/group";
import { formatCount } from "../../logic/number";
import { surroundings } from "../../logic/range";
import { describeDuration, lengthOf, SECOND, toDurationMs, type Window } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import type { RawSearch } from "../../state/search";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import { FactDifferences, useFactDifferences } from "./FactDifferences";

interface SidesProps {
  readonly comparison: Comparison;
  readonly incident: Window;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly onNewest: () => void;
}

/** Both sides, baseline left, incident right: closed in one line, opened with their windows, samples and facts that differ. */
export function Sides({ comparison, incident, zone, clock, onNewest }: SidesProps) {
  const { hosts, against, sides, divisor } = comparison;
  const common = { zone, clock };
  const differences = useFactDifferences(comparison, incident);
  return (
    <details className="card sides-fold">
      <summary>
        <span className="side-name" data-kind="baseline">
          {baselineTitle(against)}
        </span>{" "}
        <span className="soft">{describeDuration(toDurationMs(sides.baseline.covered_s * SECOND))}</span>
        {" · "}
        <span className="side-name" data-kind="incident">
          Incident
        </span>{" "}
        <span className="soft">{`${formatWindow(zone, incident)} ${zoneLabel(zone, incident.end)} (${describeDuration(lengthOf(incident))})`}</span>
        {differences !== null && differences.length > 0 && (
          <>
            {" · "}
            <b>{counted(differences.length, "fact differs", "facts differ")}</b>
          </>
        )}
      </summary>
      <div className="sides">
        <Side
          {...common}
          kind="baseline"
          title={baselineTitle(against)}
          hosts={against.host === null ? hosts : [against.host]}
          side={sides.baseline}
          windows={against.kind === "group" ? [] : against.windows.map(toWindow)}
        >
          {against.version !== null && <VersionNote comparison={comparison} onNewest={onNewest} />}
          {against.kind === "group" && <Members members={against.members ?? []} window={incident} clock={clock} />}
        </Side>
        <Side
          {...common}
          kind="incident"
          title={hosts.length > 1 ? `Incident on ${hosts.join(", ")}` : "Incident"}
          hosts={hosts}
          side={sides.incident}
          windows={[incident]}
        />
      </div>
      <Text fz="sm" className="soft" my={8}>
        {divisor !== null && (
          <>
            <b>{`Every series is divided by ${divisor}.`}</b> {comparison.divisor_note}{" "}
          </>
        )}
        {`${comparison.seasonal_note} ${describeAccount(comparison)}. Method ${String(comparison.method_version)}, ${formatCount(comparison.elapsed_ms)} ms.`}
      </Text>
      {differences !== null && <FactDifferences differences={differences} zone={zone} />}
    </details>
  );
}

const MAX_MEMBERS = 12;

/** The other hosts of the group, each with its graphs of that time. */
function Members({
  members,
  window,
  clock,
}: {
  readonly members: readonly string[];
  readonly window: Window;
  readonly clock: Clock;
}) {
  return (
    <Text fz="sm" className="soft">
      {members.slice(0, MAX_MEMBERS).map((host, index) => (
        <span key={host}>
          {index > 0 && ", "}
          <PageLink to="/hosts/$host" params={{ host }} search={hostSearch(window, clock, true)} fz="sm">
            {host}
          </PageLink>
        </span>
      ))}
      {members.length > MAX_MEMBERS && ` and ${formatCount(members.length - MAX_MEMBERS)} more`}
    </Text>
  );
}

/** Return the host page of a window, marked or not. */
function hostSearch(window: Window, clock: Clock, isMarked: boolean): RawSearch {
  return encodeHostView({
    ...DEFAULT_HOST_VIEW,
    clock,
    range: { kind: "fixed", window: surroundings(window, 0.2) },
    ...(isMarked ? { mark: window } : {}),
  });
}

/** The compared version, and the newest one if it differs. */
function VersionNote({ comparison, onNewest }: { readonly comparison: Comparison; readonly onNewest: () => void }) {
  const { against } = comparison;
  const baselines = useQuery(baselinesQuery(null)).data?.baselines ?? [];
  const newer = newerVersion(against, baselines);
  return (
    <Text fz="sm" className="soft" component="span">
      {nodes`version ${against.version}`}
      {newer !== null && (
        <>
          ; newer:{" "}
          <button type="button" className="text-button" onClick={onNewest}>
            {`version ${String(newer)}`}
          </button>
        </>
      )}
    </Text>
  );
}

interface SideProps {
  readonly kind: "baseline" | "incident";
  readonly title: string;
  readonly hosts: readonly string[];
  readonly side: SideCoverage;
  readonly windows: readonly Window[];
  readonly zone: Zone;
  readonly clock: Clock;
  readonly children?: ReactNode;
}

const MAX_WINDOWS = 3;

function Side({ kind, title, hosts, side, windows, zone, clock, children }: SideProps) {
  const [host = ""] = hosts;
  return (
    <section className="card side" data-kind={kind} aria-label={title}>
      <Row gap={8} justify="space-between">
        <h2>{title}</h2>
        <Text fz="sm" className="soft" style={{ whiteSpace: "nowrap" }}>
          {`${counted(side.n_samples, "sample")} in ${describeDuration(toDurationMs(side.covered_s * SECOND))}`}
        </Text>
      </Row>
      {windows.slice(0, MAX_WINDOWS).map((window) => (
        <Row key={window.start} gap={12}>
          <PageLink fz="sm" to="/hosts/$host" params={{ host }} search={hostSearch(window, clock, kind === "incident")}>
            {formatWindow(zone, window)} {zoneLabel(zone, window.end)} ({describeDuration(lengthOf(window))})
          </PageLink>
          <a className="csv-link no-print" href={csvAddress(host, window, null)} download>
            <IconDownload size={13} aria-hidden /> {kind === "baseline" ? "CSV of the baseline" : "CSV of the incident"}
          </a>
        </Row>
      ))}
      {windows.length > MAX_WINDOWS && (
        <Text fz="sm" className="soft" component="span">
          {`and ${counted(windows.length - MAX_WINDOWS, "more window")}`}
          {children !== undefined && ", "}
        </Text>
      )}
      {children}
      {side.n_rows_skipped > 0 && (
        <Text fz="sm" c="var(--warn)">
          {`Sampled: evenly spaced parts were compared; skipped: ${counted(side.n_rows_skipped, "row")}.`}
        </Text>
      )}
    </section>
  );
}
