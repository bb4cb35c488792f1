"""When normal changed on hosts: the rows that the nightly search writes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.incident_models import NormalChangeRow
from normstat.db.schema.models import Host
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.runtime.field_docs import Documented
from normstat.scoring.normal_steps import StepKind
from normstat.window import Window

# Series that are listed of a change.
MAX_SERIES: Final = 50


@dataclass(frozen=True, slots=True)
class ChangedSeries(Documented):
    """A series that differs since a change of normal."""

    stat: str
    field: str
    instance: str
    """Name of the instance; empty for stats without instances."""

    title: str
    """In words."""

    unit: str
    kind: StepKind
    """level: it is higher or lower; spread: it varies more or less; rhythm: its day has another shape."""

    score: float
    """How many times larger the change is than two weeks usually differ from the two before them."""

    before: float
    """In the two weeks before. Of level: the usual value in `unit`. Of spread: how far an hour usually is from the same hour of the
    day before, as a share of the level. Of rhythm: the hour of the day in which the series is highest, in the host's time."""

    after: float
    """The same in the two weeks after."""

    sentence: str
    """The change in words: `sda await (iostat): 4.1 → 8.3 ms`."""


@dataclass(frozen=True, slots=True)
class NormalChange:
    """Normal changed on a host."""

    host: str
    at: datetime
    n_series: int
    n_compared: int
    sentence: str
    series: list[ChangedSeries]


async def list_normal_changes(
    session: AsyncSession, *, host_ids: Sequence[int] | None = None, start: datetime | None = None, end: datetime | None = None
) -> list[NormalChange]:
    """Return when normal changed on hosts (None: on all), oldest first, from `start` on and before `end`."""
    row = NormalChangeRow
    query = select(row, Host.name).join(Host, Host.id == row.host_id).order_by(row.at, row.id)
    chosen: list[ColumnElement[bool]] = [] if host_ids is None else [row.host_id.in_(host_ids)]
    chosen += [] if start is None else [row.at >= start]
    chosen += [] if end is None else [row.at < end]
    return [
        NormalChange(host, one.at, one.n_series, one.n_compared, one.sentence, [_to_series(own) for own in one.series])
        for one, host in (await session.execute(query.where(*chosen))).all()
    ]


def _to_series(own: dict[str, object]) -> ChangedSeries:
    return ChangedSeries(**{**own, "kind": StepKind(str(own["kind"]))})  # type: ignore[arg-type]


async def read_normal_until(session: AsyncSession, host_id: int) -> datetime | None:
    """Return until when changes of normal were looked for on a host. Missing: None before the first time"""
    return await session.scalar(select(Host.normal_until).where(Host.id == host_id))


async def list_hosts_to_search(session: AsyncSession, until: datetime) -> list[tuple[int, str]]:
    """Return the hosts whose hours are rolled up until then and were not looked at until then: id and name."""
    is_there = Host.id.not_in(select(HostDeletionRow.host_id))
    is_due = (Host.normal_until.is_(None)) | (Host.normal_until < until)
    query = select(Host.id, Host.name).where(is_there, is_due, Host.rolled_until >= until).order_by(Host.id)
    return [(host_id, name) for host_id, name in (await session.execute(query)).all()]


async def replace_normal_changes(
    session: AsyncSession, host_id: int, window: Window, changes: Sequence[NormalChange], until: datetime
) -> None:
    """Store the changes of normal in a window instead of those that were found in it before, and until when was looked."""
    row = NormalChangeRow
    await session.execute(delete(row).where(row.host_id == host_id, row.at >= window.start, row.at < window.end))
    if changes:
        rows = [
            {
                "host_id": host_id,
                "at": own.at,
                "n_series": own.n_series,
                "n_compared": own.n_compared,
                "sentence": own.sentence,
                "series": [asdict(one) for one in own.series[:MAX_SERIES]],
            }
            for own in changes
        ]
        await session.execute(insert(row), rows)
    await session.execute(update(Host).where(Host.id == host_id).values(normal_until=until))
