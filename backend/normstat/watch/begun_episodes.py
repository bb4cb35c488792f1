"""The episodes that began a moment ago, for the answers to the agents of their hosts, whose lines `when` take evidence then."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.session import open_read_session
from normstat.watch.watch_lists import read_begun

log = structlog.get_logger()

# One query for all hosts that often; agents post every 5 s.
EVERY_S: Final = 5.0


class BegunEpisodes:
    """Knows them for all hosts, as they were a few seconds ago: an answer to an agent never waits for this.

    After an error of the database nothing is known until the next answer.
    """

    def __init__(self, sessions: async_sessionmaker[AsyncSession], clock: Callable[[], float] = time.monotonic) -> None:
        self._sessions = sessions
        self._clock = clock
        self._due = clock()
        self._found: Mapping[str, str] = {}
        self._renewal: asyncio.Task[None] | None = None

    def of_host(self, name: str) -> str:
        """Return `NUMBER/SOURCE` of each episode of a host, the latest first, separated by blanks; "" for none."""
        if self._clock() >= self._due:
            self._due = self._clock() + EVERY_S
            self._renewal = asyncio.create_task(self.renew(), name="begun episodes")
        return self._found.get(name, "")

    async def close(self) -> None:
        """Wait for the last query."""
        self._due = math.inf
        if self._renewal is not None:
            await self._renewal

    async def renew(self) -> None:
        """Read them now."""
        try:
            async with open_read_session(self._sessions) as session:
                self._found = await read_begun(session, datetime.now(UTC))
        except (SQLAlchemyError, OSError) as error:
            self._found = {}
            log.info("begun_episodes_unknown", error=type(error).__name__)
