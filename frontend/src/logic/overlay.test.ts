import { describe, expect, it } from "vitest";
import type { SeriesBlock } from "./block";
import { describeOverlay, formatOverlay, movedBlock, overlayPieces, overlayWindow, parseOverlay } from "./overlay";
import { DAY, toEpochMs } from "./time";

const yesterday = parseOverlay("yesterday")!;
const other = parseOverlay("host:web2")!;

describe("an overlay", () => {
  it("is in the link", () => {
    for (const text of ["yesterday", "week", "host:web:2"]) {
      expect(formatOverlay(parseOverlay(text)!)).toBe(text);
    }
    expect(["tomorrow", "host:", ""].map(parseOverlay)).toEqual([null, null, null]);
  });

  it("is read a day before and drawn today; that of another host at its own time", () => {
    const window = { start: toEpochMs(2 * DAY), end: toEpochMs(2 * DAY + 1000) };
    expect(overlayWindow(window, yesterday)).toEqual({ start: DAY, end: DAY + 1000 });
    expect(overlayWindow(window, other)).toEqual(window);
    const block = { series: [{ times: [DAY + 5], values: [1] }] } as unknown as SeriesBlock;
    expect(movedBlock(block, yesterday).series[0]?.times).toEqual([2 * DAY + 5]);
    expect(movedBlock(block, other)).toBe(block);
  });

  it("keeps its gaps", () => {
    const pieces = overlayPieces({ instance: "", field: "f", unit: "", n_raw: 3, times: [1, 2, 3, 4], values: [7, 8, null, 9] });
    expect(pieces.map(({ times, middle }) => [times, middle])).toEqual([
      [
        [1, 2],
        [7, 8],
      ],
      [[4], [9]],
    ]);
  });

  it("says what it is, or why it is not there", () => {
    expect(describeOverlay(yesterday, 2, null, false)).toBe("dashed: yesterday, the same time of day");
    expect(describeOverlay(other, 2, null, false)).toBe("dashed: web2");
    expect(describeOverlay(other, 0, null, false)).toBe("no samples of this panel on web2 in this window");
    expect(describeOverlay(other, 0, "There is no host 'web2'", false)).toBe("no data of web2: There is no host 'web2'");
    expect(describeOverlay(yesterday, 0, null, true)).toBe("yesterday …");
  });
});
