"""Jobs of profiles: which are outdated, and how far each is."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Integer, and_, cast, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from normstat.baselines.baseline_versions import ask_for_profile
from normstat.db.schema.baseline_models import Baseline, BaselineHost, Profile
from normstat.db.schema.job_models import Job, JobState
from normstat.db.schema.models import Host, StatTable
from normstat.db.session import WriteSession
from normstat.profiles.profile_rows import WHOLE_SLOT

# A baseline with too few samples is looked at again after this time.
LOOK_AGAIN: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class ProfileState:
    """The progress of the profile of a baseline for a host. `made_at`: when the stored one was made."""

    baseline: str
    host: str
    state: str
    n_done: int
    n_total: int
    message: str
    made_at: datetime | None
    is_stale: bool | None
    n_bytes: int


async def ask_for_outdated(session: WriteSession, method: int, now: datetime) -> int:
    """Queue profiles again whose samples changed, or that are of an older method; return how many."""
    whole = and_(
        Profile.baseline_id == Job.baseline_id,
        Profile.version == Baseline.version,
        Profile.host_id == Job.host_id,
        Profile.slot == WHOLE_SLOT,
    )
    # Of all hours or of some.
    any_slot = aliased(Profile)
    any_stale = (
        select(any_slot.slot)
        .where(
            any_slot.baseline_id == Job.baseline_id,
            any_slot.version == Baseline.version,
            any_slot.host_id == Job.host_id,
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
    # Where there were no samples, or too few, the message says so: more may have arrived.
    is_done = and_(
        Job.state == JobState.DONE,
        or_(
            and_(Job.message == "", or_(Profile.slot.is_(None), Profile.method != method, any_stale, of_other_spec)),
            and_(Job.message != "", Job.finished_at < now - LOOK_AGAIN),
        ),
    )
    query = (
        select(Baseline.id, BaselineHost.host_id)
        .select_from(Job)
        .join(Baseline, Baseline.id == Job.baseline_id)
        .join(BaselineHost, and_(BaselineHost.baseline_id == Baseline.id, BaselineHost.host_id == Job.host_id))
        .outerjoin(Profile, whole)
        .where(Baseline.archived_at.is_(None), is_done)
        .distinct()
        .order_by(Baseline.id, BaselineHost.host_id)
    )
    pairs = (await session.execute(query)).all()
    for baseline_id, host_id in pairs:
        await ask_for_profile(session, baseline_id, [host_id])
    return len(pairs)


async def find_host_id(session: AsyncSession, name: str) -> int | None:
    """Return the id of the host of that name. Missing: None when there is no such host."""
    return await session.scalar(select(Host.id).where(Host.name == name))


async def list_states(session: AsyncSession) -> list[ProfileState]:
    """Return the profiles of all baselines, by baseline and host."""
    any_slot = aliased(Profile)
    size = (
        select(func.coalesce(func.sum(func.length(any_slot.body) + func.length(any_slot.band)), 0))
        .where(any_slot.baseline_id == Job.baseline_id, any_slot.host_id == Job.host_id)
        .scalar_subquery()
    )
    query = (
        select(
            Baseline.name, Host.name, Job.state, Job.n_done, Job.n_total, Job.message,
            Profile.made_at, Profile.is_stale, size,
        )
        .select_from(Job)
        .join(Baseline, Baseline.id == Job.baseline_id)
        .join(Host, Host.id == Job.host_id)
        .outerjoin(
            Profile,
            and_(
                Profile.baseline_id == Job.baseline_id,
                Profile.version == Baseline.version,
                Profile.host_id == Job.host_id,
                Profile.slot == WHOLE_SLOT,
            ),
        )
        .order_by(Baseline.name, Host.name)
    )  # fmt: skip
    return [ProfileState(*row) for row in await session.execute(query)]
