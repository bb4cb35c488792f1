import { PageLink } from "../../components/PageLink";
import { nodes } from "../../components/nodes";
import type { AnswerCard } from "../../logic/answer";
import type { StatInfo, Story, StoryProcess } from "../../logic/api";
import { groupTitle, statOf } from "../../logic/comparison";
import { counted } from "../../logic/counted";
import { drawnLine } from "../../logic/ledger";
import {
  describeExactly,
  describeOnset,
  describeProcess,
  drawnGroup,
  groupsOf,
  processFields,
  type Ranked,
} from "../../logic/story";
import type { Zone } from "../../logic/zone";
import type { Alignment } from "../../state/comparison";
import { GroupSketch } from "./GroupSketch";
import { LedgerParts } from "./LedgerParts";
import { type Place, processLink } from "./link";

export interface AnswerContext {
  readonly ranked: Ranked;
  readonly stats: readonly StatInfo[];
  readonly place: Place;
  readonly zone: Zone;
  readonly align: Alignment;
  /** Shows a group in the list of all changes. */
  readonly onGroup: (rank: number) => void;
}

interface AnswerDetailsProps extends AnswerContext {
  readonly id: string;
  readonly card: AnswerCard;
  /** Whether its sentence stands above already. */
  readonly isAnswer: boolean;
}

/** One card in full: the series that its sentence names over the baseline's band, its processes, who took what, the evidence. */
export function AnswerDetails({ id, card, isAnswer, ...context }: AnswerDetailsProps) {
  const { line, story } = card;
  const onset = describeOnset(card.onsetMs, context.place.window, context.zone);
  return (
    <section id={id} className="card answer-details" aria-label={`${card.title} in detail`}>
      {!isAnswer && <p className="answer-details-sentence">{card.sentence}</p>}
      <Graph card={card} {...context} />
      {onset !== null && <p className="soft">{nodes`Began ${<b>{onset.at}</b>}, ${onset.into}.`}</p>}
      {story !== null && <StoryChips story={story} {...context} />}
      {line !== null && (
        <details className="answer-fold">
          <summary>Who took what</summary>
          <LedgerParts line={line} stats={context.stats} window={context.place.window} clock={context.place.clock} />
        </details>
      )}
      {story !== null && <Evidence story={story} {...context} />}
    </section>
  );
}

/** What the sentence is about: the total of the ledger's line, else a group of the story. */
function Graph({ card: { line, story, title }, ranked, stats, zone, align }: AnswerContext & { readonly card: AnswerCard }) {
  const total = line === null ? null : drawnLine(line);
  const group = total === null && story !== null ? drawnGroup(story, ranked) : null;
  const drawn = total ?? (group?.members[0] && { ...group.members[0], unit: group.unit });
  if (drawn == null) {
    return null;
  }
  const label = group === null ? title : groupTitle(statOf(stats, group.stat), group);
  return (
    <div className="answer-graph">
      <p className="soft">{label}</p>
      <GroupSketch finding={drawn} unit={drawn.unit} align={align} zone={zone} label={label} />
    </div>
  );
}

/** The processes, linked to their pages, and the other tools that saw the same. */
function StoryChips({ story, ranked, stats, place, zone }: AnswerContext & { readonly story: Story }) {
  const link = (process: StoryProcess) =>
    processLink(
      process,
      statOf(stats, process.stat),
      processFields(process, [...ranked.values()], statOf(stats, process.stat)),
      place,
    );
  return story.processes.length + story.also_seen_by.length === 0 ? null : (
    <div className="story-chips">
      {story.processes.length > 0 && (
        <ul className="chips" aria-label="Processes">
          {story.processes.map((process) => (
            <li key={`${process.host} ${process.stat} ${process.instance}`}>
              <PageLink
                className="chip story-process"
                data-change={process.change}
                to="/hosts/$host"
                params={{ host: process.host }}
                search={link(process)}
                title={process.origin === "" ? process.sentence : `${process.sentence}. ${process.origin}`}
              >
                <b>{process.name}</b> {describeProcess(process, place.window, zone)}
              </PageLink>
            </li>
          ))}
        </ul>
      )}
      {story.also_seen_by.length > 0 && (
        <ul className="chips" aria-label="Also seen by">
          <li className="soft" aria-hidden>
            also seen by
          </li>
          {story.also_seen_by.map((name) => (
            <li key={name} className="chip-plain">
              {name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The clauses of a story in the order of cause and effect; each leads to its group in the list of all changes. */
function Evidence({ story, ranked, onGroup }: AnswerContext & { readonly story: Story }) {
  const n_missing = story.ranks.length - groupsOf(story, ranked).length;
  return (
    <details className="answer-fold">
      <summary>{`Evidence: ${counted(story.ranks.length, "change")}`}</summary>
      <ul className="story-evidence" aria-label="Evidence">
        {story.processes.map((process) => (
          <li key={`${process.host} ${process.stat} ${process.instance}`}>
            {process.sentence}
            {process.origin !== "" && <span className="soft"> ({process.origin})</span>}
          </li>
        ))}
        {story.lines.map(({ rank, role, text }) => {
          const group = ranked.get(rank);
          return (
            <li key={rank} data-role={role}>
              {group === undefined ? (
                text
              ) : (
                <button
                  type="button"
                  className="text-button"
                  title={describeExactly(group)}
                  onClick={() => {
                    onGroup(rank);
                  }}
                >
                  {text}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {n_missing > 0 && <p className="soft">{`${counted(n_missing, "weaker change")} of it are not in the result.`}</p>}
    </details>
  );
}
