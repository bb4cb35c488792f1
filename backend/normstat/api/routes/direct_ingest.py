"""The posts of agents, without the router: most requests of a server are these, and to find their route takes longer than to unpack
them.

It calls the same functions as the route in ingest.py, in the same order; that route remains what the API's document describes.
Everything outside (limits, places, headers, the log) is the same for both.
"""

from dataclasses import dataclass
from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from normstat.api.http.deps import agent_token_scheme, require_agent
from normstat.api.http.handlers import HANDLED, answer_error
from normstat.api.http.state import AppState


@dataclass(frozen=True, slots=True)
class _Route:
    """The route as the metrics see it."""

    path: str


class DirectIngest:
    """Answers `POST path` itself, and leaves everything else to the application."""

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self.app = app
        self._path: Final = path
        self._route: Final = _Route(path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application, or store what an agent sent."""
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        # With all that reads and stores samples: imported for the first post.
        from normstat.api.routes.ingest import ingest  # noqa: PLC0415

        scope["route"] = self._route
        request = Request(scope, receive)
        try:
            state: AppState = request.app.state.normstat
            agent = await require_agent(request, state, await agent_token_scheme(request))
            with state.ingest_gate.admit(agent.token_id) as admitted:
                response = await ingest(request, admitted, agent, state)
        except HANDLED as error:
            await (await answer_error(request, error))(scope, receive, send)
        else:
            await response(scope, receive, send)
