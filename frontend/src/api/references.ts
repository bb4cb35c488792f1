/** The routes of reference lines, and of expected values among them. */

import type { ExpectedValuePut, ReferenceList } from "../logic/api";
import { answered, client } from "./client";
import type { Signal } from "./endpoints";

/** Fetch the reference lines of graphs, and what is expected of the host's series. */
export function listReferences(host: string, options: Signal): Promise<ReferenceList> {
  return answered(client.GET("/api/v1/references", { ...options, params: { query: { host } } }));
}

/** Say what is expected of a series; a null value takes it back. */
export function putExpected(body: ExpectedValuePut): Promise<ReferenceList> {
  return answered(client.PUT("/api/v1/references", { body }));
}
