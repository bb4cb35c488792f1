import { expect, it } from "vitest";
import { hostOfBundle, isBundleName } from "./bundle";

it("tells bundles from other files, also those that a browser renamed", () => {
  const names = ["a.normstat.zip", "A.NORMSTAT.ZIP", "a.normstat (1).zip", "a.normstat(12).zip"];
  expect(names.map(isBundleName)).toEqual([true, true, true, true]);
  expect(["a.zip", "normstat.zip", "a.normstat.zip.txt", "anormstat.zip"].map(isBundleName)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

it("reads the host from the usual name", () => {
  const span = "20261121T100000Z-20261121T110000Z";
  expect(hostOfBundle(`web-1-${span}.normstat.zip`)).toBe("web-1");
  expect(hostOfBundle(`case 7/db2.example.org-${span}.normstat (1).zip`)).toBe("db2.example.org");
  expect(hostOfBundle("incident.normstat.zip")).toBeNull();
  expect(hostOfBundle(`web1-${span}.zip`)).toBeNull();
});
