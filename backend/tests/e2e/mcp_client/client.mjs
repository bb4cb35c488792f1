/** Asks a server by the protocol: client.mjs http URL | client.mjs stdio COMMAND ARGUMENTS... The token is NORMSTAT_API_TOKEN.
 *  Reads `{tool, arguments}` as lines of JSON and writes each answer, after a first line with what the server offers. */
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, target, ...rest] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${process.env.NORMSTAT_API_TOKEN}` };
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } })
    : new StdioClientTransport({ command: target, args: rest, env: process.env });

const client = new Client({ name: "tests", version: "1" });
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ server: client.getServerVersion(), instructions: client.getInstructions(), tools, prompts });
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, arguments: asked } = JSON.parse(line);
  const answer = await client.callTool({ name: tool, arguments: asked });
  say({ text: answer.content[0].text, isError: answer.isError ?? false });
}
await client.close();
