import { ActionIcon, Group, Select, Text, Tooltip } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useState } from "react";
import { processReportQuery } from "../../api/processes";
import { PendingView, StateView } from "../../components/StateView";
import type { ProcessReport } from "../../logic/api";
import type { Scheme } from "../../logic/palette";
import { describeReport, overdueBy, type ShownInstant } from "../../logic/process_report";
import { type EpochMs, fromApi, SECOND, toEpochMs, type Window, wholeSecond } from "../../logic/time";
import { formatClock, formatInstant, type Zone } from "../../logic/zone";
import type { PointerStore } from "../../state/pointer";
import { ReportTable } from "./ReportTable";
import { StateLegend } from "./StateBar";
import { counted } from "../../logic/counted";
import "./processes.css";
import "./ProcessSheet.css";

interface ProcessSheetProps {
  readonly host: string;
  readonly instant: ShownInstant;
  /** The visible window, through which the slider goes. */
  readonly window: Window;
  /** The baseline whose values are shown beside these. */
  readonly baseline: { readonly id: number; readonly name: string } | null;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly pointer: PointerStore;
  /** Called once the sheet has taken its place. */
  readonly onOpened: () => void;
  readonly onInstant: (instant: ShownInstant | null) => void;
  readonly onShow: (command: string, pid: number | null) => void;
}

/** The processes at the picked instant, over the lower part of the page: what `top` would have shown. */
export function ProcessSheet(props: ProcessSheetProps) {
  const { host, instant, baseline, zone, scheme, onOpened, onInstant, onShow } = props;
  useEffect(onOpened, [onOpened]);
  const answer = useQuery(processReportQuery({ host, instant, baseline: baseline?.id ?? null }));
  const report = answer.data;
  return (
    <>
      <div className="process-sheet-room" />
      <section className="process-sheet no-print" aria-label="Processes at an instant">
        <Group gap="sm" className="process-sheet-head">
          <Text fz="sm" component="h2" fw={600}>
            {`Processes at ${formatClock(zone, wholeSecond(instant.at))}`}
          </Text>
          <Stepper {...props} report={report} />
          <span className="process-sheet-report" aria-live="polite">
            {report !== undefined && <ReportLine report={report} zone={zone} />}
          </span>
          {report !== undefined && report.sources.length > 1 && (
            <Select
              size="xs"
              w={230}
              aria-label="Tool"
              data={report.sources.map(({ stat, title }) => ({ value: stat, label: title }))}
              value={report.stat}
              allowDeselect={false}
              onChange={(stat) => {
                onInstant({ ...instant, stat });
              }}
            />
          )}
          <ActionIcon
            size="sm"
            ml="auto"
            aria-label="Close the processes"
            onClick={() => {
              onInstant(null);
            }}
          >
            <IconX size={15} />
          </ActionIcon>
        </Group>
        {report === undefined ? (
          <PendingView isCompact query={answer} what="processes" />
        ) : report.rows.length === 0 ? (
          <NoProcesses {...props} report={report} />
        ) : (
          <>
            <Notes report={report} baseline={baseline?.name ?? ""} scheme={scheme} />
            <ReportTable
              report={report}
              baseline={baseline?.name ?? ""}
              isStale={answer.isPlaceholderData}
              scheme={scheme}
              onShow={onShow}
            />
          </>
        )}
      </section>
    </>
  );
}

function ReportLine({ report, zone }: { readonly report: ProcessReport; readonly zone: Zone }) {
  const late = overdueBy(report);
  return (
    <>
      {describeReport(report, zone)}
      {late !== null && <b> {`– ${late} before this instant; no later report until then`}</b>}
    </>
  );
}

interface StepperProps extends ProcessSheetProps {
  readonly report: ProcessReport | undefined;
}

/** The report before, a slider through the window, and the report after. */
function Stepper({ instant, window: shown, zone, pointer, report, onInstant }: StepperProps) {
  const [dragged, setDragged] = useState<EpochMs | null>(null);
  const stat = report?.stat ?? instant.stat;
  const previous = report?.previous_at ?? null;
  const next = report?.next_at ?? null;
  const step = (to: string | null): void => {
    if (to !== null) {
      onInstant({ at: fromApi(to), stat });
    }
  };
  const finish = (): void => {
    if (dragged !== null) {
      setDragged(null);
      onInstant({ at: dragged, stat: instant.stat });
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      event.preventDefault();
      event.stopPropagation();
      step(event.key === "ArrowLeft" ? previous : next);
    }
  };
  return (
    <Group gap={4} wrap="nowrap">
      <Tooltip label="The report before (←)">
        <ActionIcon
          size="sm"
          variant="default"
          aria-label="The report before"
          disabled={previous === null}
          onClick={() => {
            step(previous);
          }}
        >
          <IconChevronLeft size={14} />
        </ActionIcon>
      </Tooltip>
      <input
        type="range"
        className="process-slider"
        aria-label="Instant"
        aria-valuetext={formatInstant(zone, dragged ?? instant.at)}
        min={shown.start}
        max={shown.end}
        step={SECOND}
        value={dragged ?? instant.at}
        onChange={(event) => {
          const at = toEpochMs(Number(event.currentTarget.value));
          setDragged(at);
          pointer.set({ picked: at });
        }}
        onPointerUp={finish}
        onKeyUp={finish}
        onBlur={finish}
        onKeyDown={onKeyDown}
      />
      <Tooltip label="The report after (→)">
        <ActionIcon
          size="sm"
          variant="default"
          aria-label="The report after"
          disabled={next === null}
          onClick={() => {
            step(next);
          }}
        >
          <IconChevronRight size={14} />
        </ActionIcon>
      </Tooltip>
      {dragged !== null && (
        <Text fz="xs" component="span">
          {formatClock(zone, wholeSecond(dragged))}
        </Text>
      )}
    </Group>
  );
}

interface NotesProps {
  readonly report: ProcessReport;
  readonly baseline: string;
  readonly scheme: Scheme;
}

/** What the second number of a cell is, and what is not shown. */
function Notes({ report, baseline, scheme }: NotesProps) {
  const { rows, n_found, n_users_unread } = report;
  const said = [
    report.baseline === null
      ? "No baseline to compare with: save one, and normal values stand beside these."
      : report.baseline.note === ""
        ? `Beside each value: p50 to p95 in baseline ${baseline}${report.normal_of === "command" ? ", where the command has one process" : ""}${report.baseline.is_seasonal ? ", same hours of the day" : ""}; ▲ above it.`
        : `${report.baseline.note}.`,
    n_found > rows.length ? `The first ${String(rows.length)} of ${counted(n_found, "process", "processes")}.` : "",
    n_users_unread > 0 ? `Users of ${counted(n_users_unread, "process", "processes")} were not read.` : "",
  ].filter((text) => text !== "");
  return (
    <div className="process-sheet-notes soft">
      {report.states.length > 0 && <StateLegend states={report.states.map(({ quantity }) => quantity)} scheme={scheme} />}
      <span>{said.join(" ")}</span>
    </div>
  );
}

/** Why there are no rows, and what to do. */
function NoProcesses({ report, instant, zone, onInstant }: ProcessSheetProps & { readonly report: ProcessReport }) {
  const next = report.next_at === null ? null : fromApi(report.next_at);
  return (
    <StateView
      isCompact
      state={
        report.stat !== null
          ? { kind: "empty", title: "All processes were idle in this report", next: "Go to the report before or after." }
          : {
              kind: "empty",
              title: `No tool listed processes in the hour before ${formatClock(zone, instant.at)}`,
              next:
                next === null ? (
                  "To record processes, enable proc_pid_linux, pidstat, prstat, top or ps in the agent's stats.conf."
                ) : (
                  <button
                    type="button"
                    className="text-button"
                    onClick={() => {
                      onInstant({ at: next, stat: instant.stat });
                    }}
                  >
                    {`Show the next report, at ${formatInstant(zone, wholeSecond(next))}`}
                  </button>
                ),
            }
      }
    />
  );
}
