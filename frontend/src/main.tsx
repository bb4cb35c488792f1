import "@mantine/core/styles.css";
import "./style.css";
import { MantineProvider } from "@mantine/core";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { isWorthRetrying, meQuery } from "./api/queries";
import { createAppRouter } from "./router";
import { colorSchemeManager, theme } from "./theme";

const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      // The session ended while the page was open; asking who we are leads to the login.
      if (error instanceof ApiError && error.status === 401 && query.queryKey[0] !== meQuery.queryKey[0]) {
        void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
      }
    },
  }),
  defaultOptions: { queries: { retry: isWorthRetrying, staleTime: 2_000, refetchOnWindowFocus: true } },
});
const router = createAppRouter();

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

const root = document.getElementById("root");
if (root === null) {
  throw new Error("index.html has no element #root");
}

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} colorSchemeManager={colorSchemeManager} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
