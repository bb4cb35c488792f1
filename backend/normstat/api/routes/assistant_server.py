"""The Model Context Protocol, spoken by its official package: lists tools and prompts, runs a tool, answers over HTTP.

The only module of the server that imports that package, which takes half a second of CPU and 29 MB: it is imported with the first
request of an assistant.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.types import Receive, Scope, Send

from normstat import __version__
from normstat.api.routes.assistant_prompts import INSTRUCTIONS, WHY_SLOW, WHY_SLOW_TEXT, WHY_SLOW_TITLE, write_why_slow
from normstat.api.routes.assistant_tools import TOOLS
from normstat.errors import shorten

# Runs a tool by its name; returns the text of the answer, and whether it is an error.
RunTool = Callable[[str, Mapping[str, object]], Awaitable[tuple[str, bool]]]
MAX_ARGUMENT: Final = 200


async def serve(scope: Scope, receive: Receive, send: Send, *, run_tool: RunTool) -> None:
    """Answer one request of the protocol's streamable HTTP, as one JSON document and without a session.

    Each request stands alone: the next one may go to another process of the server.
    """
    manager = StreamableHTTPSessionManager(make_server(run_tool), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


def make_server(run_tool: RunTool) -> Server[Any]:
    """Return a server of the protocol that runs tools by this function."""

    async def call(context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        del context
        text, is_error = await run_tool(asked.name, asked.arguments or {})
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)

    return Server(
        "normstat",
        version=__version__,
        title="normstat",
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=call,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )


async def _list_tools(context: ServerRequestContext[Any], asked: PaginatedRequestParams | None) -> ListToolsResult:
    del context, asked
    reads_only = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    return ListToolsResult(
        tools=[
            Tool(
                name=tool.name,
                title=tool.title,
                description=tool.text,
                input_schema=tool.asked.model_json_schema(),
                annotations=reads_only,
            )
            for tool in TOOLS
        ]
    )


async def _list_prompts(context: ServerRequestContext[Any], asked: PaginatedRequestParams | None) -> ListPromptsResult:
    del context, asked
    arguments = [
        PromptArgument(name="host", description="name of the host", required=True),
        PromptArgument(name="when", description="when it was slow, as people say it: 07:00, yesterday at noon", required=True),
    ]
    return ListPromptsResult(prompts=[Prompt(name=WHY_SLOW, title=WHY_SLOW_TITLE, description=WHY_SLOW_TEXT, arguments=arguments)])


async def _get_prompt(context: ServerRequestContext[Any], asked: GetPromptRequestParams) -> GetPromptResult:
    del context
    given = asked.arguments or {}
    if asked.name != WHY_SLOW:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {shorten(asked.name)}; there is {WHY_SLOW}")
    if not {"host", "when"} <= given.keys():
        raise MCPError(INVALID_PARAMS, f"The prompt {WHY_SLOW} needs `host` and `when`")
    text = write_why_slow(given["host"][:MAX_ARGUMENT], given["when"][:MAX_ARGUMENT])
    return GetPromptResult(
        description=WHY_SLOW_TEXT, messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))]
    )
