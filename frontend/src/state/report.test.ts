import { describe, expect, it } from "vitest";
import { decodeReportView, encodeReportView, REPORT_TABS } from "./report";

describe("the address of a report", () => {
  it.each(REPORT_TABS)("comes back with %s", (show) => {
    expect(decodeReportView(encodeReportView({ show }))).toMatchObject({ view: { show }, ignored: [] });
  });

  it("says what it could not read", () => {
    const { view, ignored } = decodeReportView({ show: "movie" });
    expect(view.show).toBe("notes");
    expect(ignored).toHaveLength(1);
  });
});
