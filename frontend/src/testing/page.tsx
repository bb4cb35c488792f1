/** Opens a page of the app as its own entry does, without a browser. */

import { MantineProvider, mergeThemeOverrides, Popover } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import { createQueryClient } from "../api/query_client";
import { createAppRouter } from "../router";
import { theme } from "../theme";

const STILL = mergeThemeOverrides(theme, {
  // Dialogs and menus open and close at once: vite.config.ts asks for reduced motion.
  respectReducedMotion: true,
  // Without a layout every list would count as scrolled out of sight.
  components: { Popover: Popover.extend({ defaultProps: { hideDetached: false } }) },
});

/** Show the page of an address; returns the user's hands. */
export function openPage(address: string): UserEvent {
  window.history.replaceState(null, "", address);
  const client = createQueryClient();
  // A failure is shown at once.
  client.setDefaultOptions({ queries: { ...client.getDefaultOptions().queries, retry: false } });
  render(
    <MantineProvider theme={STILL}>
      <QueryClientProvider client={client}>
        <RouterProvider router={createAppRouter()} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  // Each key is a task of its own, as from a keyboard.
  return userEvent.setup({ delay: 0 });
}

/** The address as it is now: path and search. */
export function address(): string {
  return `${window.location.pathname}${window.location.search}`;
}
