"""Report an outage of the database: one log line when it begins and one when it ends, and the real cause to clients."""

import time
from collections.abc import Callable
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from normstat.db.probe import DatabaseProbe
from normstat.errors import DatabaseAway, NormstatError, Overloaded

log = structlog.get_logger()

# A database that takes longer for the simplest query does not answer.
ANSWERS_WITHIN_S: Final = 1.0
# How long an answer is reused: a thousand requests that are refused at the same moment ask once.
ASK_AGAIN_S: Final = 1.0
MAX_CAUSE: Final = 300


class DatabaseOutage:
    """Whether the database answers, as far as requests of this process noticed."""

    def __init__(self, probe: DatabaseProbe, clock: Callable[[], float] = time.monotonic) -> None:
        self._probe = probe
        self._clock = clock
        self._began_s = 0.0
        self._n_requests = 0
        self._asked_s = float("-inf")
        self._answered = True

    def note(self, error: Exception) -> None:
        """Count a request that failed because of the database; log the first one."""
        if not self._n_requests:
            self._began_s = self._clock()
            log.warning("database_away", error=type(error).__name__, cause=(str(error).splitlines() or [""])[0][:MAX_CAUSE])
        self._n_requests += 1

    def end(self) -> None:
        """Log that the database answers again, and how many requests failed meanwhile, if any did."""
        if self._n_requests:
            log.warning("database_back", n_requests=self._n_requests, after_s=round(self._clock() - self._began_s, 1))
            self._n_requests = 0

    async def explain(self, error: NormstatError) -> NormstatError:
        """Return the error; where too many requests wait because the database does not answer, that it does not."""
        if isinstance(error, Overloaded):
            try:
                await self.require_answer()
            except DatabaseAway as away:
                return away
        return error

    async def require_answer(self) -> None:
        """Require that the database answers, before a request that waited too long is called one too many.

        Raises: DatabaseAway
        """
        if not await self._answers():
            away = DatabaseAway("The database does not answer; nothing was stored or changed; send it again")
            self.note(away)
            raise away

    async def _answers(self) -> bool:
        if self._clock() - self._asked_s > ASK_AGAIN_S:
            try:
                await self._probe.read_storage(ANSWERS_WITHIN_S)
                self._answered = True
            except (DatabaseAway, SQLAlchemyError):
                self._answered = False
            self._asked_s = self._clock()
        return self._answered
