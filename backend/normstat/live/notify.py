"""Notifies open pages of new samples: one LISTEN connection per process, one small bounded mailbox per reader.

The database is the messenger, so this works across several server processes, and rolled-back changes are never announced.
"""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime
from typing import Final

import psycopg
import structlog
from psycopg.conninfo import make_conninfo
from pydantic import BaseModel, TypeAdapter, ValidationError

from normstat.db.connecting import connect_arguments
from normstat.db.turns import retry_wait_s
from normstat.errors import shorten
from normstat.runtime.input_limits import HOST_NAME
from normstat.samples.spec_refresh import SPECS_CHANNEL

log = structlog.get_logger()

CHANNEL: Final = "normstat_live"
WATCHED_CHANNEL: Final = "normstat_watched"
# Server processes tell each other this often which hosts are watched, and believe it somewhat longer.
WATCHED_EVERY_S: Final = 20.0
WATCHED_FOR_S: Final = 45.0
# Names in one notification, which PostgreSQL limits to 8000 bytes; a name has at most 200.
NAMES_AT_ONCE: Final = 35
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
NAMES: Final[TypeAdapter[list[str]]] = TypeAdapter(list[str])


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
    """Listens for database notifications and passes them to every subscriber. Knows which hosts have an open page, in any process.

    `on_specs_changed` is called when user specs changed, and after every connect, because changes may have been missed.
    """

    def __init__(
        self,
        database_url: str,
        on_specs_changed: Callable[[], Awaitable[None]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database_url = database_url
        self._on_specs_changed = on_specs_changed
        self._clock = clock
        self._subscriptions: set[Subscription] = set()
        # Open pages of this process by host, what the other processes know of them, and until when a host counts as watched that
        # another process named.
        self._watched: Counter[str] = Counter()
        self._told: frozenset[str] = frozenset()
        self._told_s = float("-inf")
        self._watched_until: dict[str, float] = {}
        # Ends the wait for the database.
        self._is_stirred = asyncio.Event()
        self._is_closed = False
        self.is_listening = asyncio.Event()

    @contextlib.contextmanager
    def subscribe(self, hosts: frozenset[str] | None, *, watched: str = "") -> Iterator[Subscription]:
        """Provide a subscription that is filled while the block runs, with events of these hosts; None: of all.

        `watched` is the one host that its reader looks at.
        """
        subscription = Subscription(hosts)
        self._subscriptions.add(subscription)
        if self._is_closed:
            subscription.close()
        # Other names are of no host, and may be too long to be told.
        is_watching = HOST_NAME.fullmatch(watched) is not None
        if is_watching:
            self._watched[watched] += 1
            self._is_stirred.set()
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            if is_watching:
                self._watched[watched] -= 1
                # Drops those without an open page.
                self._watched = +self._watched

    def is_watched(self, host: str) -> bool:
        """Return whether a page of this host is open, served by any process."""
        return host in self._watched or self._watched_until.get(host, 0.0) > self._clock()

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
                    await connection.execute(f"LISTEN {WATCHED_CHANNEL}")
                    n_failures = 0
                    self.is_listening.set()
                    log.info("live_listening")
                    await self._see_specs_changed()
                    while True:
                        async for notice in connection.notifies(timeout=TAKE_S, stop_after=1):
                            if notice.channel == SPECS_CHANNEL:
                                await self._see_specs_changed()
                            elif notice.channel == WATCHED_CHANNEL:
                                self._take_watched(notice.payload)
                            else:
                                self._take(notice.payload)
                        await self._tell_watched(connection)
                        await self._wait(connection)
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

    def _take_watched(self, payload: str) -> None:
        try:
            names = NAMES.validate_json(payload)
        except ValidationError:
            log.warning("watched_hosts_unreadable", payload=shorten(payload))
            return
        now_s = self._clock()
        known = {name: until_s for name, until_s in self._watched_until.items() if until_s > now_s}
        self._watched_until = known | dict.fromkeys(names, now_s + WATCHED_FOR_S)

    async def _tell_watched(self, connection: psycopg.AsyncConnection[object]) -> None:
        """Tell the other processes which hosts are watched, if they do not know all of them, or will soon forget."""
        self._is_stirred.clear()
        names = sorted(self._watched)
        is_known = self._told.issuperset(names) and self._clock() - self._told_s < WATCHED_EVERY_S
        if not names or is_known:
            return
        self._told, self._told_s = frozenset(names), self._clock()
        for first in range(0, len(names), NAMES_AT_ONCE):
            payload = json.dumps(names[first : first + NAMES_AT_ONCE])
            await connection.execute("SELECT pg_notify(%s, %s)", (WATCHED_CHANNEL, payload))

    async def _wait(self, connection: psycopg.AsyncConnection[object]) -> None:
        """Wait until the database sends something or is gone, or there is something to tell.

        While it waits itself, psycopg looks ten times a second.
        """
        loop = asyncio.get_running_loop()
        number = connection.fileno()
        loop.add_reader(number, self._is_stirred.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WATCHED_EVERY_S if self._watched else None):
                    await self._is_stirred.wait()
        finally:
            loop.remove_reader(number)


def _pause_s(n_failures: int) -> float:
    return retry_wait_s(n_failures, FIRST_RETRY_S, MAX_RETRY_S)
