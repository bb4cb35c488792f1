import { describe, expect, it } from "vitest";
import { describeDifference, describeSide, nextOffset, pageText, previousOffset } from "./series_verdict";

const percent = { unit: "%", decimals: 2 };

describe("the values of a series", () => {
  it("are the median, the range and the samples", () => {
    const side = { n: 600, median: 3, lowest: 0, highest: 6.07 };
    expect(describeSide(side, percent)).toEqual({ value: "3.00 %", range: "0.00 to 6.07; 600 samples" });
  });
  it("have no range where there is none", () => {
    expect(describeSide({ n: 1, median: 3, lowest: 3, highest: 3 }, percent)).toEqual({ value: "3.00 %", range: "1 sample" });
    expect(describeSide({ n: 0, median: null, lowest: null, highest: null }, percent)).toEqual({ value: "–", range: "" });
  });
});

describe("the difference", () => {
  it("has its sign and the ratio", () => {
    expect(describeDifference({ ...percent, difference: 79.8, ratio: 27.6 })).toBe("+79.80 % (27.6×)");
    expect(describeDifference({ ...percent, difference: -0.93, ratio: 0.7 })).toBe("−0.93 % (0.70×)");
  });
  it("has no ratio to zero, and none without a side", () => {
    expect(describeDifference({ ...percent, difference: 5, ratio: null })).toBe("+5.00 %");
    expect(describeDifference({ ...percent, difference: 0, ratio: 1 })).toBe("0.00 %");
    expect(describeDifference({ ...percent, difference: null, ratio: null })).toBe("–");
  });
});

describe("the page", () => {
  it("counts from one", () => {
    expect(pageText(50, 50, 1234)).toBe("51–100 of 1,234");
  });
  it("has neighbours but at the ends", () => {
    expect([previousOffset(0), previousOffset(50), previousOffset(20)]).toEqual([null, 0, 0]);
    expect([nextOffset(0, 50), nextOffset(0, 51), nextOffset(50, 101)]).toEqual([null, 50, 100]);
  });
});
