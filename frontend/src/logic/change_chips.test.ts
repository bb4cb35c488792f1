import { expect, test } from "vitest";
import { chipCounts, chippedGroups, chippedVerdicts } from "./change_chips";
import { madeFinding, madeGroup } from "./comparison_fixture";

const GROUPS = [
  madeGroup(1),
  madeGroup(2, { certainty: "likely" }),
  madeGroup(3, { kind: "appeared" }),
  madeGroup(4, { members: [madeFinding({ explained_by_load: 0.8 })] }),
];
const COUNTS = { appeared: 2, disappeared: 0, insufficient_data: 5, muted: 0 };

test("pressed chips show the union of their groups, none all of them", () => {
  const ranks = (...chips: Parameters<typeof chippedGroups>[1]) => chippedGroups(GROUPS, chips).map(({ rank }) => rank);
  expect(ranks()).toEqual([1, 2, 3, 4]);
  expect(ranks("likely", "load")).toEqual([2, 4]);
  expect(ranks("unchanged")).toEqual([]);
  expect(chippedVerdicts(["sure", "appeared", "insufficient-data", "muted"])).toEqual(["appeared", "insufficient_data"]);
});

test("a chip counts groups and series; one that shows nothing is left out unless it is pressed", () => {
  const compared = { groups: GROUPS, counts: COUNTS, n_unchanged: 7 };
  const shown = (...args: [Parameters<typeof chipCounts>[1], Parameters<typeof chipCounts>[2]]) =>
    chipCounts(compared, ...args).map(({ chip, count }) => `${chip} ${String(count)}`);
  expect(shown(null, [])).toEqual(["sure 3", "likely 1", "appeared 3", "load 1", "insufficient-data 5", "unchanged 7"]);
  const counts = { unusual: 0, likely: 4, unchanged: 6, appeared: 2, disappeared: 0, insufficient_data: 5, muted: 0 };
  expect(shown(counts, ["muted"])).toEqual([
    "sure 3",
    "likely 5",
    "appeared 3",
    "load 1",
    "insufficient-data 5",
    "unchanged 6",
    "muted 0",
  ]);
});
