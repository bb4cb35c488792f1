"""Bound how much of what agents send this process holds at once; requests over the limit get 503.

A request counts little when only its head has arrived, and then by the bytes received: announced bytes take no memory, and
no capacity from others. Each token may take a share of the whole, so that one of them cannot starve the others. Unpacked bytes
have a budget of their own, and requests wait in turn for their share of it, token by token: they have been read already, and each
gets it, since one alone always fits.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

import anyio.to_thread
import structlog
from fastapi import Request

from normstat.api.http.fair_queue import FairQueue, QueueIsFull
from normstat.errors import Overloaded, TooLarge, TooSlow
from normstat.ingest.protocol import Frame, read_body

log = structlog.get_logger()

RETRY_AFTER_S: Final = 5
# Maximum wait for other requests before a request is refused, and maximum time for it to arrive. Agents give up after 60 s.
MAX_WAIT_S: Final = 15.0
MAX_READ_S: Final = 50.0
# Maximum wait for the lookup of a token that is not cached before its request is refused.
MAX_LOOKUP_WAIT_S: Final = 5.0
# A burst is over when no request was refused for this long.
BURST_END_S: Final = 10.0
# Counted from the start: a request has a head, a task and buffers, too.
MIN_BYTES: Final = 16 * 1024
# Frames are slices of what was unpacked; samples of it are about as large again.
COPIES: Final = 3
# Unknown tokens share one queue.
EVERYBODY: Final = ""
# Unpacking this much takes less time than a hop to another thread and back.
INLINE_BYTES: Final = 128 * 1024
# A gzip member ends with the size of its unpacked content.
GZIP_SIZE_BYTES: Final = 4


class Lobby:
    """Requests with a token that this process has not seen: few are looked up at once, some wait, the rest are refused.

    Invented tokens cannot starve known agents.
    """

    def __init__(self, *, n_at_once: int, n_waiting: int) -> None:
        self._queue: FairQueue[str] = FairQueue(n_at_once, max_waiting=n_waiting)

    @asynccontextmanager
    async def wait(self) -> AsyncIterator[None]:
        """Wait for a place and hold it as long as the block runs.

        Raises: Overloaded
        """
        try:
            await self._queue.enter(EVERYBODY, max_wait_s=MAX_LOOKUP_WAIT_S)
        except (TimeoutError, QueueIsFull):
            raise _overloaded() from None
        try:
            yield
        finally:
            self._queue.leave(EVERYBODY)


def _overloaded() -> Overloaded:
    return Overloaded("Too many agents send at once; nothing was stored; send it again", {"retry_after_s": RETRY_AFTER_S})


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Requests, and bytes of their bodies, at once; `token_share` is the part of both that one token may take.

    One body has at most `max_body_bytes`, and `max_plain_bytes` unpacked; `n_plain_bytes` is the memory for what is unpacked.
    """

    n_requests: int
    n_bytes: int
    n_plain_bytes: int
    max_body_bytes: int
    max_plain_bytes: int
    token_share: float


class Gate:
    """Admission of agents' requests: limits how many are held at once, the bytes of their bodies, and the bytes unpacked."""

    def __init__(self, limits: GateLimits) -> None:
        self._limits = limits
        # Always enough for one body.
        self._n_bytes = max(limits.n_bytes, limits.max_body_bytes + MIN_BYTES)
        self._n_bytes_of_token = max(int(self._n_bytes * limits.token_share), limits.max_body_bytes + MIN_BYTES)
        self._n_requests_of_token = max(1, int(limits.n_requests * limits.token_share))
        self._plain: FairQueue[int] = FairQueue(max(limits.n_plain_bytes, COPIES * limits.max_plain_bytes))
        self._requests: Counter[int] = Counter()
        self._bytes: Counter[int] = Counter()
        self._refused_at = float("-inf")
        self._n_refused_of_burst = 0
        self.n_inside = 0
        self.n_bytes_inside = 0
        self.n_refused = 0

    @contextmanager
    def admit(self, token_id: int) -> Iterator["Ticket"]:
        """Admit a request of that token; it counts as long as the block runs.

        Raises: Overloaded
        """
        if self.n_inside >= self._limits.n_requests or self._requests[token_id] >= self._n_requests_of_token:
            self.refuse()
        self._see_end_of_burst()
        ticket = Ticket(self, token_id)
        self.n_inside += 1
        self._requests[token_id] += 1
        try:
            ticket.count(MIN_BYTES)
            yield ticket
        finally:
            self.n_inside -= 1
            self._subtract(self._requests, token_id, 1)
            self._subtract(self._bytes, token_id, ticket.n_bytes)
            self.n_bytes_inside -= ticket.n_bytes

    def _subtract(self, counts: Counter[int], token_id: int, n: int) -> None:
        counts[token_id] -= n
        if not counts[token_id]:
            del counts[token_id]

    def count(self, token_id: int, n_bytes: int) -> None:
        """Count bytes that have arrived.

        Raises: Overloaded
        """
        if self.n_bytes_inside + n_bytes > self._n_bytes or self._bytes[token_id] + n_bytes > self._n_bytes_of_token:
            self.refuse()
        self.n_bytes_inside += n_bytes
        self._bytes[token_id] += n_bytes

    def refuse(self) -> NoReturn:
        """Count a refused request; the first of a burst is logged, and at its end their number.

        Raises: Overloaded, always
        """
        self._see_end_of_burst()
        if self._n_refused_of_burst == 0:
            log.warning("ingest_overloaded", n_inside=self.n_inside, n_bytes_inside=self.n_bytes_inside)
        self._refused_at = time.monotonic()
        self._n_refused_of_burst += 1
        self.n_refused += 1
        raise _overloaded()

    def _see_end_of_burst(self) -> None:
        if self._n_refused_of_burst and time.monotonic() - self._refused_at > BURST_END_S:
            log.warning("ingest_overload_ended", n_refused=self._n_refused_of_burst)
            self._n_refused_of_burst = 0

    @asynccontextmanager
    async def unpack(self, body: bytes, *, is_gzip: bool, token_id: int = 0) -> AsyncIterator[list[Frame]]:
        """Provide the frames of a body; they count against what may be unpacked as long as the block runs.

        Raises: BadFrame, TooLarge, Overloaded when others need too long
        """
        async with AsyncExitStack() as held:
            yield await self._unpack(held, body, is_gzip=is_gzip, token_id=token_id)

    @asynccontextmanager
    async def room(self, n_bytes: int, *, token_id: int) -> AsyncIterator[None]:
        """Count this many unpacked bytes as long as the block runs.

        Raises: Overloaded when others need too long
        """
        async with AsyncExitStack() as held:
            await self._wait_for_room(held, n_bytes, token_id)
            yield

    async def _unpack(self, held: AsyncExitStack, body: bytes, *, is_gzip: bool, token_id: int) -> list[Frame]:
        # The size in a gzip body is right for those of agents; where it cannot be, the largest size is counted.
        largest = self._limits.max_plain_bytes
        said = min(_plain_size(body, is_gzip=is_gzip), largest)
        if said < largest:
            await self._wait_for_room(held, said, token_id)
            with contextlib.suppress(TooLarge):
                return await _read(body, is_gzip=is_gzip, max_plain=said)
            await held.aclose()
        await self._wait_for_room(held, largest, token_id)
        return await _read(body, is_gzip=is_gzip, max_plain=largest)

    async def _wait_for_room(self, held: AsyncExitStack, n_bytes: int, token_id: int) -> None:
        try:
            await held.enter_async_context(self._plain.hold(token_id, COPIES * n_bytes, max_wait_s=MAX_WAIT_S))
        except TimeoutError:
            self.refuse()


class Ticket:
    """An admitted request."""

    def __init__(self, gate: Gate, token_id: int) -> None:
        self._gate = gate
        self._token_id = token_id
        self.n_bytes = 0

    def count(self, n_bytes: int) -> None:
        """Count bytes that have arrived.

        Raises: Overloaded
        """
        self._gate.count(self._token_id, n_bytes)
        self.n_bytes += n_bytes

    @asynccontextmanager
    async def frames(self, request: Request, *, is_gzip: bool) -> AsyncIterator[list[Frame]]:
        """Provide the frames of its body; they count as long as the block runs.

        Raises: BadFrame, TooLarge, TooSlow, Overloaded
        """
        body = await self._read_body(request)
        async with self._gate.unpack(body, is_gzip=is_gzip, token_id=self._token_id) as frames:
            yield frames

    @asynccontextmanager
    async def body(self, request: Request, *, size_of: Callable[[bytes], int]) -> AsyncIterator[bytes]:
        """Provide its body, which counts as this many unpacked bytes as long as the block runs.

        Raises: TooSlow, Overloaded, and what `size_of` raises
        """
        body = await self._read_body(request)
        async with self._gate.room(size_of(body), token_id=self._token_id):
            yield body

    async def _read_body(self, request: Request) -> bytes:
        pieces = []
        try:
            async with asyncio.timeout(MAX_READ_S), aclosing(request.stream()) as stream:
                async for piece in stream:
                    self.count(len(piece))
                    pieces.append(piece)
        except TimeoutError:
            raise TooSlow(f"The body did not arrive within {MAX_READ_S:.0f} s; nothing was stored; send it again") from None
        return b"".join(pieces)


async def _read(body: bytes, *, is_gzip: bool, max_plain: int) -> list[Frame]:
    read = partial(read_body, body, is_gzip=is_gzip, max_plain=max_plain)
    return read() if max_plain <= INLINE_BYTES else await anyio.to_thread.run_sync(read)


def _plain_size(body: bytes, *, is_gzip: bool) -> int:
    return int.from_bytes(body[-GZIP_SIZE_BYTES:], "little") if is_gzip else len(body)
