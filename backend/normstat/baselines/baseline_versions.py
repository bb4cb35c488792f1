"""The versions of baselines, their effective windows, and the requests to build profiles of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import BigInteger, and_, column, delete, func, literal, or_, select, text, true
from sqlalchemy.dialects.postgresql import ARRAY, TSTZMULTIRANGE, insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_records import to_windows
from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import (
    Baseline,
    BaselineHost,
    BaselineVersion,
    Exclusion,
    ExpectedValueRow,
    HostGroupHost,
    MutedSeries,
)
from normstat.db.schema.job_models import OPEN_STATES, Job, JobKind, JobState
from normstat.db.schema.models import Host
from normstat.errors import NotFound
from normstat.window import Window

# Any number that no other advisory lock uses. Changes of baselines, exclusions or groups are serialised: a baseline changed while
# an exclusion is added would otherwise have profiles that ignore it.
BASELINES_LOCK: Final = 0x6E6F726D_00000015
# Samples may be in transit for this long: agents send every few seconds.
SETTLE: Final = timedelta(minutes=2)
# How often a profile is rebuilt while its windows still grow.
AGAIN: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """One version of a baseline, and why it was created."""

    version: int
    windows: list[Window]
    hosts: list[str]
    time_zone: str
    reason: str
    made_by: str
    made_at: datetime


async def lock_baselines(session: AsyncSession) -> None:
    """Take the lock on changes of baselines; call it before the transaction takes any other lock."""
    await session.execute(select(func.pg_advisory_xact_lock(BASELINES_LOCK)))


async def list_versions(session: AsyncSession, baseline_id: int) -> list[VersionInfo]:
    """Return all versions, newest first.

    Raises: NotFound for an unknown baseline
    """
    query = (
        select(BaselineVersion).where(BaselineVersion.baseline_id == baseline_id).order_by(BaselineVersion.version.desc())
    )  # fmt: skip
    rows = (await session.scalars(query, execution_options={"populate_existing": True})).all()
    if not rows and await session.get(Baseline, baseline_id) is None:
        raise NotFound(f"There is no baseline {baseline_id}; GET /api/v1/baselines lists them", {"baseline": baseline_id})
    return [_to_record(row) for row in rows]


async def read_version(session: AsyncSession, baseline_id: int, version: int) -> VersionInfo:
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
    """Return the windows of that version (None: the newest) without today's exclusions for the host.

    They may reach into the future. Missing: empty when everything is excluded, or a rule has no finished window yet.

    Raises: NotFound for an unknown baseline or version
    """
    return (await effective_windows_by_host(session, baseline_id, [host_id], version))[host_id]


async def effective_windows_by_host(
    session: AsyncSession, baseline_id: int, host_ids: Sequence[int], version: int | None = None
) -> dict[int, tuple[Window, ...]]:
    """Return `effective_windows` of each of these hosts, read at once.

    Raises: NotFound for an unknown baseline or version
    """
    hosts = (
        func.unnest(literal(list(host_ids), ARRAY(BigInteger)))
        .table_valued(column("host_id", BigInteger), name="hosts")
        .render_derived()
    )
    excluded = (
        select(func.range_agg(func.tstzrange(Exclusion.start_at, Exclusion.end_at)))
        .where(or_(Exclusion.host_id.is_(None), Exclusion.host_id == hosts.c.host_id))
        .correlate(hosts)
        .scalar_subquery()
    )
    of_version = Baseline.version if version is None else version
    windows = BaselineVersion.windows.op("-", return_type=TSTZMULTIRANGE())(func.coalesce(excluded, func.tstzmultirange()))
    query = (
        select(hosts.c.host_id, windows)
        .select_from(BaselineVersion)
        .join(Baseline, Baseline.id == BaselineVersion.baseline_id)
        .join(hosts, true())
        .where(Baseline.id == baseline_id, BaselineVersion.version == of_version)
    )
    found = {host_id: tuple(to_windows(ranges)) for host_id, ranges in await session.execute(query)}
    if found or not host_ids:
        return found
    if version is None or await session.get(Baseline, baseline_id) is None:
        raise NotFound(f"There is no baseline {baseline_id}; GET /api/v1/baselines lists them", {"baseline": baseline_id})
    await read_version(session, baseline_id, version)
    return dict.fromkeys(host_ids, ())


async def add_version(session: AsyncSession, baseline: Baseline, *, reason: str, made_by: str) -> None:
    """Store the present baseline as its version, and request profiles of its hosts."""
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
    """Request that the baseline's profiles for these hosts be built or rebuilt; in the transaction of the change."""
    await _ask(session, [(baseline_id, host_id) for host_id in host_ids])


async def ask_for_excluded(session: AsyncSession, window: Window, host_id: int | None) -> int:
    """Request that the profiles affected by an exclusion of this window be rebuilt; return the number of baselines."""
    query = (
        select(BaselineHost.baseline_id, BaselineHost.host_id)
        .join(Baseline, Baseline.id == BaselineHost.baseline_id)
        .where(
            Baseline.archived_at.is_(None),
            Baseline.windows.bool_op("&&")(func.tstzrange(window.start, window.end)),
            true() if host_id is None else BaselineHost.host_id == host_id,
        )
    )
    pairs = [(baseline_id, of_host) for baseline_id, of_host in await session.execute(query)]
    await _ask(session, pairs)
    return len({baseline_id for baseline_id, _ in pairs})


async def ask_for_what_is_due(session: AsyncSession, now: datetime) -> int:
    """Request missing profiles, and those whose windows have grown since the last request; return their number."""
    asked, end = Job.queued_at, func.upper(Baseline.windows)
    has_ended = and_(end + SETTLE <= now, asked < end + SETTLE)
    since_asked = func.tstzrange(asked, func.greatest(asked, now))
    goes_on = and_(asked < now - AGAIN, asked < end, Baseline.windows.bool_op("&&")(since_asked))
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
    """Remove a host that is being deleted from baselines, groups, exclusions and mutes; its baselines get a new version.

    Its rolling baseline goes with it.
    """
    await session.execute(delete(Baseline).where(Baseline.rolling_host_id == host_id))
    query = (
        select(Baseline)
        .join(BaselineHost, BaselineHost.baseline_id == Baseline.id)
        .where(BaselineHost.host_id == host_id)
        .order_by(Baseline.id)
        .execution_options(populate_existing=True)
    )
    baselines = (await session.scalars(query)).all()
    for table in (BaselineHost, HostGroupHost, Exclusion, MutedSeries, ExpectedValueRow):
        await session.execute(delete(table).where(table.host_id == host_id))
    await session.execute(delete(Job).where(Job.host_id == host_id, Job.kind == JobKind.PROFILE))
    for baseline in baselines:
        baseline.version += 1
        await add_version(session, baseline, reason=f"the host {name} was deleted", made_by=made_by)


async def _ask(session: AsyncSession, pairs: Sequence[tuple[int, int]]) -> None:
    if not pairs:
        return
    # In a fixed order, so that two concurrent requests do not deadlock.
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


def _to_record(row: BaselineVersion) -> VersionInfo:
    return to_record(VersionInfo, row, windows=to_windows(row.windows))
