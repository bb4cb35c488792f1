"""`normstat mcp`: the Model Context Protocol on standard input and output, for an assistant that starts programs.

The tools run on the server, under `/mcp`: the rights are those of the API token, and the calls are in its audit log.
"""

from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import anyio
import httpx
import typer
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from pydantic import BaseModel

from normstat import __version__
from normstat.api.routes.assistant_prompts import INSTRUCTIONS
from normstat.cli.db_session import exit_with
from normstat.errors import BadRequest, NormstatError, NotAuthenticated

app = typer.Typer(add_completion=False)

Context = ServerRequestContext[Any]
# A comparison waits for others, and then takes seconds.
TIMEOUT_S: Final = 150.0


@app.command()
def mcp(
    *,
    server: Annotated[
        str, typer.Option(envvar="NORMSTAT_SERVER", show_envvar=True, help="address of the server")
    ] = "http://127.0.0.1:8080",
    token: Annotated[
        str, typer.Option(envvar="NORMSTAT_API_TOKEN", show_envvar=True, help="API token; better in the environment")
    ] = "",
) -> None:
    """Let an assistant on this machine ask a server: docs/assistants.md. It reads requests from standard input until that ends."""
    try:
        remote = Remote(server, token)
    except NormstatError as error:
        raise exit_with(error) from error
    anyio.run(_serve, remote)


class Remote:
    """The server that answers: each request goes to its `/mcp`, and stands alone."""

    def __init__(self, server: str, token: str) -> None:
        """Raise BadRequest for an address that is not one, NotAuthenticated without a token."""
        parts = urlsplit(server)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise BadRequest(f"Found the server {server!r}; expected http://HOST:PORT or https://HOST")
        if not token:
            raise NotAuthenticated("Set NORMSTAT_API_TOKEN to an API token of the role viewer; the page Accounts creates one")
        self._address = f"{server.rstrip('/')}/mcp"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}

    async def ask(self, method: str, parameters: BaseModel | None) -> dict[str, Any]:
        """Return the result of a request of the protocol.

        Raises: MCPError where the server cannot be reached or refuses it
        """
        sent = {} if parameters is None else parameters.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta"})
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}
        try:
            async with httpx.AsyncClient(headers=self._headers, timeout=TIMEOUT_S) as client:
                answer = await client.post(self._address, json=body)
            found = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise MCPError(INTERNAL_ERROR, f"{self._address} cannot be reached: {type(error).__name__} {error}") from None
        if "result" in found:
            result: dict[str, Any] = found["result"]
            return result
        refusal = found.get("error", {})
        code = refusal.get("code")
        # The codes of our own errors are words.
        raise MCPError(code if isinstance(code, int) else INTERNAL_ERROR, str(refusal.get("message", "")))


async def _serve(remote: Remote) -> None:
    async def list_tools(context: Context, asked: PaginatedRequestParams | None) -> ListToolsResult:
        del context
        return ListToolsResult.model_validate(await remote.ask("tools/list", asked))

    async def call_tool(context: Context, asked: CallToolRequestParams) -> CallToolResult:
        del context
        return CallToolResult.model_validate(await remote.ask("tools/call", asked))

    async def list_prompts(context: Context, asked: PaginatedRequestParams | None) -> ListPromptsResult:
        del context
        return ListPromptsResult.model_validate(await remote.ask("prompts/list", asked))

    async def get_prompt(context: Context, asked: GetPromptRequestParams) -> GetPromptResult:
        del context
        return GetPromptResult.model_validate(await remote.ask("prompts/get", asked))

    answering: Server[Any] = Server(
        "normstat",
        version=__version__,
        title="normstat",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    async with stdio_server() as (incoming, outgoing):
        await answering.run(incoming, outgoing, answering.create_initialization_options())
