import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ADMIN } from "../testing/server";
import { ReadOnlyNotice } from "./ReadOnlyNotice";

test("says that nothing can be changed where the server refuses it, and nothing elsewhere", () => {
  const { rerender } = render(<ReadOnlyNotice me={{ ...ADMIN, is_read_only: true }} />, { wrapper: MantineProvider });
  screen.getByText("Read-only: look at everything, nothing can be changed.");
  rerender(<ReadOnlyNotice me={ADMIN} />);
  expect(screen.queryByText(/Read-only/)).toBeNull();
});
