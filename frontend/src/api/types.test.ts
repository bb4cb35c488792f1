import { readFileSync } from "node:fs";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { format, resolveConfig } from "prettier";
import { expect, it } from "vitest";

// Generating all types takes a few seconds on a busy machine.
it("the types of the API match openapi.json; if not: npm run gen", { timeout: 60_000 }, async () => {
  const path = new URL("types.gen.ts", import.meta.url).pathname;
  const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as OpenAPI3;
  const text = astToString(await openapiTS(document));
  const made = await format(text, { ...(await resolveConfig(path)), parser: "typescript" });
  const strip = (source: string): string => source.slice(source.indexOf("export "));
  expect(strip(readFileSync(path, "utf8"))).toBe(strip(made));
});
