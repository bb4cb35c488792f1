import { Alert, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { processesQuery } from "../../api/processes";
import { PendingView, StateView } from "../../components/StateView";
import { useSettled } from "../../components/useSettled";
import { sortByQuantity, tableRowsOf } from "../../logic/process";
import { DAY, type Window } from "../../logic/time";
import type { ProcessListView } from "../../state/url";
import type { ProcessesProps } from "./Processes";
import { ProcessTable } from "./ProcessTable";
import { counted } from "../../logic/counted";

const MAX_ROWS = 20_000;

interface ProcessListProps extends ProcessesProps {
  readonly window: Window;
  readonly children: ReactNode;
}

/** The commands of a window with what they did, each with its processes; sorted and searched by the server. */
export function ProcessList({ host, state, zone, window: shown, children }: ProcessListProps) {
  const view = state.view.processes;
  const [search, setSearch] = useState(view.search);
  const asked = useSettled(search);
  const change = (part: Partial<ProcessListView>): void => {
    state.set({ processes: { ...view, search: asked, ...part } });
  };
  const query = { host: host.name, window: shown, sort: view.sort, limit: MAX_ROWS } as const;
  const commands = useQuery(processesQuery({ ...query, by: "command", command: null, search: asked, stat: view.stat }));
  const hasCommands = commands.data?.stat !== null;
  const isByProcess = !hasCommands;
  // A tool may print processes without sums by command.
  const processes = useQuery({
    ...processesQuery({
      ...{ ...query, by: "process", command: view.open, stat: null },
      // Those under a command are sorted here: another stat tells them, which may lack the column.
      ...(isByProcess ? { search: asked } : { search: "", sort: null }),
    }),
    enabled: isByProcess || view.open !== null,
  });
  const list = isByProcess ? processes : commands;
  if (list.data === undefined) {
    return <PendingView query={list} what="processes" />;
  }
  const { data } = list;
  const opened = sortByQuantity(processes.data?.rows ?? [], processes.data?.fields ?? [], data.sort);
  // By the means that the table shows: the server ranks by sums over the window, of which it sends the largest.
  const sorted = sortByQuantity(data.rows, data.fields, data.sort);
  const rows = tableRowsOf(sorted, isByProcess ? null : view.open, opened);
  const sources = data.stats.filter(({ is_command }) => is_command === hasCommands);
  return (
    <>
      <div className="process-bar">
        {children}
        <TextInput
          aria-label="Search commands"
          placeholder={isByProcess ? "Search command or PID" : "Search command"}
          value={search}
          maxLength={200}
          onChange={(event) => {
            setSearch(event.currentTarget.value);
          }}
          onBlur={() => {
            if (asked !== view.search) {
              change({ search: asked });
            }
          }}
        />
        {sources.length > 1 && (
          <Select
            aria-label="Source"
            data={sources.map(({ name, title }) => ({ value: name, label: title }))}
            value={data.stat}
            allowDeselect={false}
            onChange={(stat) => {
              change({ stat, sort: null });
            }}
          />
        )}
        <Text fz="sm" className="soft">
          {isByProcess ? counted(data.n_found, "process", "processes") : counted(data.n_found, "command")}
          {data.precision_s > 0 && `; first and last times to the ${data.precision_s === 60 ? "minute" : "hour"}`}
        </Text>
      </div>
      {data.stat === null ? (
        <StateView
          state={{
            kind: "empty",
            title: "No processes in this window",
            next: "Choose another window, or record processes: the agent's stats.conf needs proc_pid_linux, pidstat, prstat, top or ps.",
          }}
        />
      ) : data.rows.length === 0 ? (
        <StateView state={{ kind: "empty", title: `Nothing named “${asked}”`, next: "Search for another part of the name." }} />
      ) : (
        <ProcessTable
          fields={data.fields}
          childFields={processes.data?.fields ?? []}
          rows={rows}
          sort={data.sort}
          open={isByProcess ? null : view.open}
          isStale={list.isPlaceholderData}
          zone={zone}
          hasDates={shown.end - shown.start > DAY}
          onSort={(sort) => {
            change({ sort });
          }}
          onOpen={(open) => {
            change({ open });
          }}
          onShow={({ command, pid }) => {
            state.set({ process: { command, pid }, processes: { ...view, search: asked } });
          }}
        />
      )}
      {processes.error !== null && (
        <Alert color="red" title="The processes could not be read">
          {processes.error.message}
        </Alert>
      )}
    </>
  );
}
