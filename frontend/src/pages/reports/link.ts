/** Read a pasted link of normstat as a note. */

import { comparisonParams } from "../../api/comparison";
import type { NoteContent } from "../../logic/api";
import { experimentNote } from "../../logic/note";
import { toIso } from "../../logic/time";
import { decodeComparisonView } from "../../state/comparison";
import { decodeExperimentView } from "../../state/experiment";
import { parseSearch } from "../../state/search";
import { decodeHostView } from "../../state/url";

/** Return the note that a link shows, or the sentence that says why it shows none. The server of the link does not matter. */
export function parseLink(text: string): NoteContent | string {
  let url: URL;
  try {
    url = new URL(text.trim(), "http://normstat.invalid");
  } catch {
    return "This is not an address. Paste the address of a page of normstat.";
  }
  const [, page = "", name = ""] = url.pathname.split("/");
  const search = parseSearch(url.search);
  if (page === "comparison") {
    const { view } = decodeComparisonView(search);
    if (view.savedId !== null) {
      return { kind: "comparison", title: "", comment: "", comparison: view.savedId, inputs: null };
    }
    const { hosts, incident, against, divisor } = view;
    return incident === null || against === null || hosts.length === 0
      ? "This comparison is not complete: choose host, window and baseline there, then copy its address."
      : {
          kind: "comparison",
          title: "",
          comment: "",
          comparison: null,
          inputs: { ...comparisonParams({ hosts, incident, against, divisor }) },
        };
  }
  if (page === "artefacts" && /^[1-9][0-9]{0,15}$/.test(name)) {
    return { kind: "artefact", title: "", comment: "", artefact: Number(name), part: null, limit: 20, is_frozen: true };
  }
  if (page === "experiments" && /^[1-9][0-9]{0,15}$/.test(name)) {
    return experimentNote(Number(name), decodeExperimentView(search).view);
  }
  if (page === "hosts" && name !== "") {
    const { view } = decodeHostView(search);
    const host = decodeURIComponent(name);
    const [custom] = view.panels;
    if (view.range.kind !== "fixed" || custom === undefined) {
      return "A host's page shows many graphs. Use Add to report in the menu of the graph.";
    }
    const { window } = view.range;
    return {
      kind: "graph",
      title: "",
      comment: "",
      host,
      stat: custom.stat,
      fields: [...custom.fields],
      instances: custom.choice.kind === "only" ? [...custom.choice.names] : [],
      top: custom.choice.kind === "top" ? custom.choice.n : null,
      start: toIso(window.start),
      end: toIso(window.end),
      is_frozen: true,
    };
  }
  return "This page cannot be added. Paste the address of a comparison, an artefact or an experiment.";
}
