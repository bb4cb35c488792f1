"""The versions of baselines, the windows that count of each, and the wish that profiles are made of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_, delete, func, or_, select, text, true
from sqlalchemy.dialects.postgresql import TSTZMULTIRANGE, insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NotFound
from normstat.storage.baseline_records import to_windows
from normstat.storage.schema.baseline_models import (
    Baseline,
    BaselineHost,
    BaselineVersion,
    Exclusion,
    HostGroupHost,
    MutedSeries,
)
from normstat.storage.schema.job_models import OPEN_STATES, Job, JobKind, JobState
from normstat.storage.schema.models import Host
from normstat.window import Window

# Any number that no other advisory lock has. Who changes baselines, exclusions or groups does so alone: a baseline that is changed
# while an exclusion is added would else have profiles that do not know of it.
BASELINES_LOCK: Final = 0x6E6F726D_00000015
# So long samples may be on their way: agents send every few seconds.
SETTLE: Final = timedelta(minutes=2)
# How often a profile is made again while its windows go on.
AGAIN: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """What a baseline was, and why it became so."""

    version: int
    windows: list[Window]
    hosts: list[str]
    time_zone: str
    reason: str
    made_by: str
    made_at: datetime


async def lock_baselines(session: AsyncSession) -> None:
    """Wait until nobody else changes baselines; before anything else of the transaction is locked."""
    await session.execute(select(func.pg_advisory_xact_lock(BASELINES_LOCK)))


async def list_versions(session: AsyncSession, baseline_id: int) -> list[VersionRecord]:
    """Return all versions, the newest first.

    Raises: NotFound for an unknown baseline
    """
    query = (
        select(BaselineVersion).where(BaselineVersion.baseline_id == baseline_id).order_by(BaselineVersion.version.desc())
    )  # fmt: skip
    rows = (await session.scalars(query, execution_options={"populate_existing": True})).all()
    if not rows and await session.get(Baseline, baseline_id) is None:
        raise NotFound(f"There is no baseline {baseline_id}; GET /api/v1/baselines lists them", {"baseline": baseline_id})
    return [_to_record(row) for row in rows]


async def read_version(session: AsyncSession, baseline_id: int, version: int) -> VersionRecord:
    """Return one version.

    Raises: NotFound
    """
    row = await session.get(BaselineVersion, (baseline_id, version), populate_existing=True)
    if row is None:
        raise NotFound(
            f"The baseline {baseline_id} has no version {version}; GET /api/v1/baselines/{baseline_id}/versions lists them",
            {"baseline": baseline_id, "version": version},
        )
    return _to_record(row)


async def effective_windows(
    session: AsyncSession, baseline_id: int, host_id: int, version: int | None = None
) -> tuple[Window, ...]:
    """Return the windows of that version (None: the newest) without what is excluded today for the host.

    They may reach into the future. Missing: empty when all is excluded, or a rule has made no window yet.

    Raises: NotFound for an unknown baseline or version
    """
    excluded = (
        select(func.range_agg(func.tstzrange(Exclusion.start_at, Exclusion.end_at)))
        .where(or_(Exclusion.host_id.is_(None), Exclusion.host_id == host_id))
        .scalar_subquery()
    )
    of_version = Baseline.version if version is None else version
    query = (
        select(BaselineVersion.windows.op("-", return_type=TSTZMULTIRANGE())(func.coalesce(excluded, func.tstzmultirange())))
        .join(Baseline, Baseline.id == BaselineVersion.baseline_id)
        .where(Baseline.id == baseline_id, BaselineVersion.version == of_version)
    )
    row = (await session.execute(query)).one_or_none()
    if row is not None:
        return tuple(to_windows(row[0]))
    if version is None or await session.get(Baseline, baseline_id) is None:
        raise NotFound(f"There is no baseline {baseline_id}; GET /api/v1/baselines lists them", {"baseline": baseline_id})
    await read_version(session, baseline_id, version)
    return ()


async def add_version(session: AsyncSession, baseline: Baseline, *, reason: str, made_by: str) -> None:
    """Keep what the baseline is now as its version, and ask for profiles of its hosts."""
    rows = (
        await session.execute(
            select(Host.id, Host.name)
            .join(BaselineHost, BaselineHost.host_id == Host.id)
            .where(BaselineHost.baseline_id == baseline.id)
            .order_by(Host.name)
        )
    ).all()
    session.add(
        BaselineVersion(
            baseline_id=baseline.id,
            version=baseline.version,
            windows=baseline.windows,
            hosts=[name for _, name in rows],
            time_zone=baseline.time_zone,
            reason=reason,
            made_by=made_by,
        )
    )
    await session.flush()
    host_ids = [host_id for host_id, _ in rows]
    await session.execute(
        delete(Job).where(Job.baseline_id == baseline.id, Job.host_id.not_in(host_ids))
    )  # fmt: skip
    if baseline.archived_at is None:
        await ask_for_profile(session, baseline.id, host_ids)


async def ask_for_profile(session: AsyncSession, baseline_id: int, host_ids: Iterable[int]) -> None:
    """Have the profiles of the baseline made, or made again, for these hosts; in the transaction of what changed."""
    await _ask(session, [(baseline_id, host_id) for host_id in host_ids])


async def ask_for_excluded(session: AsyncSession, window: Window, host_id: int | None) -> int:
    """Have the profiles made again that an exclusion of this window concerns; how many baselines that are."""
    query = (
        select(BaselineHost.baseline_id, BaselineHost.host_id)
        .join(Baseline, Baseline.id == BaselineHost.baseline_id)
        .where(
            Baseline.archived_at.is_(None),
            Baseline.windows.op("&&")(func.tstzrange(window.start, window.end)),
            true() if host_id is None else BaselineHost.host_id == host_id,
        )
    )
    pairs = [(baseline_id, of_host) for baseline_id, of_host in await session.execute(query)]
    await _ask(session, pairs)
    return len({baseline_id for baseline_id, _ in pairs})


async def ask_for_what_is_due(session: AsyncSession, now: datetime) -> int:
    """Have profiles made that nobody asked for yet, or whose windows went on since they were asked for; how many."""
    asked, end = Job.queued_at, func.upper(Baseline.windows)
    has_ended = and_(end + SETTLE <= now, asked < end + SETTLE)
    goes_on = and_(asked < now - AGAIN, asked < end, Baseline.windows.op("&&")(func.tstzrange(asked, func.greatest(asked, now))))
    is_at_rest = Job.state.not_in(OPEN_STATES)
    query = (
        select(BaselineHost.baseline_id, BaselineHost.host_id)
        .join(Baseline, Baseline.id == BaselineHost.baseline_id)
        .outerjoin(Job, and_(Job.baseline_id == BaselineHost.baseline_id, Job.host_id == BaselineHost.host_id))
        .where(
            Baseline.archived_at.is_(None),
            or_(Job.baseline_id.is_(None), and_(is_at_rest, or_(has_ended, goes_on))),
        )
    )
    pairs = [(baseline_id, host_id) for baseline_id, host_id in await session.execute(query)]
    await _ask(session, pairs)
    return len(pairs)


async def forget_host(session: AsyncSession, host_id: int, name: str, *, made_by: str) -> None:
    """Take a host that is being deleted out of baselines, groups, exclusions and mutes; its baselines get a new version."""
    query = (
        select(Baseline)
        .join(BaselineHost, BaselineHost.baseline_id == Baseline.id)
        .where(BaselineHost.host_id == host_id)
        .order_by(Baseline.id)
        .execution_options(populate_existing=True)
    )
    baselines = (await session.scalars(query)).all()
    for table in (BaselineHost, HostGroupHost, Exclusion, MutedSeries):
        await session.execute(delete(table).where(table.host_id == host_id))
    await session.execute(delete(Job).where(Job.host_id == host_id, Job.kind == JobKind.PROFILE))
    for baseline in baselines:
        baseline.version += 1
        await add_version(session, baseline, reason=f"the host {name} was deleted", made_by=made_by)


async def _ask(session: AsyncSession, pairs: Sequence[tuple[int, int]]) -> None:
    if not pairs:
        return
    # In one order, so that two who ask at once do not wait for each other.
    rows = [
        {"kind": JobKind.PROFILE, "baseline_id": baseline_id, "host_id": host_id, "unit": "pieces"}
        for baseline_id, host_id in sorted(pairs)
    ]
    fresh = {
        "state": JobState.QUEUED,
        "n_done": 0,
        "n_total": 0,
        "message": "",
        "n_tries": 0,
        "queued_at": func.clock_timestamp(),
        "next_try_at": func.clock_timestamp(),
        "finished_at": None,
    }
    put = insert(Job).values(rows)
    await session.execute(
        put.on_conflict_do_update(index_elements=["baseline_id", "host_id"], index_where=text("kind = 'profile'"), set_=fresh)
    )


def _to_record(row: BaselineVersion) -> VersionRecord:
    return VersionRecord(
        version=row.version,
        windows=to_windows(row.windows),
        hosts=list(row.hosts),
        time_zone=row.time_zone,
        reason=row.reason,
        made_by=row.made_by,
        made_at=row.made_at,
    )
