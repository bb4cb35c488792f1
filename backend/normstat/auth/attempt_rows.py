"""Counts of failed logins that all processes share. The rules are in auth/throttle.py, the arithmetic in functions of the database.

Each call is one statement that commits itself, so attempts wait for each other no longer than that takes.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CursorResult,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    Text,
    and_,
    delete,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from sqlalchemy.sql.elements import ColumnElement

from normstat.db.schema.account_models import LoginAttempt

INSTANT: Final = DateTime(timezone=True)


@dataclass(frozen=True, slots=True)
class CountedKey:
    """A key to count under: `n_free` attempts are free; then waits double (`pause_s` None), or one pause pays for one attempt."""

    kind: str
    key: bytes
    n_free: int
    pause_s: float | None


@dataclass(frozen=True, slots=True)
class AttemptRules:
    """Settings of all keys whose waits double."""

    max_wait_s: float
    forget_after_s: float


@asynccontextmanager
async def _autocommit(sessions: async_sessionmaker[AsyncSession]) -> AsyncIterator[AsyncSession]:
    async with sessions() as session:
        await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
        yield session


def _kinds(keys: Sequence[CountedKey]) -> tuple[ColumnElement[object], ColumnElement[object]]:
    return (
        sql_cast([each.kind for each in keys], ARRAY(Text)),
        sql_cast([each.key for each in keys], ARRAY(LargeBinary)),
    )


def _pauses(keys: Sequence[CountedKey]) -> ColumnElement[object]:
    return sql_cast([each.pause_s for each in keys], ARRAY(Float(53)))


def _arguments(keys: Sequence[CountedKey], rules: AttemptRules, at: ColumnElement[object]) -> list[ColumnElement[object]]:
    return [
        *_kinds(keys),
        sql_cast([each.n_free for each in keys], ARRAY(Integer)),
        _pauses(keys),
        sql_cast(rules.max_wait_s, Float(53)),
        sql_cast(rules.forget_after_s, Float(53)),
        at,
    ]


async def count_attempt(
    sessions: async_sessionmaker[AsyncSession], keys: Sequence[CountedKey], rules: AttemptRules, at: datetime | None
) -> float:
    """Count an attempt under all keys and return 0, or count nothing and return for how many seconds it has to wait.

    Missing: `at` None is the clock of the database
    """
    async with _autocommit(sessions) as session:
        call = func.count_login_attempt(*_arguments(keys, rules, sql_cast(at, INSTANT)))
        return float((await session.execute(select(call))).scalar_one())


async def read_wait_s(
    sessions: async_sessionmaker[AsyncSession], keys: Sequence[CountedKey], rules: AttemptRules, at: datetime | None
) -> float:
    """Return for how many seconds an attempt under these keys would have to wait."""
    async with _autocommit(sessions) as session:
        call = func.login_wait_s(*_arguments(keys, rules, func.coalesce(sql_cast(at, INSTANT), func.clock_timestamp())))
        return float((await session.execute(select(call))).scalar_one())


async def settle_attempt(sessions: async_sessionmaker[AsyncSession], keys: Sequence[CountedKey], *, is_right: bool) -> None:
    """Take the attempt back; one that was right also ends the doubling of waits."""
    async with _autocommit(sessions) as session:
        await session.execute(select(func.settle_login_attempt(*_kinds(keys), _pauses(keys), sql_cast(is_right, Boolean))))


async def delete_idle_attempts(
    sessions: async_sessionmaker[AsyncSession], rules: AttemptRules, *, max_keys: int, at: datetime | None
) -> int:
    """Delete the rows that no longer have an effect, and of each kind all but the `max_keys` newest; return their number."""
    now = func.coalesce(sql_cast(at, INSTANT), func.clock_timestamp())
    rank = func.row_number().over(partition_by=LoginAttempt.kind, order_by=LoginAttempt.last_at.desc())
    ranked = select(LoginAttempt.kind, LoginAttempt.key, rank.label("rank")).subquery()
    beyond = select(ranked.c.kind, ranked.c.key).where(ranked.c.rank > sql_cast(max_keys, BigInteger))
    is_idle = and_(LoginAttempt.last_at < now - timedelta(seconds=rules.forget_after_s), LoginAttempt.paid_at < now)
    row = tuple_(LoginAttempt.kind, LoginAttempt.key)
    # It waits for no attempt, which rules out a deadlock.
    free = select(LoginAttempt.kind, LoginAttempt.key).where(or_(row.in_(beyond), is_idle))
    async with _autocommit(sessions) as session:
        done = await session.execute(delete(LoginAttempt).where(row.in_(free.with_for_update(skip_locked=True))))
        assert isinstance(done, CursorResult)
        return done.rowcount
