"""How many requests are worked on at once: the others wait for their turn, address by address.

An event loop that has thousands of requests in hand gives each of them a step before anybody gets the next one: /health, which
needs a few steps, would wait for all of them again and again.
"""

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normstat.api.handlers import error_response
from normstat.auth.client_address import group_of
from normstat.errors import Overloaded

RETRY_AFTER_S: Final = 5
MAX_WAIT_S: Final = 15.0
# Of all places, for one address. Two batches of agents that share an address have room, and some that are being read.
ADDRESS_SHARE: Final = 0.625


class Turnstile:
    """A number of places; addresses take turns, and the requests of one address are served in their order."""

    def __init__(self, n_places: int) -> None:
        self._n_places = n_places
        self._n_of_address = max(1, int(n_places * ADDRESS_SHARE))
        self._inside: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self.n_inside = 0

    async def enter(self, address: str, max_wait_s: float) -> None:
        """Take a place, as soon as it is this request's turn.

        Raises: TimeoutError
        """
        if not self._waiting.get(address) and self._has_room(address):
            self.take(address)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(turn)
        try:
            async with asyncio.timeout(max_wait_s):
                await turn
        except (TimeoutError, asyncio.CancelledError):
            if turn.done() and not turn.cancelled():
                self.leave(address)
            else:
                self._give_up(address, turn)
            raise

    def _has_room(self, address: str) -> bool:
        return self.n_inside < self._n_places and self._inside[address] < self._n_of_address

    def take(self, address: str) -> None:
        """Take a place without waiting, even when there is none."""
        self.n_inside += 1
        self._inside[address] += 1

    def leave(self, address: str) -> None:
        """Give a place back; those whose turn it is go on."""
        self.n_inside -= 1
        self._inside[address] -= 1
        if not self._inside[address]:
            del self._inside[address]
        while (following := next(filter(self._has_room, self._waiting), None)) is not None:
            queue = self._waiting[following]
            turn = queue.popleft()
            if queue:
                self._waiting.move_to_end(following)
            else:
                del self._waiting[following]
            if not turn.done():
                self.take(following)
                turn.set_result(None)

    def _give_up(self, address: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(address)
        if queue is not None:
            with contextlib.suppress(ValueError):
                queue.remove(turn)
            if not queue:
                del self._waiting[address]


class TurnstileMiddleware:
    """Lets requests wait for a place before anything is done for them.

    A request gives its place up while it waits for its client, and when its answer begins: neither a slow client nor a stream that
    goes on for minutes keeps others out. Paths in `open_paths` need none.
    """

    def __init__(self, app: ASGIApp, *, turnstile: Turnstile, open_paths: frozenset[str]) -> None:
        self.app = app
        self._turnstile = turnstile
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application."""
        if scope["type"] != "http" or scope["path"] in self._open_paths:
            await self.app(scope, receive, send)
            return
        # As RequestContextMiddleware found it: behind a proxy each client has its own share.
        address = group_of(str(scope.get("state", {}).get("client_address", "")))
        turnstile = self._turnstile
        try:
            await turnstile.enter(address, MAX_WAIT_S)
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
