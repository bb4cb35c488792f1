"""Notifies open pages of new samples: one LISTEN connection per process, one small bounded mailbox per reader.

The database is the messenger, so this works across several server processes, and rolled-back changes are never announced.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime
from typing import Final

import psycopg
import structlog
from psycopg.conninfo import make_conninfo
from pydantic import BaseModel, TypeAdapter, ValidationError

from normstat.db.session import connect_arguments
from normstat.db.turns import retry_wait_s
from normstat.errors import shorten
from normstat.samples.spec_refresh import SPECS_CHANNEL

log = structlog.get_logger()

CHANNEL: Final = "normstat_live"
# One entry per host and spec; a reader that follows more of them misses some events, never the newest.
MAX_WAITING: Final = 1000
FIRST_RETRY_S: Final = 0.5
MAX_RETRY_S: Final = 15.0
# Data that arrived is read at once; if it was not a notification, this ends the wait for one.
TAKE_S: Final = 0.1


class LiveEvent(BaseModel, frozen=True):
    """A host has samples of a spec up to an instant."""

    host: str
    spec: str
    last_sample_at: datetime | None


# What is announced: an event, or several.
NEWS: Final[TypeAdapter[LiveEvent | list[LiveEvent]]] = TypeAdapter(LiveEvent | list[LiveEvent])


class Subscription:
    """The mailbox of one reader: the newest event for each host and spec that it has not read yet."""

    def __init__(self, hosts: frozenset[str] | None) -> None:
        self._hosts = hosts
        self._waiting: dict[tuple[str, str], LiveEvent] = {}
        self._changed = asyncio.Event()
        self._is_closed = False

    def offer(self, event: LiveEvent) -> None:
        """Put the event in, replacing an older one of the same host and spec."""
        if self._hosts is not None and event.host not in self._hosts:
            return
        key = (event.host, event.spec)
        self._waiting.pop(key, None)
        self._waiting[key] = event
        if len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self._changed.set()

    def close(self) -> None:
        """End the reader's iteration."""
        self._is_closed = True
        self._changed.set()

    async def events(self) -> AsyncIterator[LiveEvent]:
        """Yield events as they arrive, until the subscription is closed."""
        while not self._is_closed:
            await self._changed.wait()
            self._changed.clear()
            while self._waiting and not self._is_closed:
                yield self._waiting.pop(next(iter(self._waiting)))


class LiveHub:
    """Listens for database notifications and passes them to every subscriber.

    `on_specs_changed` is called when user specs changed, and after every connect, because changes may have been missed.
    """

    def __init__(self, database_url: str, on_specs_changed: Callable[[], Awaitable[None]] | None = None) -> None:
        self._database_url = database_url
        self._on_specs_changed = on_specs_changed
        self._subscriptions: set[Subscription] = set()
        self._is_closed = False
        self.is_listening = asyncio.Event()

    @contextlib.contextmanager
    def subscribe(self, hosts: frozenset[str] | None) -> Iterator[Subscription]:
        """Provide a subscription that is filled while the block runs, with events of these hosts; None: of all."""
        subscription = Subscription(hosts)
        self._subscriptions.add(subscription)
        if self._is_closed:
            subscription.close()
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)

    def publish(self, event: LiveEvent) -> None:
        """Pass the event to all subscribers."""
        for subscription in self._subscriptions:
            subscription.offer(event)

    def close(self) -> None:
        """End all readers; called when the server stops, which waits for open responses."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.close()

    async def run(self) -> None:
        """Listen until cancelled; reconnect whenever the database was away."""
        n_failures = 0
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    make_conninfo("", **connect_arguments(self._database_url)), autocommit=True
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    await connection.execute(f"LISTEN {SPECS_CHANNEL}")
                    n_failures = 0
                    self.is_listening.set()
                    log.info("live_listening")
                    await self._see_specs_changed()
                    while True:
                        async for notice in connection.notifies(timeout=TAKE_S, stop_after=1):
                            if notice.channel == SPECS_CHANNEL:
                                await self._see_specs_changed()
                            else:
                                self._take(notice.payload)
                        await _wait_until_readable(connection)
            except psycopg.Error as error:
                n_failures += 1
                log.warning("live_lost", error=str(error).strip().splitlines()[:1], retry_s=_pause_s(n_failures))
            finally:
                self.is_listening.clear()
            await asyncio.sleep(_pause_s(n_failures))

    async def _see_specs_changed(self) -> None:
        if self._on_specs_changed is not None:
            await self._on_specs_changed()

    def _take(self, payload: str) -> None:
        if not self._subscriptions:
            return
        try:
            events = NEWS.validate_json(payload)
        except ValidationError:
            log.warning("live_payload_unreadable", payload=shorten(payload))
            return
        for event in [events] if isinstance(events, LiveEvent) else events:
            self.publish(event)


async def _wait_until_readable(connection: psycopg.AsyncConnection[object]) -> None:
    """Wait until the database sends something, or is gone. While it waits itself, psycopg looks ten times a second."""
    loop = asyncio.get_running_loop()
    is_readable = asyncio.Event()
    number = connection.fileno()
    loop.add_reader(number, is_readable.set)
    try:
        await is_readable.wait()
    finally:
        loop.remove_reader(number)


def _pause_s(n_failures: int) -> float:
    return retry_wait_s(n_failures, FIRST_RETRY_S, MAX_RETRY_S)
