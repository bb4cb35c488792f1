"""`/mcp`: assistants ask by the Model Context Protocol, with an API token."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from normstat.api.http.audit_notes import changes_nothing, entry_of, say_value
from normstat.api.http.deps import State, ViewerByToken
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.api.routes.assistant_reader import ApiReader, RouteRefusal
from normstat.api.routes.assistant_texts import AssistantAnswer, clean_line, render_answer
from normstat.api.routes.assistant_tools import TOOLS, Place
from normstat.auth.access import Principal
from normstat.errors import BadRequest, NormstatError, NotAllowed, shorten
from normstat.runtime.body import check_body

router = LazyRouter(root="")

PATH: Final = "/mcp"
ACTION: Final = "call_assistant_tool"


@router.post(PATH, include_in_schema=False)
@open_to_limited()
@changes_nothing
async def serve_assistant(request: Request, principal: ViewerByToken, state: State) -> Response:
    """Answer a request of an assistant, by the rights of its API token."""
    return _AssistantResponse(request, principal, state)


class _AssistantResponse(Response):
    """The answer that the package of the protocol writes itself."""

    def __init__(self, request: Request, principal: Principal, state: AppState) -> None:
        super().__init__()
        self._request = request
        self._principal = principal
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Half a second of CPU, for those servers that have an assistant.
        from normstat.api.routes.assistant_server import serve  # noqa: PLC0415

        await serve(scope, receive, send, run_tool=self._run_tool)

    async def _run_tool(self, name: str, arguments: Mapping[str, object]) -> tuple[str, bool]:
        """Return the text of a tool's answer and whether it is an error, and put the call into the audit log."""
        is_refused = False
        try:
            text, is_error = render_answer(await self._ask(name, arguments)), False
        except RouteRefusal as refusal:
            is_refused = refusal.status == NotAllowed.status
            text, is_error = render_answer(AssistantAnswer("The server refused it:", [refusal.message])), True
        except NormstatError as error:
            text, is_error = render_answer(AssistantAnswer("The server refused it:", [error.message])), True
        self._note(name, arguments, is_refused=is_refused)
        return text, is_error

    async def _ask(self, name: str, arguments: Mapping[str, object]) -> AssistantAnswer:
        tool = next((each for each in TOOLS if each.name == name), None)
        if tool is None:
            raise BadRequest(f"There is no tool {shorten(name)}; there are {', '.join(each.name for each in TOOLS)}")
        place = Place(ApiReader(self._request), self._state.settings.public_url, datetime.now(UTC))
        return await tool.run(place, check_body(tool.asked, arguments))

    def _note(self, tool: str, arguments: Mapping[str, object], *, is_refused: bool) -> None:
        entry = entry_of(self._request.scope, action=ACTION)
        assert entry is not None, "the request has an account"
        known = next((each.asked.model_fields for each in TOOLS if each.name == tool), {})
        target = {"tool": clean_line(say_value(tool))}
        # The database has no place for some control characters.
        target |= {key: clean_line(say_value(arguments[key])) for key in known if key in arguments}
        self._state.audit_trail.put(replace(entry, target=target, is_refused=is_refused))
