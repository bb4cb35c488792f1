import { Badge, List, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { artefactAnswersQuery } from "../../api/artefact_diff";
import { PendingView } from "../../components/StateView";
import type { Answer, Artefact } from "../../logic/api";
import "./answers.css";

interface AnswersProps {
  readonly artefact: Pick<Artefact, "id" | "host">;
  /** The heading, where it is not the usual one. */
  readonly title?: string;
}

/** What follows from an artefact and the series of its host, each with its formula and sources; what to act on first. */
export function Answers({ artefact, title = "Suggestions" }: AnswersProps) {
  const found = useQuery(artefactAnswersQuery(artefact.id));
  return (
    <section className="card answers" aria-label={title}>
      <Title order={2} mb={4}>
        {title}
      </Title>
      {found.data === undefined ? (
        <PendingView query={found} what="what follows" isCompact />
      ) : found.data.answers.length === 0 ? (
        <Text fz="sm" className="soft">
          No further suggestions. Answers are derived from counts, times and profiles, together with the recorded series of the
          host.
        </Text>
      ) : (
        <ul className="answers-list">
          {found.data.answers.map((answer, at) => (
            <OneAnswer key={`${String(at)} ${answer.key}`} answer={answer} host={artefact.host} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface OneAnswerProps {
  readonly answer: Answer;
  readonly host: string;
}

function OneAnswer({ answer, host }: OneAnswerProps) {
  const { question, sentence, formula, sources, hint, is_warning: isWarning } = answer;
  return (
    <li className={isWarning ? "answer answer-warning" : "answer"}>
      <Text fz="xs" className="soft">
        {question}
      </Text>
      <Text fz="sm" fw={600} className="answer-text">
        {isWarning && (
          <Badge size="xs" mr={6} variant="outline" className="answer-badge">
            Act on it
          </Badge>
        )}
        {sentence}
      </Text>
      {hint !== null && (
        <Text fz="sm" className="answer-text">
          <b>What usually helps:</b> {hint.text} <span className="soft">{`Source: ${hint.source}`}</span>
        </Text>
      )}
      <details>
        <summary>From: {sources.map(({ text }) => text).join("; ")}</summary>
        {formula !== "" && (
          <Text fz="sm" className="answer-text">
            Formula: <span className="mono">{formula}</span>
          </Text>
        )}
        <List size="sm">
          {sources.map((source, at) => (
            <List.Item key={`${String(at)} ${source.text}`} className="answer-text">
              {source.kind === "series" ? (
                <>
                  {`series of ${host}`}: {source.text}{" "}
                  <span className="mono soft">
                    {[source.stat, source.field, source.instance].filter((word) => word !== "").join(" ")}
                  </span>
                </>
              ) : (
                <>
                  {source.text} <span className="mono soft">{source.row}</span>
                </>
              )}
            </List.Item>
          ))}
        </List>
      </details>
    </li>
  );
}
