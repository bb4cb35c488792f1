import { expect, test } from "vitest";
import { toEpochMs } from "./time";
import { readTimes } from "./time_filter";

const NOW = toEpochMs(Date.UTC(2026, 10, 21, 12));
const at = (hour: number) => Date.UTC(2026, 10, 21, hour);

test("a side that is empty does not limit", () => {
  expect(readTimes("", " ", "UTC", NOW)).toEqual({ start: null, end: null, problem: null });
  expect(readTimes("now-2h", "", "UTC", NOW)).toEqual({ start: at(10), end: null, problem: null });
});

test("what is no time is named, and the other side still counts", () => {
  expect(readTimes("09:00", "someday", "UTC", NOW)).toEqual({
    start: at(9),
    end: null,
    problem: "“someday” is not a time. Example: 2026-11-21 09:05, 09:05 or now-7d",
  });
  expect(readTimes("someday", "09:00", "UTC", NOW)).toMatchObject({ start: null, end: at(9) });
});

test("an end before the start does not limit", () => {
  expect(readTimes("09:00", "08:00", "UTC", NOW)).toEqual({
    start: at(9),
    end: null,
    problem: "The second time must be after the first",
  });
});
