/** The cache of the server's answers. */

import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client";
import { isWorthRetrying, meQuery } from "./queries";

export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        // The session ended while the page was open; asking who we are leads to the login.
        if (error instanceof ApiError && error.status === 401 && query.queryKey[0] !== meQuery.queryKey[0]) {
          void client.invalidateQueries({ queryKey: meQuery.queryKey });
        }
      },
    }),
    defaultOptions: { queries: { retry: isWorthRetrying, staleTime: 2_000, refetchOnWindowFocus: true } },
  });
  return client;
}
