import { expect, test } from "vitest";
import { answerOf, usersOf } from "./answer";
import { madeLedgerLine, madeLedgerPart, madeStory } from "./comparison_fixture";
import { MINUTE, toEpochMs } from "./time";

const INCIDENT = { start: toEpochMs(Date.UTC(2026, 10, 21, 9, 35)), end: toEpochMs(Date.UTC(2026, 10, 21, 9, 35) + 10 * MINUTE) };

test("a story has its ledger line; lines that no story tells follow, and what is as normal stands apart", () => {
  const cpu = madeStory(1, [1], { resource: "cpu", title: "CPU", sentence: "Likely: yes took it." });
  const locks = madeStory(2, [2], { title: "Locks", sentence: "Locks spin.", resource: null });
  const lines = [
    madeLedgerLine({ resource: "memory", certainty: "nothing" }),
    madeLedgerLine({ certainty: "likely" }),
    madeLedgerLine({ host: "web2" }),
  ];
  const { cards, normal } = answerOf({ stories: [cpu, locks], ledger: lines });
  expect(cards.map(({ title, host, certainty }) => [title, host, certainty])).toEqual([
    ["CPU", "web1", "likely"],
    ["Locks", "web1", "sure"],
    ["CPU", "web2", "sure"],
  ]);
  expect(cards[0]?.sentence).toBe("yes took it.");
  expect(cards[0]?.line).toBe(lines[1]);
  expect(normal.map(({ title }) => title)).toEqual(["Memory"]);
  expect(new Set([...cards, ...normal].map(({ key }) => key)).size).toBe(4);
  expect(answerOf({})).toEqual({ cards: [], normal: [] });
});

test("who did it is whom the ledger names, else the processes of the story", () => {
  const line = madeLedgerLine({ parts: [madeLedgerPart({})] });
  expect(usersOf({ line, story: null }, INCIDENT, "UTC").map(({ name, change }) => [name, change])).toEqual([
    ["yes (812)", "new"],
  ]);
  const unseen = madeLedgerLine({ parts: [] });
  expect(usersOf({ line: unseen, story: madeStory(1, [1]) }, INCIDENT, "UTC")).toEqual([
    { name: "dd (29206)", text: "new, since 09:35:12", change: null },
  ]);
  expect(usersOf({ line: unseen, story: null }, INCIDENT, "UTC")).toEqual([]);
});
