import { expect, test } from "vitest";
import { counted } from "./counted";

test("a count is shown with its noun", () => {
  expect([counted(0, "sample"), counted(1, "sample"), counted(86_400, "sample")]).toEqual([
    "0 samples",
    "1 sample",
    "86,400 samples",
  ]);
  expect([counted(1, "series", "series")]).toEqual(["1 series"]);
});
