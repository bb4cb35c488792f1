"""Record work that runs by the clock: one row of a kind, kept current, instead of a row for each run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import func, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.job_models import ASKED_BY_CLOCK, Job, JobKind, JobState
from normstat.db.session import open_write_session
from normstat.db.turns import describe


@dataclass(slots=True)
class Outcome:
    """The result of a run, filled in by the run; with a message it failed."""

    n_done: int = 0
    n_total: int = 0
    message: str = ""


@asynccontextmanager
async def recorded(sessions: async_sessionmaker[AsyncSession], kind: JobKind, *, unit: str) -> AsyncIterator[Outcome]:
    """Record the block as the latest run of the kind, which must be one that runs by the clock: each has a unique index."""
    now = func.clock_timestamp()
    started = {"state": JobState.RUNNING, "queued_at": now, "started_at": now, "heartbeat_at": now, "finished_at": None}
    put = insert(Job).values(kind=kind, unit=unit, asked_by=ASKED_BY_CLOCK, next_try_at=None, **started)
    put = put.on_conflict_do_update(index_elements=["kind"], index_where=text(f"kind = '{kind}'"), set_=started)
    async with open_write_session(sessions) as session:
        await session.execute(put)
    outcome = Outcome()
    try:
        yield outcome
    except Exception as error:
        outcome.message = describe(error)
        raise
    finally:
        state = JobState.FAILED if outcome.message else JobState.DONE
        values = {"state": state, "n_done": outcome.n_done, "n_total": outcome.n_total, "message": outcome.message}
        async with open_write_session(sessions) as session:
            await session.execute(update(Job).where(Job.kind == kind).values(finished_at=now, heartbeat_at=now, **values))
