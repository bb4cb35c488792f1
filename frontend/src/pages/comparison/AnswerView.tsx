import { type ReactNode, useId, useState } from "react";
import { PageLink } from "../../components/PageLink";
import { answerOf, type AnswerCard } from "../../logic/answer";
import type { Circumstance, Comparison } from "../../logic/api";
import { certaintyOf } from "../../logic/ledger";
import { describeSentence, describeTimes } from "../../logic/story";
import type { Zone } from "../../logic/zone";
import { AnswerCards } from "./AnswerCards";
import { type AnswerContext, AnswerDetails } from "./AnswerDetails";
import { circumstanceLink, type Place } from "./link";
import "./answer.css";

interface AnswerViewProps extends AnswerContext {
  readonly comparison: Comparison;
  readonly past: ReactNode;
}

/** The answer: one sentence with its resource and how certain it is, what happened around it, and a card for each resource. */
export function AnswerView({ comparison, past, ...context }: AnswerViewProps) {
  const detailsId = useId();
  const { cards, normal } = answerOf(comparison);
  const [first] = cards;
  const [chosen, setChosen] = useState<string | null>(first?.key ?? null);
  const shown = [...cards, ...normal].find(({ key }) => key === chosen) ?? null;
  const common = {
    shown: shown?.key ?? null,
    detailsId,
    hasManyHosts: comparison.hosts.length > 1,
    incident: context.place.window,
    zone: context.zone,
    onShow: (key: string) => {
      setChosen(key === chosen ? null : key);
    },
  };
  return (
    <>
      {first ? (
        <Headline card={first} title={first.story === null ? "" : describeSentence(first.story, context.ranked)} />
      ) : (
        comparison.groups.length > 0 && <p className="lead">{comparison.verdict}</p>
      )}
      {past}
      <Circumstances circumstances={comparison.circumstances ?? []} place={context.place} zone={context.zone} />
      <Notes notes={comparison.notes ?? []} />
      {cards.length > 0 && <AnswerCards {...common} cards={cards} label="Who, what and since when" />}
      {normal.length > 0 && <AnswerCards {...common} cards={normal} label="As normal" />}
      {shown !== null && (
        <AnswerDetails key={shown.key} {...context} id={detailsId} card={shown} isAnswer={shown.key === first?.key} />
      )}
    </>
  );
}

function Headline({ card, title }: { readonly card: AnswerCard; readonly title: string }) {
  return (
    <div className="headline">
      <p className="headline-subject">
        <span>{card.title}</span>
        <span className="answer-certainty" data-certainty={card.certainty}>
          {certaintyOf(card)}
        </span>
      </p>
      <p className="lead" title={title}>
        {card.sentence}
      </p>
    </div>
  );
}

/** How far the answer can be trusted. */
function Notes({ notes }: { readonly notes: readonly string[] }) {
  return notes.length === 0 ? null : (
    <ul className="lead-notes soft" aria-label="Notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

interface CircumstancesProps {
  readonly circumstances: readonly Circumstance[];
  readonly place: Place;
  readonly zone: Zone;
}

/** Events near the onset, tools that disturbed the host and missing data, each with a link to where it is shown. */
function Circumstances({ circumstances, place, zone }: CircumstancesProps) {
  return circumstances.length === 0 ? null : (
    <ul className="circumstances" aria-label="Around the incident">
      {circumstances.map((one) => (
        <li key={`${one.host} ${one.sentence} ${String(one.start_ms)}`} data-kind={one.kind} data-cause={one.is_likely_cause}>
          <span className="circumstance-time soft">{describeTimes(one, place.window, zone)}</span>
          <PageLink to="/hosts/$host" params={{ host: one.host }} search={circumstanceLink(one, place)} fz="sm">
            {one.sentence}
          </PageLink>
        </li>
      ))}
    </ul>
  );
}
