import { Group, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { csvAddress } from "../../api/endpoints";
import { PageLink } from "../../components/PageLink";
import type { Comparison, ComparisonSide } from "../../logic/api";
import { describeCounts, toWindow } from "../../logic/comparison";
import { formatCount, plural } from "../../logic/number";
import { surroundings } from "../../logic/range";
import { describeDuration, lengthOf, SECOND, toDurationMs } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

interface SidesProps {
  readonly comparison: Comparison;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** Both sides and what was read of them: the baseline left, the incident right. */
export function Sides({ comparison, zone, clock }: SidesProps) {
  const { host, baseline_info: info } = comparison;
  return (
    <>
      <div className="sides">
        <Side
          kind="baseline"
          title={info === null ? "Baseline: another window" : `Baseline: ${info.name}`}
          host={host}
          side={comparison.baseline}
          zone={zone}
          clock={clock}
          note={info?.note ?? ""}
        />
        <Side kind="incident" title="Incident" host={host} side={comparison.incident} zone={zone} clock={clock} note="" />
      </div>
      <Text fz="sm" className="soft" my={8}>
        {describeCounts(comparison)}. Method {comparison.method_version}, {formatCount(comparison.elapsed_ms)} ms.
      </Text>
    </>
  );
}

interface SideProps {
  readonly kind: "baseline" | "incident";
  readonly title: string;
  readonly host: string;
  readonly side: ComparisonSide;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly note: string;
}

const MOST_WINDOWS = 4;

function Side({ kind, title, host, side, zone, clock, note }: SideProps) {
  const windows = side.windows.map(toWindow);
  return (
    <section className="card side" data-kind={kind} aria-label={title}>
      <Group gap={8} justify="space-between" wrap="nowrap">
        <h2>{title}</h2>
        <Text fz="sm" className="soft" style={{ whiteSpace: "nowrap" }}>
          {plural(side.n_samples, "sample")} in {describeDuration(toDurationMs(side.covered_s * SECOND))}
        </Text>
      </Group>
      {windows.slice(0, MOST_WINDOWS).map((window) => (
        <Group key={window.start} gap={12}>
          <PageLink
            fz="sm"
            to="/hosts/$host"
            params={{ host }}
            search={encodeHostView({
              ...DEFAULT_HOST_VIEW,
              clock,
              range: { kind: "fixed", window: surroundings(window, 0.2) },
              ...(kind === "incident" ? { mark: window } : {}),
            })}
          >
            {formatWindow(zone, window)} {zoneLabel(zone, window.end)} ({describeDuration(lengthOf(window))})
          </PageLink>
          <a className="csv-link no-print" href={csvAddress(host, window, null)} download>
            <IconDownload size={13} aria-hidden /> CSV of the {kind}
          </a>
        </Group>
      ))}
      {windows.length > MOST_WINDOWS && (
        <Text fz="sm" className="soft">
          and {plural(windows.length - MOST_WINDOWS, "more window")}
        </Text>
      )}
      {note !== "" && (
        <Text fz="sm" lineClamp={2}>
          {note}
        </Text>
      )}
      {side.n_rows_skipped > 0 && (
        <Text fz="sm" c="var(--warn)">
          Too long to read whole: evenly spaced pieces were compared, {formatCount(side.n_rows_skipped)} rows were left out.
        </Text>
      )}
    </section>
  );
}
