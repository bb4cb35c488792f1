"""Limits of request bodies: too large a body gets 413, too many at once 503."""

from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normstat.auth.client_address import group_of

RETRY_AFTER_S: Final = 5
# Share of the whole budget that one address may use.
ADDRESS_SHARE: Final = 0.5


class BodyBudget:
    """Bytes of bodies held at once; one address may hold half of them.

    A JSON body is read before the request is authenticated.
    """

    def __init__(self, n_bytes: int) -> None:
        self._n_bytes = n_bytes
        self._n_bytes_of_address = int(n_bytes * ADDRESS_SHARE)
        self._held: Counter[str] = Counter()
        self.n_held = 0

    def take(self, address: str, n_bytes: int) -> bool:
        """Count these bytes for the address, and return True if they fit."""
        if self.n_held + n_bytes > self._n_bytes or self._held[address] + n_bytes > self._n_bytes_of_address:
            return False
        self.n_held += n_bytes
        self._held[address] += n_bytes
        return True

    def give_back(self, address: str, n_bytes: int) -> None:
        """Return these bytes to the budget."""
        self.n_held -= n_bytes
        self._held[address] -= n_bytes
        if not self._held[address]:
            del self._held[address]


class BodyLimitMiddleware:
    """Makes reading a body fail with 413 if it is too large, and with 503 if there is no memory for it now.

    `limits_by_path` override `limit`. Bodies sent to `limits_of_streams` do not count against the budget: they are not buffered, or
    have a budget of their own.

    FastAPI's own `max_body_size` answers in plain text. This one raises where the body is read, so that the handlers see it;
    HTTPException, because FastAPI turns any other error of reading into a 400.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limit: int,
        limits_by_path: Mapping[str, int],
        limits_of_streams: Mapping[str, int],
        budget: BodyBudget,
    ) -> None:
        self.app = app
        self._limit = limit
        self._limits_by_path = {**limits_by_path, **limits_of_streams}
        self._streams = frozenset(limits_of_streams)
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        body = _Body(scope, receive, self._limits_by_path.get(path, self._limit), None if path in self._streams else self._budget)

        async def send_and_release(message: Message) -> None:
            # Once it answers, the application has read the body; the client may take its time for the answer.
            body.release()
            await send(message)

        try:
            await self.app(scope, body.receive, send_and_release)
        finally:
            body.release()


class _Body:
    """The body of one request while it is received."""

    def __init__(self, scope: Scope, receive: Receive, limit: int, budget: BodyBudget | None) -> None:
        self._receive = receive
        self._limit = limit
        self._budget = budget
        self._announced = Headers(scope=scope).get("content-length", "")
        # As set by RequestContextMiddleware: behind a proxy each client has its own share.
        self._address = group_of(str(scope.get("state", {}).get("client_address", "")))
        self._n_bytes = 0
        self._n_counted = 0

    async def receive(self) -> Message:
        """Return the next message of the client.

        Raises: HTTPException
        """
        if self._announced.isdecimal() and int(self._announced) > self._limit:
            raise _too_large(self._limit)
        message = await self._receive()
        if message["type"] == "http.request":
            self._count(len(message.get("body", b"")))
        return message

    def _count(self, n_bytes: int) -> None:
        self._n_bytes += n_bytes
        if self._n_bytes > self._limit:
            raise _too_large(self._limit)
        if self._budget is not None and n_bytes:
            if not self._budget.take(self._address, n_bytes):
                raise HTTPException(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    "The server is receiving too much at once; nothing was stored; send it again",
                    headers={"Retry-After": str(RETRY_AFTER_S)},
                )
            self._n_counted += n_bytes

    def release(self) -> None:
        """Return the counted bytes to the budget."""
        if self._budget is not None and self._n_counted:
            self._budget.give_back(self._address, self._n_counted)
            self._n_counted = 0


def _too_large(limit: int) -> HTTPException:
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than the limit of {limit} bytes")
