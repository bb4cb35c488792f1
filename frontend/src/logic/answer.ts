/** The answer of a comparison: a card for each resource or subject that changed, with who, what and since when. */

import type { Comparison, LedgerLine, Story } from "./api";
import { culpritsOf, describeShare, describeTaken, isNormal, leadingLine, lineTitle } from "./ledger";
import { describeProcess, storiesOf } from "./story";
import type { Window } from "./time";
import type { Zone } from "./zone";

export type Certainty = LedgerLine["certainty"];

/** What changed of one resource, as the ledger, a story, or both tell it. */
export interface AnswerCard {
  /** Tells the cards of one comparison apart. */
  readonly key: string;
  readonly host: string;
  /** `Disk vda`, `Locks` */
  readonly title: string;
  readonly sentence: string;
  readonly certainty: Certainty;
  /** Null: the ledger does not cover it. */
  readonly line: LedgerLine | null;
  /** Null: no group of changes tells it. */
  readonly story: Story | null;
  /** When it left the baseline's range. Missing: null where it never did. */
  readonly onsetMs: number | null;
}

export interface Answer {
  /** The strongest first: its sentence is the answer. */
  readonly cards: readonly AnswerCard[];
  /** What is used as normal, as the ledger tells it. */
  readonly normal: readonly AnswerCard[];
}

/** The server begins a sentence with it that is not sure; the page shows a badge instead. */
const LIKELY = /^Likely: /;

/** Return the cards of a comparison: its stories in their order, each with its ledger line, then the lines that no story tells. */
export function answerOf(comparison: Pick<Comparison, "stories" | "ledger">): Answer {
  const lines = comparison.ledger ?? [];
  const told = storiesOf(comparison).map((story) => storyCard(story, leadingLine(story, lines)));
  const rest = lines.filter((line) => !isNormal(line) && !told.some((card) => card.line === line));
  return { cards: [...told, ...rest.map(lineCard)], normal: lines.filter(isNormal).map(lineCard) };
}

function storyCard(story: Story, line: LedgerLine | null): AnswerCard {
  return {
    key: `story ${String(story.rank)}`,
    host: story.hosts[0] ?? "",
    title: line === null ? story.title : lineTitle(line),
    sentence: story.sentence.replace(LIKELY, ""),
    certainty: line?.certainty ?? (story.sentence.startsWith("Likely: ") ? "likely" : "sure"),
    line,
    story,
    onsetMs: story.onset_ms ?? line?.drawn?.onset_ms ?? null,
  };
}

function lineCard(line: LedgerLine): AnswerCard {
  return {
    key: `line ${line.host} ${line.resource} ${line.instance}`,
    host: line.host,
    title: lineTitle(line),
    sentence: line.sentence,
    certainty: line.certainty,
    line,
    story: null,
    onsetMs: line.drawn?.onset_ms ?? null,
  };
}

/** A process or command on a card: what it took, and whether it is new or gone. */
export interface CardUser {
  readonly name: string;
  readonly text: string;
  readonly change: "new" | "gone" | null;
}

const MAX_USERS = 3;

/** Return who made the change of a card, the strongest first: those of the ledger, else the processes of the story. */
export function usersOf({ line, story }: Pick<AnswerCard, "line" | "story">, incident: Window, zone: Zone): readonly CardUser[] {
  const culprits = line === null ? [] : culpritsOf(line);
  const users = culprits.map((part): CardUser => ({
    name: part.name,
    text: [describeTaken(part), describeShare(part)].filter((text) => text !== "").join(", "),
    change: part.is_gone ? "gone" : part.is_new ? "new" : null,
  }));
  const processes = (story?.processes ?? []).map((process): CardUser => ({
    name: process.name,
    text: describeProcess(process, incident, zone),
    change: null,
  }));
  return (users.length > 0 ? users : processes).slice(0, MAX_USERS);
}
