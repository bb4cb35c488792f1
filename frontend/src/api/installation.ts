/** The checks of the installation; made each time, and only when somebody looks. */

import { queryOptions } from "@tanstack/react-query";
import type { InstallationReport } from "../logic/api";
import { answered, client } from "./client";

export const installationQuery = queryOptions({
  queryKey: ["installation"],
  queryFn: ({ signal }): Promise<InstallationReport> => answered(client.GET("/api/v1/doctor", { signal })),
  staleTime: 30_000,
  refetchOnWindowFocus: false,
});
