"""How much of what agents send may be in this process at once: what is beyond is sent away before it is read.

A request is counted when its head is here, by the bytes that it announces; so neither many agents nor large bodies nor slow ones
can make the process grow. Unpacked bytes have a budget of their own, and requests wait in turn for their share of it: they have
been read already, and each gets it, since one alone always fits.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import Final, NoReturn

import anyio.to_thread
import structlog
from fastapi import Request
from starlette.datastructures import Headers

from normstat.errors import Overloaded, TooLarge, TooSlow
from normstat.ingest.wire import Frame, read_body

log = structlog.get_logger()

RETRY_AFTER_S: Final = 5
# So long a request waits for others before it is sent away, and so long it may take to arrive. Agents give up after 60 s.
LONGEST_WAIT_S: Final = 15.0
LONGEST_READ_S: Final = 50.0
# A burst is over when nobody was sent away for this long.
BURST_END_S: Final = 10.0
# The smallest size that is counted: a request has a head, a task and buffers, too.
LEAST_BYTES: Final = 16 * 1024
# Frames are slices of what was unpacked; samples of it are about as large again.
COPIES: Final = 3
# Unpacking this much takes less time than a hop to another thread and back.
INLINE_BYTES: Final = 128 * 1024
# A gzip member ends in the size of what is in it.
GZIP_SIZE_BYTES: Final = 4
LONGEST_NUMBER: Final = 20


class Room:
    """A number of bytes that is shared; who asks for more than is left waits, first come, first served."""

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self.n_free = n_bytes
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def share(self, n_bytes: int, timeout_s: float) -> AsyncIterator[None]:
        """Holds so many bytes (at most all) as long as the block runs.

        Raises: TimeoutError
        """
        wanted = min(n_bytes, self.n_bytes)
        async with asyncio.timeout(timeout_s):
            await self._take(wanted)
        try:
            yield
        finally:
            self._give_back(wanted)

    async def _take(self, n_bytes: int) -> None:
        if not self._waiting and n_bytes <= self.n_free:
            self.n_free -= n_bytes
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((n_bytes, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(n_bytes)
            else:
                self._waiting.remove((n_bytes, turn))
                self._call_next()
            raise

    def _give_back(self, n_bytes: int) -> None:
        self.n_free += n_bytes
        self._call_next()

    def _call_next(self) -> None:
        while self._waiting and self._waiting[0][0] <= self.n_free:
            n_bytes, turn = self._waiting.popleft()
            if not turn.done():
                self.n_free -= n_bytes
                turn.set_result(None)


class Gate:
    """Who is let in: so many requests and so many bytes of bodies at once, and so many bytes unpacked."""

    def __init__(self, *, n_requests: int, n_bytes: int, n_plain_bytes: int, most_plain: int) -> None:
        self._n_requests = n_requests
        self._n_free_bytes = n_bytes
        self._plain = Room(max(n_plain_bytes, COPIES * most_plain))
        self._most_plain = most_plain
        self._refused_at = float("-inf")
        self._n_refused_of_burst = 0
        self.n_inside = 0
        self.n_refused = 0

    @contextmanager
    def admit(self, n_bytes: int) -> Iterator["Ticket"]:
        """Lets a request in whose body has at most so many bytes; it counts as long as the block runs.

        Raises: Overloaded
        """
        n_counted = max(n_bytes, LEAST_BYTES)
        if self.n_inside >= self._n_requests or n_counted > self._n_free_bytes:
            self.refuse()
        self._see_end_of_burst()
        self.n_inside += 1
        self._n_free_bytes -= n_counted
        try:
            yield Ticket(self)
        finally:
            self.n_inside -= 1
            self._n_free_bytes += n_counted

    def refuse(self) -> NoReturn:
        """Counts a request that is sent away; the log has the first of a burst, and how many they were.

        Raises: Overloaded, always
        """
        self._see_end_of_burst()
        if self._n_refused_of_burst == 0:
            log.warning("ingest_overloaded", n_inside=self.n_inside, n_free_bytes=self._n_free_bytes)
        self._refused_at = time.monotonic()
        self._n_refused_of_burst += 1
        self.n_refused += 1
        raise Overloaded("Too many agents send at once; nothing was taken; send it again", {"retry_after_s": RETRY_AFTER_S})

    def _see_end_of_burst(self) -> None:
        if self._n_refused_of_burst and time.monotonic() - self._refused_at > BURST_END_S:
            log.warning("ingest_overload_ended", n_refused=self._n_refused_of_burst)
            self._n_refused_of_burst = 0

    @asynccontextmanager
    async def unpack(self, body: bytes, *, is_gzip: bool) -> AsyncIterator[list[Frame]]:
        """The frames of a body; they count against what may be unpacked as long as the block runs.

        Raises: BadFrame, TooLarge, Overloaded when others need too long
        """
        async with AsyncExitStack() as held:
            yield await self._unpack(held, body, is_gzip=is_gzip)

    async def _unpack(self, held: AsyncExitStack, body: bytes, *, is_gzip: bool) -> list[Frame]:
        # What a gzip body says of its size is right for those of agents; where it is not, the largest size is counted.
        said = min(_plain_size(body, is_gzip=is_gzip), self._most_plain)
        if said < self._most_plain:
            with contextlib.suppress(TooLarge):
                return await self._read(held, body, is_gzip=is_gzip, max_plain=said)
            await held.aclose()
        return await self._read(held, body, is_gzip=is_gzip, max_plain=self._most_plain)

    async def _read(self, held: AsyncExitStack, body: bytes, *, is_gzip: bool, max_plain: int) -> list[Frame]:
        try:
            await held.enter_async_context(self._plain.share(COPIES * max_plain, LONGEST_WAIT_S))
        except TimeoutError:
            self.refuse()
        read = partial(read_body, body, is_gzip=is_gzip, max_plain=max_plain)
        return read() if max_plain <= INLINE_BYTES else await anyio.to_thread.run_sync(read)


class Ticket:
    """A request that was let in."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    @asynccontextmanager
    async def frames(self, request: Request, *, is_gzip: bool) -> AsyncIterator[list[Frame]]:
        """The frames of its body; they count as long as the block runs.

        Raises: BadFrame, TooLarge, TooSlow, Overloaded
        """
        async with self._gate.unpack(await _read_body(request), is_gzip=is_gzip) as frames:
            yield frames


async def _read_body(request: Request) -> bytes:
    try:
        async with asyncio.timeout(LONGEST_READ_S):
            return await request.body()
    except TimeoutError:
        raise TooSlow(f"The body did not arrive within {LONGEST_READ_S:.0f} s; nothing was taken; send it again") from None


def _plain_size(body: bytes, *, is_gzip: bool) -> int:
    return int.from_bytes(body[-GZIP_SIZE_BYTES:], "little") if is_gzip else len(body)


def announced_size(headers: Headers, most: int) -> int:
    """How long the body may be: what its head says, else (it comes in pieces) as long as one can be."""
    said = headers.get("content-length", "")
    return min(int(said), most) if said.isdecimal() and len(said) < LONGEST_NUMBER else most
