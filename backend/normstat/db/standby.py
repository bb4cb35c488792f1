"""Large reads from a standby: graphs, comparisons and exports, where NORMSTAT_DATABASE_READ_URL names one that is fit for it.

A standby is behind. So a request is read from it only when it has the newest entry of the audit log, as the primary knows it: each
change by a person writes one in its own transaction, so a new baseline is found from any server. Everything else,
and everything while the standby is gone or too far behind, is read from the primary.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import ReadSession, make_session, make_sessions, open_read_session
from normstat.db.turns import describe
from normstat.runtime.field_docs import Documented
from normstat.runtime.metrics import LARGE_READS

log = structlog.get_logger()

WATCH_S: Final = 2.0
# A standby that does not answer a single row within this time is gone; a person waits for it once.
ANSWER_S: Final = 1.5
# Ten minutes of positions of the primary: further behind, the lag is reported as at least that.
MAX_POSITIONS: Final = 300

PRIMARY: Final = text("""SELECT (SELECT system_identifier FROM pg_control_system()), clock_timestamp(),
    CASE WHEN pg_is_in_recovery() THEN NULL ELSE CAST(pg_current_wal_lsn() - '0/0' AS int8) END""")
STANDBY: Final = text("""SELECT (SELECT system_identifier FROM pg_control_system()), pg_is_in_recovery(),
    CAST(pg_last_wal_replay_lsn() - '0/0' AS int8), pg_last_xact_replay_timestamp()""")
NEWEST_CHANGE: Final = text("""SELECT coalesce((SELECT max(id) FROM audit_entries), 0),
    coalesce((SELECT max(id) FROM audit_entries WHERE account = :account), 0)""")


class StandbyState(StrEnum):
    """used: large reads go to it; behind: too far behind; gone: does not answer; not_a_standby: it is not a standby, perhaps
    promoted;
    other_database: a standby of another database; unknown: not asked yet."""

    USED = "used"
    BEHIND = "behind"
    GONE = "gone"
    NOT_A_STANDBY = "not_a_standby"
    OTHER_DATABASE = "other_database"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StandbyInfo(Documented):
    """The standby that large reads go to: graphs, comparisons, exports."""

    state: StandbyState
    """All but `used`: the primary does its work."""

    lag_s: float | None
    """How far its data are behind the primary's; null while unknown."""

    lag_bytes: int | None
    """Of the write-ahead log, not replayed yet; null while unknown."""

    message: str
    """What is wrong, and what to do; empty where it is used."""


@dataclass(frozen=True, slots=True)
class StandbyPosition:
    """Where primary and standby are in the write-ahead log.

    `primary_at`: bytes from its beginning, None where it is not a primary.
    """

    is_same_database: bool
    is_standby: bool
    primary_at: int | None
    replayed_at: int | None
    primary_clock: datetime
    last_commit_at: datetime | None

    @property
    def lag_bytes(self) -> int | None:
        """Return how much the standby has not replayed. Missing: None where one of the positions is unknown."""
        if self.primary_at is None or self.replayed_at is None:
            return None
        return max(0, self.primary_at - self.replayed_at)


class PrimaryPosition(NamedTuple):
    """Which database the primary has, its clock, and where it is. Missing: `at` is None where it is not a primary"""

    system: int
    clock: datetime
    at: int | None


async def read_primary(primary: AsyncEngine) -> PrimaryPosition:
    """Return where the primary is; ask it first, so that a standby which follows closely is not called behind."""
    async with primary.connect() as connection:
        return PrimaryPosition(*(await connection.execute(PRIMARY)).one())


async def read_position(primary: PrimaryPosition, standby: AsyncEngine) -> StandbyPosition:
    """Return where both are."""
    async with standby.connect() as connection:
        its_system, is_standby, replayed_at, last_commit_at = (await connection.execute(STANDBY)).one()
    return StandbyPosition(primary.system == its_system, is_standby, primary.at, replayed_at, primary.clock, last_commit_at)


class LagGauge:
    """Computes the lag in seconds from positions: the age of the newest position of the primary that the standby has reached."""

    def __init__(self) -> None:
        self._positions: deque[tuple[float, int]] = deque(maxlen=MAX_POSITIONS)

    def measure(self, found: StandbyPosition, now_s: float) -> float | None:
        """Return the lag. Missing: None where a position is unknown.

        The last replayed commit, by the primary's clock, is less exact where nothing was committed for long.
        """
        if found.primary_at is None or found.replayed_at is None:
            return None
        self._positions.append((now_s, found.primary_at))
        if found.replayed_at >= found.primary_at:
            return 0.0
        reached = [at_s for at_s, position in self._positions if position <= found.replayed_at]
        lags = [now_s - (reached[-1] if reached else self._positions[0][0])] if reached or found.last_commit_at is None else []
        if found.last_commit_at is not None:
            lags.append(max(0.0, (found.primary_clock - found.last_commit_at).total_seconds()))
        return min(lags)


def judge(found: StandbyPosition, lag_s: float | None, max_lag_s: float) -> StandbyInfo:
    """Return the state of the standby, and what to do about it."""
    if not found.is_same_database:
        advice = "NORMSTAT_DATABASE_READ_URL names another database; name a standby of this one"
        return StandbyInfo(StandbyState.OTHER_DATABASE, None, None, advice)
    if not found.is_standby:
        advice = "NORMSTAT_DATABASE_READ_URL does not name a standby; was it promoted? Name a standby, or leave the setting out"
        return StandbyInfo(StandbyState.NOT_A_STANDBY, None, None, advice)
    if lag_s is None:
        advice = "NORMSTAT_DATABASE_URL names a standby; name the primary"
        return StandbyInfo(StandbyState.BEHIND, None, None, advice)
    if lag_s > max_lag_s:
        found_text = f"It is {lag_s:.0f} s behind, more than {max_lag_s:g} s (NORMSTAT_DATABASE_READ_MAX_LAG_S)"
        return StandbyInfo(StandbyState.BEHIND, lag_s, found.lag_bytes, found_text)
    return StandbyInfo(StandbyState.USED, lag_s, found.lag_bytes, "")


class StandbyReads:
    """Chooses for each large read between the primary and the standby, if there is one, and watches the standby."""

    def __init__(
        self, primary: AsyncEngine, standby: AsyncEngine | None, *, max_lag_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._primary = primary
        self._standby = standby
        self._max_lag_s = max_lag_s
        self._clock = clock
        self._gauge = LagGauge()
        self._info = StandbyInfo(StandbyState.UNKNOWN, None, None, "It was not asked yet")

    @property
    def info(self) -> StandbyInfo | None:
        """The standby as it was found last. Missing: None where none is configured"""
        return None if self._standby is None else self._info

    async def choose(self, account: str) -> AsyncEngine:
        """Return the engine that this account reads from now: the standby, where it is used and has all that people changed."""
        standby = self._standby if self._info.state is StandbyState.USED else None
        if standby is not None and await self._is_up_to_date(standby, account):
            LARGE_READS.labels("standby").inc()
            return standby
        LARGE_READS.labels("primary").inc()
        return self._primary

    @asynccontextmanager
    async def open(self, account: str) -> AsyncIterator[ReadSession]:
        """Provide a session of `open_read_session` on the engine that was chosen."""
        async with open_read_session(make_sessions(await self.choose(account))) as session:
            yield session

    async def run(self) -> None:
        """Watch the standby until cancelled."""
        while self._standby is not None:
            await self.watch_once(self._standby)
            await asyncio.sleep(WATCH_S)
        await asyncio.Event().wait()

    async def watch_once(self, standby: AsyncEngine) -> None:
        """Find out how far behind the standby is."""
        try:
            async with asyncio.timeout(ANSWER_S):
                primary = await read_primary(self._primary)
        except (SQLAlchemyError, OSError, TimeoutError):
            # This is reported elsewhere, and no one can log in.
            self._tell(StandbyInfo(StandbyState.UNKNOWN, None, None, "The primary does not answer"))
            return
        try:
            async with asyncio.timeout(ANSWER_S):
                found = await read_position(primary, standby)
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            self._lose(error)
            return
        lag_s = self._gauge.measure(found, self._clock())
        self._tell(judge(found, lag_s, self._max_lag_s))

    async def _is_up_to_date(self, standby: AsyncEngine, account: str) -> bool:
        async with make_session(self._primary) as session:
            needed = (await session.execute(NEWEST_CHANGE, {"account": account})).one()
        try:
            async with asyncio.timeout(ANSWER_S), make_session(standby) as session:
                there = (await session.execute(NEWEST_CHANGE, {"account": account})).one()
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            self._lose(error)
            return False
        return bool(there[0] >= needed[0] and there[1] >= needed[1])

    def _lose(self, error: BaseException) -> None:
        cause = describe(error) if str(error) else f"no answer within {ANSWER_S:g} s"
        self._tell(StandbyInfo(StandbyState.GONE, None, None, f"It does not answer ({cause}); start it, or correct the URL"))

    def _tell(self, info: StandbyInfo) -> None:
        if info.state is not self._info.state:
            event = log.info if info.state is StandbyState.USED else log.warning
            event("standby_changed", state=info.state, lag_s=info.lag_s, what=info.message)
        self._info = info
