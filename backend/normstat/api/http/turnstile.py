"""Bound how many requests are worked on at once; the others wait for their turn, address by address.

An event loop with thousands of requests gives each of them a step before any gets the next one: /health, which
needs a few steps, would wait for all of them again and again.
"""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normstat.api.http.fair_queue import FairQueue
from normstat.api.http.handlers import error_response
from normstat.auth.client_address import group_of
from normstat.errors import Overloaded

RETRY_AFTER_S: Final = 5
MAX_WAIT_S: Final = 15.0
# Maximum share of the slots for one address: room for two batches of agents behind one address, and some requests being read.
ADDRESS_SHARE: Final = 0.625
# Set in the scope by this process alone.
HAS_SLOT: Final = "normstat.has_slot"


def in_same_slot(app: ASGIApp) -> ASGIApp:
    """Return the application for requests that a request makes which has a slot: they need none of their own."""

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, HAS_SLOT: True}, receive, send)

    return enter


def make_turnstile(n_places: int) -> FairQueue[str]:
    """Return the slots for requests, shared by addresses."""
    return FairQueue(n_places, max_per_key=max(1, int(n_places * ADDRESS_SHARE)))


class TurnstileMiddleware:
    """Makes requests wait for a slot before any work is done for them.

    A request gives its slot up while it waits for its client, and when its answer begins: neither a slow client nor a stream that
    goes on for minutes blocks others. Paths in `open_paths` need none, nor do requests that another request makes while it holds
    one (`in_same_slot`): they would wait for each other.
    """

    def __init__(self, app: ASGIApp, *, turnstile: FairQueue[str], open_paths: frozenset[str]) -> None:
        self.app = app
        self._turnstile = turnstile
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application."""
        if scope["type"] != "http" or scope["path"] in self._open_paths or scope.get(HAS_SLOT):
            await self.app(scope, receive, send)
            return
        # As RequestContextMiddleware found it: behind a proxy each client has its own share.
        address = group_of(str(scope.get("state", {}).get("client_address", "")))
        turnstile = self._turnstile
        try:
            await turnstile.enter(address, max_wait_s=MAX_WAIT_S)
        except TimeoutError:
            error = Overloaded("Too many requests wait for an answer; try again", {"retry_after_s": RETRY_AFTER_S})
            await error_response(str(scope.get("state", {}).get("request_id", "")), error)(scope, receive, send)
            return
        is_inside = True

        async def receive_outside() -> Message:
            nonlocal is_inside
            if not is_inside:
                return await receive()
            is_inside = False
            turnstile.leave(address)
            message = await receive()
            turnstile.take(address)
            is_inside = True
            return message

        async def send_outside(message: Message) -> None:
            nonlocal is_inside
            if is_inside:
                is_inside = False
                turnstile.leave(address)
            await send(message)

        try:
            await self.app(scope, receive_outside, send_outside)
        finally:
            if is_inside:
                turnstile.leave(address)
