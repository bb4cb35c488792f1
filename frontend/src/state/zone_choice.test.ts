import { expect, it } from "vitest";
import { parseSearch } from "./search";
import { clockOf, withClock, zoneSubjectOf } from "./zone_choice";

it("reads the clock of a link, and takes an unknown one as local time", () => {
  expect(["?tz=host", "?tz=utc", "", "?tz=mars", "?tz=utc&tz=host"].map((text) => clockOf(parseSearch(text)))).toEqual([
    "host",
    "utc",
    "local",
    "local",
    "local",
  ]);
  expect(withClock({ tz: "utc", last: "3h" }, "host")).toEqual({ last: "3h", tz: "host" });
  expect(withClock({ tz: "utc", last: "3h" }, "local")).toEqual({ last: "3h" });
});

it("takes the hosts of a page from its address", () => {
  const subject = (pathname: string, search: string, host?: string) => zoneSubjectOf(pathname, host, parseSearch(search));
  expect(subject("/hosts/web1", "?host=other", "web1").hosts).toEqual(["web1"]);
  expect(subject("/hosts", "").hosts).toEqual([]);
  expect(subject("/graph", "?hosts=a,b%252Cc&hosts=a&run=d@2026-11-21T10:00:00Z&group=g&tag=prod")).toEqual({
    hosts: ["a", "b,c", "d"],
    group: "g",
    tag: "prod",
  });
  expect(subject("/comparison", "?host=a&host=b").hosts).toEqual(["a", "b"]);
  expect(subject("/incidents", "?host=a&tag=release")).toEqual({ hosts: ["a"], group: null, tag: null });
  expect(subject("/imports", "?host=a").hosts).toEqual([]);
});
