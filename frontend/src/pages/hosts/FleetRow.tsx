import { Badge, Checkbox, Group, Tooltip } from "@mantine/core";
import { IconTrendingUp } from "@tabler/icons-react";
import { type CSSProperties, memo } from "react";
import { ColourMark } from "../../components/ColourBadge";
import { PageLink } from "../../components/PageLink";
import { TagChips } from "../../components/TagChips";
import { StateBadge } from "../../components/StateBadge";
import { Age } from "../../components/Instant";
import { useZone } from "../../components/zone";
import type { FleetHost, HostOn } from "../../logic/api";
import { lineOf, RESOURCES } from "../../logic/fleet";
import { describeClockOffset, describeRise, isClockOff } from "../../logic/host";
import { formatCount } from "../../logic/number";
import { type EpochMs, toEpochMs, type Window } from "../../logic/time";
import { COLOUR_LABELS, toColour } from "../../logic/watch";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView, type HostView } from "../../state/url";
import { DEFAULT_INCIDENTS_VIEW, encodeIncidentsView } from "../../state/incidents";
import { Ribbon, Spark } from "./FleetMarks";
import { counted } from "../../logic/counted";

export interface FleetRowProps {
  readonly host: FleetHost;
  /** What rules find on the host; null where that is nothing. */
  readonly on: HostOn | null;
  readonly index: number;
  readonly style: CSSProperties;
  readonly clock: Clock;
  /** The hour that is shown when it is not the present one. */
  readonly past: Window | null;
  readonly now: EpochMs;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  /** Whether rows can be selected and baselines saved. */
  readonly hasTools: boolean;
  readonly onSelect: (host: string, isRange: boolean) => void;
  readonly onMark: (host: string) => void;
  readonly onTag: (tag: string) => void;
}

/** The view of a host that its row leads to. */
function hostView(clock: Clock, past: Window | null, more: Partial<HostView> = {}) {
  const range = past === null ? DEFAULT_HOST_VIEW.range : ({ kind: "fixed", window: past } as const);
  return encodeHostView({ ...DEFAULT_HOST_VIEW, clock, range, ...more });
}

/** A host beside its normal. */
export const FleetRow = memo(function FleetRow(props: FleetRowProps) {
  const { host, on, index, style, clock, past, isActive, isSelected, hasTools, onSelect, onTag } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={hasTools ? isSelected : undefined}
      className="fleet-row"
      data-level={host.verdict === "judged" ? host.level : undefined}
      data-verdict={host.verdict}
      data-on={on?.colour}
      data-row={index}
      style={style}
      tabIndex={isActive ? 0 : -1}
    >
      {hasTools && (
        <div role="cell" className="fleet-check">
          <Checkbox
            size="xs"
            aria-label={`Select ${host.name}`}
            checked={isSelected}
            tabIndex={-1}
            onChange={() => undefined}
            onClick={(event) => {
              onSelect(host.name, event.shiftKey);
            }}
          />
        </div>
      )}
      <div role="cell" className="fleet-host">
        <PageLink to="/hosts/$host" params={{ host: host.name }} search={hostView(clock, past)} fw={600} tabIndex={-1}>
          {host.name}
        </PageLink>
        {host.tags.length > 0 ? (
          <TagChips host={host.name} tags={host.tags} onTag={onTag} isReachable={false} />
        ) : (
          <span className="soft fleet-sub" title={[host.os, ...host.groups].join(" · ")}>
            {host.groups.length > 0 ? host.groups.join(", ") : host.os}
          </span>
        )}
      </div>
      <StateCell {...props} />
      <VerdictCell {...props} />
      <div role="cell" className="fleet-ribbon-cell">
        <Ribbon ribbon={host.ribbon} />
      </div>
      {RESOURCES.map((resource) => (
        <div role="cell" key={resource} className="fleet-spark-cell">
          <Spark line={lineOf(host, resource)} />
        </div>
      ))}
    </div>
  );
});

function StateCell({ host, on, now, clock, past }: FleetRowProps) {
  const seen = host.last_sample_ms;
  const zone = useZone(clock);
  return (
    <div role="cell" className="fleet-state">
      <span className="fleet-states">
        <StateBadge state={host.state} />
        {on !== null && <WatchState on={on} clock={clock} past={past} />}
      </span>
      <span className="fleet-sub soft">
        {seen === null ? (
          past === null ? (
            "no samples"
          ) : host.n_streams_live > 0 ? (
            ""
          ) : (
            "no samples yet"
          )
        ) : (
          <Age at={toEpochMs(seen)} now={past === null ? now : past.end} zone={zone} />
        )}
        {isClockOff(host.clock_offset_s) && (
          <Tooltip label="Offset of the host's clock from the server's">
            <span className="fleet-warn"> {`· clock ${describeClockOffset(host.clock_offset_s)}`}</span>
          </Tooltip>
        )}
      </span>
      {host.has_reject_rise && (
        <Group gap={4} wrap="nowrap">
          <Tooltip label={`Rejected lines are rising: ${describeRise(host)}`}>
            <Badge size="xs" color="red" variant="outline" c="var(--bad)" leftSection={<IconTrendingUp size={11} aria-hidden />}>
              {`rising: ${formatCount(host.n_rejected_last_hour)} in 1 h`}
            </Badge>
          </Tooltip>
          <PageLink
            to="/hosts/$host"
            params={{ host: host.name }}
            search={hostView(clock, past, { tab: "streams", filter: "rejected" })}
            fz="xs"
            c="var(--bad)"
            aria-label={`${formatCount(host.n_rejected)} rejected lines of ${host.name}`}
            tabIndex={-1}
          >
            {formatCount(host.n_rejected)}
          </PageLink>
        </Group>
      )}
    </div>
  );
}

/** The worst state that rules find on the host; it leads to what they say. */
function WatchState({ on, clock, past }: { readonly on: HostOn; readonly clock: Clock; readonly past: Window | null }) {
  const colour = toColour(on.colour);
  const label = `${colour === null ? on.colour : COLOUR_LABELS[colour]} on ${on.host}: ${counted(on.n, "rule")} ${on.n === 1 ? "finds" : "find"} something`;
  return (
    <Tooltip label={label}>
      <PageLink
        to="/incidents"
        search={encodeIncidentsView({ ...DEFAULT_INCIDENTS_VIEW, clock, host: on.host, show: past === null ? "all" : "alert" })}
        className="fleet-watch"
        aria-label={label}
        tabIndex={-1}
      >
        <ColourMark colour={colour} />
      </PageLink>
    </Tooltip>
  );
}

const LEVEL_WORDS = ["normal", "slightly unusual", "unusual", "very unusual"] as const;

function VerdictCell({ host, hasTools, onMark }: FleetRowProps) {
  const word =
    host.verdict === "judged"
      ? (LEVEL_WORDS[host.level] ?? "very unusual")
      : {
          no_baseline: "no baseline",
          learning: "no baseline yet",
          building: "not judged",
          no_samples: "no samples",
          no_metrics: "not judged",
        }[host.verdict];
  return (
    <div role="cell" className="fleet-verdict">
      <span className="fleet-word">
        {word}
        {host.verdict === "judged" && host.level > 0 && host.change_ratio !== null && (
          <Tooltip label="Change ratio: how many times its normal variation the most unusual key metric is outside its band">
            <span className="soft fleet-ratio"> ×{host.change_ratio >= 100 ? "100+" : host.change_ratio.toFixed(1)}</span>
          </Tooltip>
        )}
        {host.verdict === "learning" && hasTools && (
          <>
            {" · "}
            <MarkButton host={host.name} onMark={onMark} />
          </>
        )}
      </span>
      {host.verdict === "no_baseline" ? (
        <span className="fleet-sentence soft">
          {hasTools ? <MarkButton host={host.name} onMark={onMark} /> : "nothing to compare with"}
        </span>
      ) : (
        <span
          className={host.verdict === "judged" && host.level > 0 ? "fleet-sentence" : "fleet-sentence soft"}
          title={host.sentence}
        >
          {host.sentence}
        </span>
      )}
    </div>
  );
}

function MarkButton({ host, onMark }: { readonly host: string; readonly onMark: (host: string) => void }) {
  return (
    <button
      type="button"
      className="text-button"
      tabIndex={-1}
      aria-label={`Save a normal hour as baseline of ${host}`}
      onClick={() => {
        onMark(host);
      }}
    >
      Save a normal hour as baseline
    </button>
  );
}
