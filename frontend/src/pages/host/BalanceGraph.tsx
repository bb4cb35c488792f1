import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { balanceQuery } from "../../api/balance";
import { StateView } from "../../components/StateView";
import type { CpuBalance } from "../../logic/api";
import { balanceRows, balanceWindow, describeMoment, drawImbalance, momentAt, nextStep, worstMoment } from "../../logic/balance";
import { LEGEND_LINE, USUAL_HEIGHT } from "../../logic/look";
import type { PanelPlan } from "../../logic/panel";
import { HEATMAP_MARGINS, heatmapColumnCount, pixelOfTime, requestWidth } from "../../logic/surface";
import { type Window, wholeSecond } from "../../logic/time";
import { formatClock, type Zone } from "../../logic/zone";
import { buildHeatmapFigure } from "../../plot/heatmap";
import { Plot } from "../../plot/Plot";
import { type PointerStore, usePointer } from "../../state/pointer";
import type { GraphContext } from "./graph";
import { PanelSurface } from "./PanelSurface";
import { HeatmapTip } from "./HeatmapTip";
import { MovedTicks } from "./MovedTicks";
import { usePanelHeight } from "./PanelGrip";
import { counted } from "../../logic/counted";
import "./BalanceGraph.css";

const LINE_HEIGHT = 34;
/** The imbalance above the rows: its text and its line. */
const ABOVE_ROWS = 20 + LINE_HEIGHT;

interface BalanceGraphProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly asked: Window;
  readonly width: number;
  readonly isNear: boolean;
}

/** How busy each CPU is, one row each, and above them how unevenly the work is spread. */
export function BalanceGraph({ plan, graph, asked, width, isNear }: BalanceGraphProps) {
  const nCells = heatmapColumnCount(requestWidth(width), HEATMAP_MARGINS);
  const window = balanceWindow(asked, nCells);
  const answer = useQuery({
    ...balanceQuery({ host: graph.host, stat: plan.stat.name, window, width: nCells }),
    enabled: isNear,
  });
  const balance = answer.data;
  const rows = useMemo(() => (balance === undefined ? null : balanceRows(balance)), [balance]);
  if (balance === undefined || rows === null) {
    return (
      <div className="panel-pending">
        <StateView
          isCompact
          state={
            answer.error !== null
              ? { kind: "error", error: answer.error, onRetry: () => void answer.refetch() }
              : balance === undefined
                ? { kind: "loading" }
                : {
                    kind: "empty",
                    title: "No samples of single CPUs in this window",
                    next: "Choose another window, or record each CPU: mpstat -P ALL on Linux, mpstat on Solaris.",
                  }
          }
        />
      </div>
    );
  }
  return <DrawnBalance plan={plan} graph={graph} width={width} balance={balance} asked={asked} rows={rows} />;
}

interface DrawnBalanceProps extends Omit<BalanceGraphProps, "isNear"> {
  readonly balance: CpuBalance;
  readonly rows: NonNullable<ReturnType<typeof balanceRows>>;
}

function DrawnBalance({ plan, graph, width, balance, asked, rows }: DrawnBalanceProps) {
  const { window: shown, zone, scheme, pointer } = graph;
  const height = usePanelHeight(plan, graph, USUAL_HEIGHT) + LEGEND_LINE - ABOVE_ROWS;
  const figure = useMemo(
    () =>
      buildHeatmapFigure({
        ...rows,
        scale: { kind: "values", unit: "%" },
        pick: "highest",
        window: asked,
        zone,
        scheme,
        margins: HEATMAP_MARGINS,
        width,
        height,
      }),
    [rows, asked, zone, scheme, width, height],
  );
  return (
    <>
      <ImbalanceLine balance={balance} shown={shown} zone={zone} width={width} pointer={pointer} />
      <PanelSurface
        graph={graph}
        panel={plan.id}
        width={width}
        height={height}
        margins={HEATMAP_MARGINS}
        label={`${plan.title}, busy share: use the arrow keys to step through time`}
        onStep={(from, direction) => nextStep(balance, from, direction)}
      >
        <Plot figure={figure} view={shown} label={`Busy share of ${counted(balance.cpus.length, "CPU")}, a row each`} />
        <MovedTicks shown={shown} zone={zone} width={width} margins={HEATMAP_MARGINS} />
        <HeatmapTip
          panel={plan.id}
          cells={figure.cells}
          pick="mean"
          decimals={1}
          unit="%"
          width={width}
          height={height}
          shown={shown}
          zone={zone}
          pointer={pointer}
        />
      </PanelSurface>
    </>
  );
}

const BASE_LINE = 33;
const TITLE_END = 82;

interface ImbalanceLineProps {
  readonly balance: CpuBalance;
  readonly shown: Window;
  readonly zone: Zone;
  readonly width: number;
  readonly pointer: PointerStore;
}

/** The imbalance over time, and its value with the busiest CPU at the crosshair; without one, where it is largest. */
function ImbalanceLine({ balance, shown, zone, width, pointer }: ImbalanceLineProps) {
  const { paths, top } = useMemo(
    () => drawImbalance(balance, LINE_HEIGHT, (at) => pixelOfTime(at, width, HEATMAP_MARGINS, shown)),
    [balance, width, shown],
  );
  return (
    <>
      <MomentText balance={balance} zone={zone} pointer={pointer} />
      <svg className="imbalance-line" width={width} height={LINE_HEIGHT} aria-hidden>
        <text x={TITLE_END} y={9} textAnchor="end">
          {top} %
        </text>
        <text x={TITLE_END} y={BASE_LINE} textAnchor="end">
          0
        </text>
        <line x1={HEATMAP_MARGINS.left} x2={width - HEATMAP_MARGINS.right} y1={BASE_LINE} y2={BASE_LINE} />
        {paths.map((points) => (
          <polyline key={points} points={points} />
        ))}
      </svg>
    </>
  );
}

/** The only part that follows the pointer. */
function MomentText({ balance, zone, pointer }: Pick<ImbalanceLineProps, "balance" | "zone" | "pointer">) {
  const { hovered } = usePointer(pointer);
  const worst = useMemo(() => worstMoment(balance), [balance]);
  const moment = hovered === null ? worst : momentAt(balance, hovered);
  const text =
    moment !== null
      ? `${hovered === null ? "largest " : ""}${describeMoment(moment)}, at ${formatClock(zone, wholeSecond(moment.start))}`
      : hovered === null
        ? "imbalance undefined in this window: the CPUs are below 5 % busy, or there is only one"
        : "no samples at the crosshair";
  return (
    <p className="imbalance-text">
      {text}
      {!balance.is_wait_known && <span className="soft"> (waiting for disks may count as busy)</span>}
    </p>
  );
}
