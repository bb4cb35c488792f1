"""A small TCP proxy: each connection goes to the next server, and to another one where that does not listen."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Final

READ_BYTES: Final = 1 << 16


class RoundRobin:
    """The proxy, in a thread with an event loop of its own."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = list(ports)
        self._next = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_listening = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="round_robin", daemon=True)
        self.port = 0

    def start(self) -> None:
        """Listen at a free port."""
        self._thread.start()
        assert self._is_listening.wait(60)

    def stop(self) -> None:
        """Cut all connections."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(60)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(server.sockets[0].getsockname()[1])
        self._is_listening.set()
        await self._stopped.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The event loop itself keeps no task alive.
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            for _ in self._ports:
                port = self._ports[self._next % len(self._ports)]
                self._next += 1
                try:
                    up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    continue
                pumps = [asyncio.ensure_future(_pump(*ends)) for ends in ((reader, up_writer), (up_reader, writer))]
                try:
                    await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for pump in pumps:
                        pump.cancel()
                    await asyncio.gather(*pumps, return_exceptions=True)
                    up_writer.close()
                return
        finally:
            writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(READ_BYTES):
            writer.write(data)
            await writer.drain()


@contextlib.contextmanager
def balancing(ports: Sequence[int]) -> Iterator[int]:
    """The port of a proxy before these."""
    proxy = RoundRobin(ports)
    proxy.start()
    try:
        yield proxy.port
    finally:
        proxy.stop()
