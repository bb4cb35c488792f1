"""The storage page: what uses the disk, how fast it grows, and when it will be full."""

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.hypertables import Storage, TableSize, packs_by_itself
from normstat.db.schema.models import StatField, StatTable
from normstat.db.standby import StandbyInfo
from normstat.query.storage_sizes import (
    NOT_SEALED,
    DaySizes,
    DiskSpace,
    HostSize,
    SealedSize,
    Sizes,
    measure_sizes,
    read_days,
    read_disk,
)
from normstat.runtime.field_docs import Documented

KEPT_S: Final = 60.0
# Growth is measured over the last week; today is left out because it has only begun. Tables grow by leaps: of a host's year, the
# growth of a week was 0.56 to 1.36 of the true one (5th and 95th percentile), that of four weeks 0.88 to 1.11.
GROWTH_DAYS: Final = 7
LONG_GROWTH_DAYS: Final = 28
# An empty table with its indexes and TOAST has some pages.
ANY_SEALED_BYTES: Final = 100_000
MIN_LENGTH: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DiskInfo(Documented):
    """The file system of the database; null when it is not on the server's machine."""

    free_bytes: int | None
    total_bytes: int | None


@dataclass(frozen=True, slots=True)
class StoragePart(Documented):
    """Size of one kind of data."""

    part: str
    """samples (rows), sealed (packed samples of past days), chunks (raw bytes), artefacts, rollups, profiles (of baselines, rebuilt
    when they are lost), or other."""

    bytes: int


@dataclass(frozen=True, slots=True)
class RawStorage(Documented):
    """The raw output of the tools: as it was received, and what it takes on disk."""

    n_bytes: int
    """As received, without what retention removed."""

    n_packed_bytes: int
    """Of these, how many are packed: all that arrived before yesterday, once packing is done."""

    chunk_table_bytes: int
    """Size of the table of chunks that are not packed; space that is free after packing is used again."""

    packed_table_bytes: int
    """Size of the table of packed chunks."""


@dataclass(frozen=True, slots=True)
class StatStorage(Documented):
    """Size of the samples of a stat."""

    stat: str
    table_bytes: int
    index_bytes: int
    sealed_bytes: int
    """Of packed samples, which are not in the table."""

    n_samples: int
    """An estimate; sealed ones included."""

    n_sealed: int
    n_values: int
    """An estimate; sealed ones included."""

    bytes_per_value: float | None
    """null without samples."""

    bytes_per_day: float | None
    """Growth; null until it is known."""


@dataclass(frozen=True, slots=True)
class HostStorage(Documented):
    """Size of the data of a host; bytes and samples are estimates."""

    host: str
    sample_bytes: int
    chunk_bytes: int
    n_samples: int
    bytes_per_day: float | None
    """Growth; null until it is known."""

    first_sample_at: datetime | None
    last_sample_at: datetime | None


@dataclass(frozen=True, slots=True)
class StorageInfo(Documented):
    """The disk space of the database, measured at most once a minute."""

    kind: Storage
    measured_at: datetime
    database_bytes: int
    disk: DiskInfo
    growth_bytes_per_day: float | None
    """Growth during the last week or the last four, whichever is more, without profiles; since samples are being sealed, that of
    the days since then only. null until it is known."""

    is_before_sealing: bool
    """Whether samples are going to be sealed and none is yet: on the first days all are rows, which take many times more."""

    standby: StandbyInfo | None
    """The standby that large reads go to; null where none is configured."""

    days_until_full: float | None
    """null when the free space is unknown, or the database does not grow."""

    parts: list[StoragePart]
    raw: RawStorage
    stats: list[StatStorage]
    hosts: list[HostStorage]


class StorageMonitor:
    """Measures the storage at most once a minute, however many clients ask."""

    def __init__(self, database_url: str, folder: Path | None, seal_after_days: int | None) -> None:
        self._database_url = database_url
        self._folder = folder
        self._seal_after_days = seal_after_days
        self._lock = asyncio.Lock()
        self._info: StorageInfo | None = None
        self._read_s = 0.0

    async def read(self, session: AsyncSession) -> StorageInfo:
        """Return sizes that are at most a minute old."""
        async with self._lock:
            if self._info is None or time.monotonic() - self._read_s > KEPT_S:
                self._info = await read_storage_info(session, self._database_url, self._folder, self._seal_after_days)
                self._read_s = time.monotonic()
            return self._info


async def read_storage_info(
    session: AsyncSession, database_url: str, folder: Path | None, seal_after_days: int | None
) -> StorageInfo:
    """Return the current sizes; `folder` is the data directory of the database, if configured; `seal_after_days` is the setting."""
    sizes = await measure_sizes(session)
    days = await read_days(session, most=LONG_GROWTH_DAYS + 1)
    disk = await read_disk(session, database_url, folder)
    counted = select(StatTable.name, func.count()).join(StatField, StatField.stat_id == StatTable.id).group_by(StatTable.name)
    n_fields = {row[0]: row[1] for row in await session.execute(counted)}
    is_sealing = seal_after_days != 0 and (seal_after_days is not None or not packs_by_itself(sizes.kind))
    return build_info(sizes, days, disk, n_fields, is_sealing=is_sealing)


def build_info(
    sizes: Sizes, days: list[DaySizes], disk: DiskSpace | None, n_fields: dict[str, int], *, is_sealing: bool
) -> StorageInfo:
    """Return the answer from the measurements; `days` newest first."""
    growth = _growth(sizes, days)
    then = _compared_day(sizes, days, GROWTH_DAYS)
    is_sealed = sizes.sealed_bytes > ANY_SEALED_BYTES
    is_full_soon = disk is not None and growth is not None and growth > 0
    evidence = sizes.sample_bytes + sizes.sealed_bytes + sizes.chunk_bytes + sizes.artefact_bytes
    known = evidence + sizes.rollup_bytes + sizes.profile_bytes
    return StorageInfo(
        kind=sizes.kind,
        measured_at=sizes.measured_at,
        database_bytes=sizes.database_bytes,
        disk=DiskInfo(None, None) if disk is None else DiskInfo(disk.free_bytes, disk.total_bytes),
        growth_bytes_per_day=growth,
        is_before_sealing=is_sealing and not is_sealed and sizes.sample_bytes > 0,
        standby=None,
        days_until_full=disk.free_bytes / growth if is_full_soon and disk and growth else None,
        parts=[
            StoragePart("samples", sizes.sample_bytes),
            StoragePart("sealed", sizes.sealed_bytes),
            StoragePart("chunks", sizes.chunk_bytes),
            StoragePart("artefacts", sizes.artefact_bytes),
            StoragePart("rollups", sizes.rollup_bytes),
            StoragePart("profiles", sizes.profile_bytes),
            StoragePart("other", max(0, sizes.database_bytes - known)),
        ],
        raw=RawStorage(sizes.raw.n_bytes, sizes.raw.n_packed_bytes, sizes.raw.chunk_table_bytes, sizes.raw.packed_table_bytes),
        stats=[
            _to_stat(stat, sizes.sealed.get(stat.name, NOT_SEALED), n_fields.get(stat.name, 0), then, sizes.measured_at)
            for stat in sizes.stats
        ],
        hosts=[_to_host(host, then, sizes.measured_at) for host in sizes.hosts if not host.is_being_deleted],
    )


def _compared_day(sizes: Sizes, days: list[DaySizes], n_days: int) -> DaySizes | None:
    """Return the oldest of this many days before today; the oldest that ended with sealed samples, once there are any.

    Until the first are sealed, all samples are rows. From then on rows take as much as those of two days, and only sealed samples
    grow.
    """
    before = [day for day in days if day.measured_at.date() < sizes.measured_at.date()][:n_days]
    settled = [day for day in before if day.sealed_bytes > ANY_SEALED_BYTES]
    found = settled or before
    return found[-1] if found and sizes.measured_at - found[-1].measured_at >= MIN_LENGTH else None


def _growth(sizes: Sizes, days: list[DaySizes]) -> float | None:
    """Return the growth in bytes per day; on the first day, since its first measurement.

    Profiles are left out: in a host's first week they grow, and then they are replaced.
    """
    n_bytes = sizes.database_bytes - sizes.profile_bytes
    thens = [_compared_day(sizes, days, n_days) for n_days in (GROWTH_DAYS, LONG_GROWTH_DAYS)]
    found = [
        _per_day(n_bytes - (then.database_bytes - then.profile_bytes), then.measured_at, sizes.measured_at)
        for then in thens
        if then is not None
    ]
    if found:
        # A fleet that has just doubled fills the disk twice as fast from now on.
        return max(found)
    if days and sizes.measured_at - days[-1].first_at >= MIN_LENGTH:
        return _per_day(sizes.database_bytes - days[-1].first_bytes, days[-1].first_at, sizes.measured_at)
    return None


def _per_day(n_bytes: int, start: datetime, end: datetime) -> float:
    return n_bytes / ((end - start) / DAY)


def _to_stat(size: TableSize, sealed: SealedSize, n_fields: int, then: DaySizes | None, now: datetime) -> StatStorage:
    n_bytes, n_values = size.table_bytes + size.index_bytes + sealed.n_bytes, size.n_rows * n_fields + sealed.n_values
    return StatStorage(
        stat=size.name,
        table_bytes=size.table_bytes,
        index_bytes=size.index_bytes,
        sealed_bytes=sealed.n_bytes,
        n_samples=size.n_rows + sealed.n_rows,
        n_sealed=sealed.n_rows,
        n_values=n_values,
        bytes_per_value=n_bytes / n_values if n_values else None,
        bytes_per_day=_per_day(n_bytes - then.stats.get(size.name, 0), then.measured_at, now) if then else None,
    )


def _to_host(host: HostSize, then: DaySizes | None, now: datetime) -> HostStorage:
    n_bytes = host.sample_bytes + host.chunk_bytes
    return HostStorage(
        host=host.name,
        sample_bytes=host.sample_bytes,
        chunk_bytes=host.chunk_bytes,
        n_samples=host.n_samples,
        bytes_per_day=_per_day(n_bytes - then.hosts.get(host.id, 0), then.measured_at, now) if then else None,
        first_sample_at=host.first_sample_at,
        last_sample_at=host.last_sample_at,
    )
