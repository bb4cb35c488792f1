import { expect, test } from "vitest";
import { placeAt, placesOf } from "./places";

test("a page belongs to its place, at whatever depth", () => {
  const places = placesOf(false);
  expect(places.map(({ label }) => label)).toEqual(["Hosts", "Explore", "Incidents", "Evidence", "Settings"]);
  const labelAt = (path: string) => placeAt(places, path)?.label ?? null;
  expect(
    ["/hosts/web1", "/graph", "/reports/7", "/artefacts/diff", "/specs/vmstat/edit", "/watch/rules/mutex"].map(labelAt),
  ).toEqual(["Hosts", "Explore", "Incidents", "Evidence", "Settings", "Settings"]);
  expect([labelAt("/hostsX"), labelAt("/nowhere")]).toEqual([null, null]);
});

test("a limited account has no page about all hosts' storage", () => {
  const pagesOf = (isLimited: boolean) => placesOf(isLimited).flatMap(({ pages }) => pages.map(({ to }) => to));
  expect(pagesOf(true)).toEqual(pagesOf(false).filter((to) => to !== "/storage"));
});
