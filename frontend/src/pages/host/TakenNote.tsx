import { Text } from "@mantine/core";
import { useCallbackRef, useClipboard } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useState } from "react";
import { linesAddress } from "../../api/addresses";
import { fieldsAsked, type PanelPlan } from "../../logic/panel";
import { seriesKey } from "../../logic/series";
import type { Window } from "../../logic/time";
import { downloadFrom } from "../../state/download";
import type { GraphContext } from "./graph";
import type { PictureSource } from "./picture_source";
import type { Taken } from "./PanelMenu";

interface Taking {
  readonly take: (what: Taken) => void;
  /** What was done, or why not; empty for nothing. */
  readonly note: string;
  readonly isError: boolean;
}

/** Return a way to take a panel away: as a file or as a link. */
export function useTaken(plan: PanelPlan, graph: GraphContext, window: Window, drawn: RefObject<PictureSource | null>): Taking {
  const client = useQueryClient();
  const clipboard = useClipboard({ timeout: 4_000 });
  const [error, setError] = useState("");
  // Stable: the menus above a graph are not rendered again each time that it moves.
  const take = useCallbackRef((what: Taken): void => {
    setError("");
    const source = drawn.current;
    if (what === "link") {
      clipboard.copy(graph.linkTo(plan.id, window));
    } else if (what === "csv") {
      downloadFrom(linesAddress(graph.host, window, plan.stat.name, linesOf(plan, source)));
    } else if (source !== null) {
      const scheme = what.endsWith("-on-white") ? "light" : graph.scheme;
      const format = what.startsWith("svg") ? "svg" : "png";
      import("./savePicture")
        .then(({ savePicture }) => savePicture({ client, plan, graph, source, scheme, format }))
        .catch((reason: unknown) => {
          setError(`The picture could not be drawn: ${reason instanceof Error ? reason.message : String(reason)}`);
        });
    }
  });
  const copyError =
    clipboard.error === null ? "" : `The browser did not allow copying. The link: ${graph.linkTo(plan.id, window)}`;
  const problem = error === "" ? copyError : error;
  const note = problem === "" && clipboard.copied ? "Link to this panel and window copied" : problem;
  return { take, note, isError: problem !== "" };
}

/** Return the lines that are shown; of a heatmap and of all lines, their fields. */
function linesOf(plan: PanelPlan, source: PictureSource | null) {
  const isAll = source?.kind !== "lines" || (source.input.hidden.size === 0 && ["all", "one"].includes(plan.choice.kind));
  if (isAll) {
    return { fields: fieldsAsked(plan).map(({ key }) => key), lines: [] };
  }
  const { hidden, block } = source.input;
  return { fields: [], lines: block.series.filter((series) => !hidden.has(seriesKey(series))) };
}

/** Says that a link was copied, or why there is no file. */
export function TakenNote({ taken: { note, isError } }: { readonly taken: Taking }) {
  return (
    <Text fz="xs" px={8} role="status" className={isError ? undefined : "soft"} hidden={note === ""}>
      {note}
    </Text>
  );
}
