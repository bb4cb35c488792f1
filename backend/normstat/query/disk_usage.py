"""The storage page: what uses the disk, how fast it grows, and when it will be full."""

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.storage.hypertables import TableSize
from normstat.storage.schema.models import StatField, StatTable
from normstat.storage.storage_sizes import DaySizes, DiskSpace, HostSize, Sizes, measure_sizes, read_days, read_disk

KEPT_S: Final = 60.0
# Growth is measured over the last week; today is left out because it has only begun.
GROWTH_DAYS: Final = 7
MIN_LENGTH: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DiskRecord:
    """The file system of the database. Missing: None when it is not on this machine."""

    free_bytes: int | None
    total_bytes: int | None


@dataclass(frozen=True, slots=True)
class PartRecord:
    """Size of one kind of data: samples, chunks (raw bytes), rollups, other."""

    part: str
    bytes: int


@dataclass(frozen=True, slots=True)
class StatUsage:
    """Size of the samples of a stat; `n_samples` and `n_values` are estimates.

    Missing: `bytes_per_value` None without samples, `bytes_per_day` None until it is known
    """

    stat: str
    table_bytes: int
    index_bytes: int
    n_samples: int
    n_values: int
    bytes_per_value: float | None
    bytes_per_day: float | None


@dataclass(frozen=True, slots=True)
class HostUsage:
    """Size of the data of a host; bytes and samples are estimates."""

    host: str
    sample_bytes: int
    chunk_bytes: int
    n_samples: int
    bytes_per_day: float | None
    first_sample_at: datetime | None
    last_sample_at: datetime | None


@dataclass(frozen=True, slots=True)
class StorageRecord:
    """The storage page. Missing: growth None until known; days None when it does not grow or the disk is unknown."""

    kind: str
    measured_at: datetime
    database_bytes: int
    disk: DiskRecord
    growth_bytes_per_day: float | None
    days_until_full: float | None
    parts: list[PartRecord]
    stats: list[StatUsage]
    hosts: list[HostUsage]


class StorageMonitor:
    """Measures the storage at most once a minute, however many clients ask."""

    def __init__(self, database_url: str, folder: Path | None) -> None:
        self._database_url = database_url
        self._folder = folder
        self._lock = asyncio.Lock()
        self._record: StorageRecord | None = None
        self._read_s = 0.0

    async def read(self, session: AsyncSession) -> StorageRecord:
        """Return sizes that are at most a minute old."""
        async with self._lock:
            if self._record is None or time.monotonic() - self._read_s > KEPT_S:
                self._record = await read_storage_record(session, self._database_url, self._folder)
                self._read_s = time.monotonic()
            return self._record


async def read_storage_record(session: AsyncSession, database_url: str, folder: Path | None) -> StorageRecord:
    """Return the current sizes; `folder` is the data directory of the database, if configured."""
    sizes = await measure_sizes(session)
    days = await read_days(session, most=GROWTH_DAYS + 1)
    disk = await read_disk(session, database_url, folder)
    counted = select(StatTable.name, func.count()).join(StatField, StatField.stat_id == StatTable.id).group_by(StatTable.name)
    n_fields = {row[0]: row[1] for row in await session.execute(counted)}
    return build_record(sizes, days, disk, n_fields)


def build_record(sizes: Sizes, days: list[DaySizes], disk: DiskSpace | None, n_fields: dict[str, int]) -> StorageRecord:
    """Return the storage record computed from the measurements; `days` newest first."""
    growth = _growth(sizes, days)
    then = _compared_day(sizes, days)
    is_full_soon = disk is not None and growth is not None and growth > 0
    known = sizes.sample_bytes + sizes.chunk_bytes + sizes.rollup_bytes
    return StorageRecord(
        kind=sizes.kind,
        measured_at=sizes.measured_at,
        database_bytes=sizes.database_bytes,
        disk=DiskRecord(None, None) if disk is None else DiskRecord(disk.free_bytes, disk.total_bytes),
        growth_bytes_per_day=growth,
        days_until_full=disk.free_bytes / growth if is_full_soon and disk and growth else None,
        parts=[
            PartRecord("samples", sizes.sample_bytes),
            PartRecord("chunks", sizes.chunk_bytes),
            PartRecord("rollups", sizes.rollup_bytes),
            PartRecord("other", max(0, sizes.database_bytes - known)),
        ],
        stats=[_to_stat(stat, n_fields.get(stat.name, 0), then, sizes.measured_at) for stat in sizes.stats],
        hosts=[_to_host(host, then, sizes.measured_at) for host in sizes.hosts if not host.is_being_deleted],
    )


def _compared_day(sizes: Sizes, days: list[DaySizes]) -> DaySizes | None:
    """Return the oldest of the recent days, without today."""
    before = [day for day in days if day.measured_at.date() < sizes.measured_at.date()]
    return before[-1] if before and sizes.measured_at - before[-1].measured_at >= MIN_LENGTH else None


def _growth(sizes: Sizes, days: list[DaySizes]) -> float | None:
    """Return the growth in bytes per day; on the first day, since its first measurement."""
    then = _compared_day(sizes, days)
    if then is not None:
        return _per_day(sizes.database_bytes - then.database_bytes, then.measured_at, sizes.measured_at)
    if days and sizes.measured_at - days[-1].first_at >= MIN_LENGTH:
        return _per_day(sizes.database_bytes - days[-1].first_bytes, days[-1].first_at, sizes.measured_at)
    return None


def _per_day(n_bytes: int, start: datetime, end: datetime) -> float:
    return n_bytes / ((end - start) / DAY)


def _to_stat(size: TableSize, n_fields: int, then: DaySizes | None, now: datetime) -> StatUsage:
    n_bytes, n_values = size.table_bytes + size.index_bytes, size.n_rows * n_fields
    return StatUsage(
        stat=size.name,
        table_bytes=size.table_bytes,
        index_bytes=size.index_bytes,
        n_samples=size.n_rows,
        n_values=n_values,
        bytes_per_value=n_bytes / n_values if n_values else None,
        bytes_per_day=_per_day(n_bytes - then.stats.get(size.name, 0), then.measured_at, now) if then else None,
    )


def _to_host(host: HostSize, then: DaySizes | None, now: datetime) -> HostUsage:
    n_bytes = host.sample_bytes + host.chunk_bytes
    return HostUsage(
        host=host.name,
        sample_bytes=host.sample_bytes,
        chunk_bytes=host.chunk_bytes,
        n_samples=host.n_samples,
        bytes_per_day=_per_day(n_bytes - then.hosts.get(host.id, 0), then.measured_at, now) if then else None,
        first_sample_at=host.first_sample_at,
        last_sample_at=host.last_sample_at,
    )
