import { Group } from "@mantine/core";
import { useMemo } from "react";
import { useSettled } from "../../components/useSettled";
import type { HostInfo, StatInfo } from "../../logic/api";
import type { Scheme } from "../../logic/palette";
import { liveEnd, resolveRange } from "../../logic/range";
import { SECOND, toDurationMs, type Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { RangePicker } from "../../components/RangePicker";
import type { HostViewState } from "./useHostView";
import { ProcessList } from "./ProcessList";
import { ProcessPage } from "./ProcessPage";
import "./processes.css";

// Processes are sampled every 5 to 10 seconds.
const PERIOD = toDurationMs(10 * SECOND);

export interface ProcessesProps {
  readonly host: HostInfo;
  readonly stats: readonly StatInfo[];
  readonly state: HostViewState;
  readonly zone: Zone;
  readonly scheme: Scheme;
}

/** The commands and processes of a host in a window, or one of them. */
export function Processes(props: ProcessesProps) {
  const { range, process } = props.state.view;
  const now = useNow(PERIOD);
  const { start, end } = resolveRange(range, liveEnd(now, null), props.zone);
  const shown = useSettled(useMemo(() => ({ start, end }), [start, end]));
  return (
    <div className="processes">
      {process === null ? (
        <ProcessList {...props} window={shown}>
          <Range {...props} window={shown} />
        </ProcessList>
      ) : (
        <ProcessPage key={`${process.command} ${String(process.pid)}`} {...props} process={process} window={shown}>
          <Range {...props} window={shown} />
        </ProcessPage>
      )}
    </div>
  );
}

function Range({ state, zone, window }: ProcessesProps & { readonly window: Window }) {
  return (
    <Group gap={6} className="no-print">
      <RangePicker
        range={state.view.range}
        window={window}
        zone={zone}
        onChange={(range) => {
          state.set({ range });
        }}
      />
    </Group>
  );
}
