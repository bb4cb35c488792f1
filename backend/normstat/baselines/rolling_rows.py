"""The rows of rolling baselines: recorded times of hosts, unusual times, and the resulting windows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_records import to_ranges, to_windows
from normstat.baselines.baseline_versions import add_version, ask_for_profile
from normstat.db.schema.baseline_models import Baseline, BaselineHost, BaselineVersion
from normstat.db.schema.job_models import OPEN_STATES, Job
from normstat.db.schema.watch_models import EpisodeRow
from normstat.db.session import WriteSession, driver_of
from normstat.records.episode_rows import WITHDRAWN
from normstat.window import Window

# There is a version each day; a comparison with an older one is stored with its result.
MAX_VERSIONS: Final = 30
MADE_BY: Final = "normstat"
# One row for each stream that sent in the window: an agent starts some a day.
READ_RECORDED: Final = """
    SELECT host_id, min(first_sample_at), max(last_sample_at), extract(epoch FROM sum(upper(part) - lower(part)))::float8
    FROM (
        SELECT host_id, min(first_sample_at) AS first_sample_at, max(last_sample_at) AS last_sample_at,
            range_agg(tstzrange(greatest(first_sample_at, %(start)s), least(last_sample_at, %(end)s), '[]')) AS parts
        FROM streams
        WHERE host_id = ANY(%(host_ids)s::int8[]) AND last_sample_at >= %(start)s AND first_sample_at < %(end)s
        GROUP BY host_id
    ) AS own, unnest(parts) AS part
    GROUP BY host_id
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recorded time of a host in a window: its first and last sample, and the seconds in which at least one stream was sending."""

    first_at: datetime
    last_at: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class UnusualTime:
    """An episode: what found it, on which part of the host, and from when to when."""

    source: str
    instance: str
    start: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class RollingRecord:
    """The rolling baseline of a host. `windows`: in order"""

    id: int
    host_id: int
    windows: tuple[Window, ...]
    is_archived: bool


async def read_recorded(session: AsyncSession, host_ids: Sequence[int], window: Window) -> dict[int, Recorded]:
    """Return the recorded times of hosts in the window, by id. Missing: hosts without a sample in it are left out"""
    if not host_ids:
        return {}
    asked = {"host_ids": list(host_ids), "start": window.start, "end": window.end}
    cursor = await (await driver_of(session)).execute(READ_RECORDED, asked)
    return {
        int(str(host_id)): Recorded(first_at, last_at, float(str(seconds)))
        for host_id, first_at, last_at, seconds in await cursor.fetchall()
        if isinstance(first_at, datetime) and isinstance(last_at, datetime)
    }


async def list_rolling(session: AsyncSession) -> list[RollingRecord]:
    """Return the rolling baselines of all hosts."""
    rows = await session.scalars(select(Baseline).where(Baseline.rolling_host_id.is_not(None)).order_by(Baseline.id))
    return [
        RollingRecord(row.id, row.rolling_host_id or 0, tuple(to_windows(row.windows)), row.archived_at is not None) for row in rows
    ]


async def count_queued(session: AsyncSession) -> int:
    """Return how many profiles of rolling baselines are waiting or being built."""
    query = select(func.count()).select_from(Job).join(Baseline, Baseline.id == Job.baseline_id)
    return await session.scalar(query.where(Baseline.rolling_host_id.is_not(None), Job.state.in_(OPEN_STATES))) or 0


async def read_unusual_times(
    session: AsyncSession, host_id: int, window: Window, sources: Sequence[str], severe: Sequence[str]
) -> list[UnusualTime]:
    """Return the episodes of a host that touch the window: those by these sources, and of any source with a severe colour.

    Withdrawn ones are left out.
    """
    counts: ColumnElement[bool] = or_(EpisodeRow.source.in_(list(sources)), EpisodeRow.colour.in_(list(severe)))
    query = select(EpisodeRow.source, EpisodeRow.instance, EpisodeRow.start_at, EpisodeRow.last_at).where(
        EpisodeRow.host_id == host_id,
        EpisodeRow.start_at < window.end,
        EpisodeRow.last_at >= window.start,
        EpisodeRow.ended_by.is_distinct_from(WITHDRAWN),
        counts,
    )
    return [UnusualTime(*row) for row in await session.execute(query.order_by(EpisodeRow.start_at, EpisodeRow.id))]


async def put_rolling(
    session: WriteSession, host_id: int, host: str, *, windows: Sequence[Window], time_zone: str, reason: str
) -> bool:
    """Store the windows of a host's rolling baseline as a new version, and ask for its profile; return False if it has them.

    The caller holds the lock of baselines.
    """
    baseline = await session.scalar(select(Baseline).where(Baseline.rolling_host_id == host_id).with_for_update())
    if baseline is None:
        baseline = Baseline(
            name=await _free_name(session, host),
            windows=to_ranges(windows),
            created_by=MADE_BY,
            time_zone=time_zone,
            rolling_host_id=host_id,
        )
        session.add(baseline)
        await session.flush()
        session.add(BaselineHost(baseline_id=baseline.id, host_id=host_id))
    elif to_windows(baseline.windows) == list(windows) and baseline.time_zone == time_zone:
        return False
    else:
        baseline.windows, baseline.time_zone = to_ranges(windows), time_zone
        baseline.version += 1
    await session.flush()
    await session.refresh(baseline)
    await add_version(session, baseline, reason=reason, made_by=MADE_BY)
    old = BaselineVersion.version <= baseline.version - MAX_VERSIONS
    await session.execute(delete(BaselineVersion).where(BaselineVersion.baseline_id == baseline.id, old))
    return True


async def rest_rolling(session: WriteSession, baseline_id: int, *, now: datetime | None) -> None:
    """Archive a rolling baseline that a person's one replaces, or (None) use it again. The caller holds the lock."""
    baseline = await session.get(Baseline, baseline_id, with_for_update=True)
    if baseline is None:
        return
    baseline.archived_at = now
    if now is None and baseline.rolling_host_id is not None:
        await ask_for_profile(session, baseline.id, [baseline.rolling_host_id])
    await session.flush()


async def _free_name(session: AsyncSession, host: str) -> str:
    """Return a name that no baseline has: a person may have taken the first one."""
    name = f"last 7 days of {host}"
    taken = set(await session.scalars(select(Baseline.name).where(Baseline.name.startswith(name, autoescape=True))))
    return next(own for number in range(1, len(taken) + 2) if (own := name if number == 1 else f"{name} ({number})") not in taken)
