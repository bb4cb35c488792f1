import type { AnswerCard } from "../../logic/answer";
import { usersOf } from "../../logic/answer";
import type { LedgerLine } from "../../logic/api";
import { barOf, certaintyOf, describeNormal, describeNow, describeUnseen, isNormal } from "../../logic/ledger";
import { describeOnset } from "../../logic/story";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { ChangeBadge } from "./ChangeBadge";

interface AnswerCardsProps {
  readonly cards: readonly AnswerCard[];
  /** The accessible name of the list. */
  readonly label: string;
  /** The key of the card whose details are shown below. Null: none. */
  readonly shown: string | null;
  /** The id of those details. */
  readonly detailsId: string;
  readonly hasManyHosts: boolean;
  readonly incident: Window;
  readonly zone: Zone;
  readonly onShow: (key: string) => void;
}

/** Who, what and since when of each resource; a press shows its graph and its parts. */
export function AnswerCards({ cards, label, ...props }: AnswerCardsProps) {
  return (
    <ul className="answer-cards" aria-label={label} data-normal={cards.every(isNormal)}>
      {cards.map((card) => (
        <li key={card.key}>
          <Card card={card} {...props} />
        </li>
      ))}
    </ul>
  );
}

interface CardProps extends Omit<AnswerCardsProps, "cards" | "label"> {
  readonly card: AnswerCard;
}

function Card({ card, shown, detailsId, hasManyHosts, incident, zone, onShow }: CardProps) {
  const { line, story } = card;
  const onset = describeOnset(card.onsetMs, incident, zone);
  return (
    <button
      type="button"
      className="answer-card"
      data-certainty={card.certainty}
      data-resource={line?.resource ?? story?.topic}
      aria-expanded={card.key === shown}
      aria-controls={detailsId}
      onClick={() => {
        onShow(card.key);
      }}
    >
      <span className="answer-card-head">
        <b>{hasManyHosts ? `${card.title} on ${card.host}` : card.title}</b>
        <span className="answer-certainty" data-certainty={card.certainty}>
          {certaintyOf(card)}
        </span>
      </span>
      {line === null ? (
        <span className="answer-sentence">{card.sentence}</span>
      ) : (
        <span className="answer-what">
          <b>{describeNow(line)}</b> <span className="soft">normally {describeNormal(line)}</span>
        </span>
      )}
      {line !== null && <UseBar line={line} />}
      {card.certainty !== "nothing" && <Users card={card} incident={incident} zone={zone} />}
      {onset !== null && <span className="soft">{`since ${onset.at}, ${onset.into}`}</span>}
    </button>
  );
}

function Users({ card, incident, zone }: Pick<CardProps, "card" | "incident" | "zone">) {
  const users = usersOf(card, incident, zone);
  if (users.length === 0) {
    return card.line !== null && <span className="soft">{describeUnseen(card.line)}</span>;
  }
  return users.map(({ name, text, change }) => (
    <span key={name} className="answer-user">
      <b>{name}</b> {text}
      <ChangeBadge change={change} />
    </span>
  ));
}

/** The normal range, the capacity and the amount; the text beside it says the same in numbers. */
function UseBar({ line }: { readonly line: LedgerLine }) {
  const { low, width, now, isWhole } = barOf(line);
  return (
    <span className="answer-bar" data-whole={isWhole} aria-hidden>
      <span className="answer-bar-normal" style={{ left: `${String(low)}%`, width: `${String(width)}%` }} />
      <span className="answer-bar-now" style={{ left: `${String(now)}%` }} />
    </span>
  );
}
