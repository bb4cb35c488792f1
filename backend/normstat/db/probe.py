"""Checks whether the database answers, on a connection of its own and with one query at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.hypertables import Storage, read_storage
from normstat.db.session import make_probe_engine, make_sessions
from normstat.errors import DatabaseAway

# A query without an answer for this long is abandoned, and its connection closed.
QUESTION_TIMEOUT_S: Final = 10.0
# Reads a line for people on the way. Missing: None where there is nothing to say
ReadNote = Callable[[AsyncSession], Awaitable[str | None]]


async def read_nothing(session: AsyncSession) -> None:
    """Return no note."""
    del session


class DatabaseProbe:
    """Asks the database for its kind of storage; concurrent callers share one query.

    A database that hangs, or a network that drops packets, leaves a query open; a cancelled query waits for the database, too. So
    the query runs in a task of its own, and each caller waits for it with its own time limit. `note` is what was read with the
    last answer.
    """

    def __init__(self, database_url: str, read_note: ReadNote = read_nothing) -> None:
        self._read_note = read_note
        self.note: str | None = None
        self._engine = make_probe_engine(database_url)
        self.sessions = make_sessions(self._engine)
        self._question: asyncio.Task[Storage] | None = None

    async def read_storage(self, max_wait_s: float) -> Storage:
        """Return the kind of storage.

        Raises: DatabaseAway without an answer in time; errors of the database as they are
        """
        if self._question is None or self._question.done():
            self._question = asyncio.create_task(self._ask(), name="probe")
            self._question.add_done_callback(_retrieve)
        done, _ = await asyncio.wait({self._question}, timeout=max_wait_s)
        if not done:
            raise DatabaseAway(f"The database did not answer within {max_wait_s:g} s")
        return done.pop().result()

    async def _ask(self) -> Storage:
        try:
            async with asyncio.timeout(QUESTION_TIMEOUT_S):
                try:
                    return await self._ask_once()
                except DBAPIError as error:
                    if not error.connection_invalidated:
                        raise
                    # The database was restarted since the last query.
                    return await self._ask_once()
        except TimeoutError:
            raise DatabaseAway(f"The database did not answer within {QUESTION_TIMEOUT_S:g} s") from None

    async def _ask_once(self) -> Storage:
        async with self.sessions() as session:
            storage = await read_storage(session)
            self.note = await self._read_note(session)
            return storage

    async def close(self) -> None:
        """Close the connection."""
        if self._question is not None:
            self._question.cancel()
            await asyncio.wait({self._question})
        await self._engine.dispose()


def _retrieve(question: asyncio.Task[Storage]) -> None:
    # When no caller waits any more, asyncio would complain about an unretrieved exception.
    if not question.cancelled():
        question.exception()
