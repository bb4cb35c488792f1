"""The rows of `profile_jobs`: which profiles are wanted, being made, done or failed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Integer, and_, cast, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from sqlalchemy.orm import aliased

from normstat.storage.baseline_versions import ask_for_profile
from normstat.storage.profile_rows import WHOLE_SLOT
from normstat.storage.schema.baseline_models import Baseline, BaselineHost, Profile, ProfileJob
from normstat.storage.schema.models import Host, StatTable
from normstat.storage.session import WriteSession

# Any number that no other advisory lock has.
PROFILES_LOCK: Final = 0x6E6F726D_00000016
# A profile that failed is tried again after so long.
RETRY: Final = timedelta(hours=1)
# Where nothing could be made of the samples, new ones are looked for.
LOOK_AGAIN: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class ProfileTask:
    """A profile to be made; `asked_at` tells the wish from later ones."""

    baseline_id: int
    host_id: int
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class ProfileState:
    """How far the profile of a baseline for a host is. `made_at`: when the one that is there was made."""

    baseline: str
    host: str
    state: str
    n_done: int
    n_total: int
    message: str
    made_at: datetime | None
    is_stale: bool | None
    n_bytes: int


@asynccontextmanager
async def hold_lock(sessions: async_sessionmaker[AsyncSession]) -> AsyncIterator[bool]:
    """Provide whether the block is the only one that makes profiles, in any process."""
    async with sessions() as holder:
        # Without a transaction, which would stand open for as long as the work takes.
        await holder.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
        if not await holder.scalar(select(func.pg_try_advisory_lock(PROFILES_LOCK))):
            yield False
            return
        try:
            yield True
        finally:
            # Should this fail, the connection is gone, and with it the lock.
            await holder.scalar(select(func.pg_advisory_unlock(PROFILES_LOCK)))


async def list_tasks(session: AsyncSession, host: str | None = None) -> list[ProfileTask]:
    """Return what is not done, in the order in which it was asked for; also what a process left that died."""
    query = (
        select(ProfileJob.baseline_id, ProfileJob.host_id, ProfileJob.asked_at)
        .join(Host, Host.id == ProfileJob.host_id)
        .where(ProfileJob.state.in_(("waiting", "working")))
        .order_by(ProfileJob.asked_at, ProfileJob.baseline_id, ProfileJob.host_id)
    )
    if host is not None:
        query = query.where(Host.name == host)
    return [ProfileTask(*row) for row in await session.execute(query)]


async def note_progress(session: WriteSession, task: ProfileTask, n_done: int, n_total: int) -> bool:
    """Say how far the work is; False when it was asked for again, or nobody wants it any longer."""
    return await _set(session, task, state="working", n_done=n_done, n_total=n_total)


async def end_task(session: WriteSession, task: ProfileTask, *, state: str, message: str = "") -> bool:
    """End the work; False when it was asked for again meanwhile, and so is to be done again."""
    values = {"n_done": ProfileJob.n_total} if state == "done" else {}
    return await _set(session, task, state=state, message=message, finished_at=func.clock_timestamp(), **values)


async def ask_for_outdated(session: WriteSession, method: int, now: datetime) -> int:
    """Have profiles made again whose samples changed, or that are of an older method; and tries again what failed. How many."""
    whole = and_(
        Profile.baseline_id == ProfileJob.baseline_id,
        Profile.version == Baseline.version,
        Profile.host_id == ProfileJob.host_id,
        Profile.slot == WHOLE_SLOT,
    )
    # Of all hours or of some.
    any_slot = aliased(Profile)
    any_stale = (
        select(any_slot.slot)
        .where(
            any_slot.baseline_id == ProfileJob.baseline_id,
            any_slot.version == Baseline.version,
            any_slot.host_id == ProfileJob.host_id,
            any_slot.is_stale,
        )
        .exists()
    )
    versions = select(StatTable.spec, func.max(StatTable.spec_version).label("version")).group_by(StatTable.spec).subquery()
    of_other_spec = (
        select(versions.c.spec)
        .where(
            Profile.spec_versions.has_key(versions.c.spec),
            cast(Profile.spec_versions.op("->>")(versions.c.spec), Integer) != versions.c.version,
        )
        .correlate(Profile)
        .exists()
    )
    # Where there were no samples, or too few, the message says so: some may have come.
    is_done = and_(
        ProfileJob.state == "done",
        or_(
            and_(ProfileJob.message == "", or_(Profile.slot.is_(None), Profile.method != method, any_stale, of_other_spec)),
            and_(ProfileJob.message != "", ProfileJob.finished_at < now - LOOK_AGAIN),
        ),
    )
    has_failed = and_(ProfileJob.state == "failed", ProfileJob.finished_at < now - RETRY)
    query = (
        select(ProfileJob.baseline_id, ProfileJob.host_id)
        .join(Baseline, Baseline.id == ProfileJob.baseline_id)
        .join(BaselineHost, and_(BaselineHost.baseline_id == Baseline.id, BaselineHost.host_id == ProfileJob.host_id))
        .outerjoin(Profile, whole)
        .where(Baseline.archived_at.is_(None), or_(is_done, has_failed))
        .distinct()
        .order_by(ProfileJob.baseline_id, ProfileJob.host_id)
    )
    pairs = (await session.execute(query)).all()
    for baseline_id, host_id in pairs:
        await ask_for_profile(session, baseline_id, [host_id])
    return len(pairs)


async def list_states(session: AsyncSession) -> list[ProfileState]:
    """Return all profiles that somebody wants, by baseline and host."""
    any_slot = aliased(Profile)
    size = (
        select(func.coalesce(func.sum(func.length(any_slot.body) + func.length(any_slot.band)), 0))
        .where(any_slot.baseline_id == ProfileJob.baseline_id, any_slot.host_id == ProfileJob.host_id)
        .scalar_subquery()
    )
    query = (
        select(
            Baseline.name, Host.name, ProfileJob.state, ProfileJob.n_done, ProfileJob.n_total, ProfileJob.message,
            Profile.made_at, Profile.is_stale, size,
        )
        .select_from(ProfileJob)
        .join(Baseline, Baseline.id == ProfileJob.baseline_id)
        .join(Host, Host.id == ProfileJob.host_id)
        .outerjoin(
            Profile,
            and_(
                Profile.baseline_id == ProfileJob.baseline_id,
                Profile.version == Baseline.version,
                Profile.host_id == ProfileJob.host_id,
                Profile.slot == WHOLE_SLOT,
            ),
        )
        .order_by(Baseline.name, Host.name)
    )  # fmt: skip
    return [ProfileState(*row) for row in await session.execute(query)]


async def _set(session: WriteSession, task: ProfileTask, **values: object) -> bool:
    of_task = (
        ProfileJob.baseline_id == task.baseline_id,
        ProfileJob.host_id == task.host_id,
        ProfileJob.asked_at == task.asked_at,
    )
    done = await session.execute(update(ProfileJob).where(*of_task).values(**values).returning(ProfileJob.host_id))
    return done.first() is not None
