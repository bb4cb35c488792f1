/** What tests of the page use: a server of their own, whose surprises and the page's complaints fail the test. */

import { cleanup } from "@testing-library/react";
import { expect, test as base, vi } from "vitest";
import { FakeServer } from "./server";

export { screen, waitFor, within } from "@testing-library/react";
export { address, openPage } from "./page";
export { expect };

export const test = base.extend<{ readonly server: FakeServer }>({
  // Vitest reads the names of the fixtures from the pattern.
  server: async ({}, run) => {
    const complain = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const server = new FakeServer();
    await run(server);
    cleanup();
    const complaints = complain.mock.calls
      .map((call) => call.map(String).join(" "))
      // happy-dom does not know this element.
      .filter((text) => !/^The tag <%s> is unrecognized.* search$/.test(text));
    complain.mockRestore();
    server.expectNoSurprise();
    expect(complaints, "errors on the console").toEqual([]);
  },
});
