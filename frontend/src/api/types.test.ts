import { readFileSync } from "node:fs";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { format, type FormatConfig } from "oxfmt";
import { expect, it } from "vitest";

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

// Generating all types takes a few seconds on a busy machine.
it("the types of the API match openapi.json; if not: npm run gen", { timeout: 60_000 }, async () => {
  const text = astToString(await openapiTS(JSON.parse(read("../../openapi.json")) as OpenAPI3));
  const options = JSON.parse(read("../../.oxfmtrc.json")) as FormatConfig;
  const { code, errors } = await format("types.gen.ts", text, options);
  const strip = (source: string): string => source.slice(source.indexOf("export "));
  expect(errors).toEqual([]);
  expect(strip(read("types.gen.ts"))).toBe(strip(code));
});
