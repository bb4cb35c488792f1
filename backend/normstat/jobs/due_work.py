"""Look for background work that is due: one short query for all kinds every two seconds, instead of one per worker."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from psycopg.conninfo import make_conninfo
from sqlalchemy import ClauseElement, Select, select
from sqlalchemy.dialects import postgresql

from normstat.db.connecting import connect_arguments
from normstat.jobs.background import pause

LOOK_S: Final = 2.0
# Workers look by themselves, too, but seldom: should this connection hang, nothing waits longer.
SELDOM_S: Final = 30.0
# How often each kind of work is looked for.
IMPORTS_S: Final = 5.0
REPARSES_S: Final = 2.0
REMOVALS_S: Final = 5.0
BACKTESTS_S: Final = 2.0
MESSAGES_S: Final = 2.0
INCIDENTS_S: Final = 10.0


@dataclass(slots=True)
class _Watched:
    query: Select[Any]
    every_s: float
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    woken_at: float = float("-inf")
    # Not known before the first look, nor while the database is away.
    may_be_due: bool = True


class DueWork:
    """Wakes workers that have something to do. `watch` and `follow` before `run`.

    A query has a row when there may be work. It is asked on a connection of its own, every LOOK_S, with all others as one
    statement. What a worker finds then is up to the worker: it may be another process's.
    """

    def __init__(self, database_url: str, *, look_s: float = LOOK_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._database_url = database_url
        self._look_s = look_s
        self._clock = clock
        self._watched: list[_Watched] = []

    def watch(self, query: Select[Any], *, every_s: float, wake: asyncio.Event | None = None) -> asyncio.Event:
        """Return an event (`wake`, where one is given) that is set while the query has a row, at most once per interval."""
        watched = _Watched(query, every_s, wake or asyncio.Event())
        self._watched.append(watched)
        return watched.wake

    def follow(self, query: Select[Any]) -> Callable[[], bool]:
        """Return a function that says whether the query had a row at the last look; true where that is not known."""
        watched = _Watched(query, self._look_s)
        self._watched.append(watched)
        return lambda: watched.may_be_due

    async def run(self) -> None:
        """Look until the database is lost or the task is cancelled."""
        try:
            await self._look()
        finally:
            for watched in self._watched:
                watched.may_be_due = True

    async def _look(self) -> None:
        # Compiled once, and prepared by the database once.
        statement = _compile(select(*(each.query.exists() for each in self._watched)))
        async with await psycopg.AsyncConnection.connect(
            make_conninfo("", **connect_arguments(self._database_url)), autocommit=True
        ) as connection:
            while True:
                found = await (await connection.execute(statement, prepare=True)).fetchone()
                assert found is not None
                for watched, is_due in zip(self._watched, found, strict=True):
                    watched.may_be_due = is_due
                    if is_due and self._clock() - watched.woken_at >= watched.every_s:
                        watched.woken_at = self._clock()
                        watched.wake.set()
                await asyncio.sleep(self._look_s)


async def start_when_due(wake: asyncio.Event, run: Callable[[], Awaitable[None]], *, within_s: float | None = None) -> None:
    """Run a worker from the first time on that there is work for it, or that time has passed (None: however long it takes).

    Until then its modules are not imported, and it has no connection: most installations never delete a host or send an alert.
    """
    if within_s is None:
        await wake.wait()
    else:
        await pause(within_s, wake)
    await run()


def _compile(query: ClauseElement) -> str:
    return str(query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True}))  # type: ignore[no-untyped-call]
