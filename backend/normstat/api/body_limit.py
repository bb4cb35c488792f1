"""Bodies above their limit are refused before they are read, or as soon as they turn out to be too long."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimitMiddleware:
    """Makes reading a body that is too long fail with 413.

    FastAPI's own `max_body_size` answers in plain text. This one raises where the body is read, so that the handlers see it;
    HTTPException, because FastAPI turns any other error of reading into a 400.
    """

    def __init__(self, app: ASGIApp, *, limit: int, limits_by_path: Mapping[str, int]) -> None:
        self.app = app
        self._limit = limit
        self._limits_by_path = limits_by_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limits_by_path.get(scope["path"], self._limit)
        announced = Headers(scope=scope).get("content-length", "")
        n_bytes = 0

        async def receive_within_limit() -> Message:
            nonlocal n_bytes
            if announced.isdecimal() and int(announced) > limit:
                raise _too_large(limit)
            message = await receive()
            if message["type"] == "http.request":
                n_bytes += len(message.get("body", b""))
                if n_bytes > limit:
                    raise _too_large(limit)
            return message

        await self.app(scope, receive_within_limit, send)


def _too_large(limit: int) -> HTTPException:
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {limit} bytes, the most that is taken here")
