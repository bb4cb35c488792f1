import { IconAlertTriangle, IconCheck, IconClock, IconHandStop, IconInfoCircle, IconLoader } from "@tabler/icons-react";
import type { JobState as State } from "../logic/api";
import { JOB_WORDS } from "../logic/job";
import "./JobState.css";

const ICONS: Readonly<Record<State, typeof IconCheck>> = {
  queued: IconClock,
  running: IconLoader,
  done: IconCheck,
  failed: IconAlertTriangle,
  stopped: IconHandStop,
};

/** The state of a background job as a word, an icon and a colour; `attention` says what a done one lacks. */
export function JobState({ state, attention = "" }: { readonly state: State; readonly attention?: string }) {
  const Icon = ICONS[state];
  if (attention !== "") {
    return (
      <span className="job-state" data-state="attention">
        <IconInfoCircle size={15} aria-hidden />
        {attention}
      </span>
    );
  }
  return (
    <span className="job-state" data-state={state}>
      <Icon size={15} aria-hidden />
      {JOB_WORDS[state]}
    </span>
  );
}
