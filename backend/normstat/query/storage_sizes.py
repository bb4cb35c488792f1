"""Disk usage of the database by content: from the catalogue and from the streams' own counts, nothing is counted.

A host's share is an estimate: of each stat in proportion to its samples, of the raw bytes in proportion to what it sent.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.cluster_sizes import NO_SHARDS, WHOLE, read_shard_sizes
from normstat.db.hypertables import Storage, TableSize, read_storage, read_table_sizes
from normstat.db.schema.retention_models import StorageDay
from normstat.db.session import open_write_session
from normstat.samples.stat_tables import SCHEMA

DATABASE_BYTES: Final = text("SELECT pg_database_size(current_database())")
PART_BYTES: Final = text("""
    SELECT pg_total_relation_size('chunks') AS chunks, pg_total_relation_size('packed_chunks') AS packed_chunks,
        pg_total_relation_size('rollups') AS rollups, pg_total_relation_size('rollup_marks') AS rollup_marks,
        pg_total_relation_size('sealed_blocks') AS sealed_blocks, pg_total_relation_size('profile_pieces') AS profile_pieces,
        pg_total_relation_size('profiles') AS profiles,
        pg_total_relation_size('artefacts') + pg_total_relation_size('artefact_bytes') + pg_total_relation_size('artefact_parts')
            AS artefacts
""")
# The length of a value that is stored outside its row is in the row.
SEALED: Final = text("""
    SELECT s.name, sum(b.n_rows)::int8, sum(b.n_values)::int8, sum(octet_length(b.head) + octet_length(b.body))::int8
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    GROUP BY s.name
""")
RAW_BYTES: Final = text("""
    SELECT coalesce(sum(greatest(s.acked_offset - s.n_gap_bytes - coalesce(c.kept_from, 0), 0)), 0)::int8 AS n_bytes,
        coalesce(sum(c.packed_bytes), 0)::int8 AS n_packed
    FROM streams AS s LEFT JOIN stream_changes AS c ON c.stream_id = s.id
""")
# Streams of hosts that are being deleted count as well: their bytes are still there.
HOST_SHARES: Final = text("""
    SELECT s.host_id, stat, sum(s.n_sample)::int8 AS n
    FROM streams AS s, unnest(s.stat_names) AS stat
    WHERE s.n_sample > 0
    GROUP BY s.host_id, stat
""")
HOSTS: Final = text("""
    SELECT h.id, h.name, d.host_id IS NOT NULL AS is_being_deleted,
        coalesce(sum(greatest(s.acked_offset - s.n_gap_bytes - coalesce(c.kept_from, 0), 0)), 0)::int8 AS n_raw_bytes,
        min(s.first_sample_at) AS first_sample_at, max(s.last_sample_at) AS last_sample_at
    FROM hosts AS h
    LEFT JOIN streams AS s ON s.host_id = h.id
    LEFT JOIN stream_changes AS c ON c.stream_id = s.id
    LEFT JOIN host_deletions AS d ON d.host_id = h.id
    GROUP BY h.id, h.name, d.host_id
    ORDER BY h.name
""")
# Other roles may not ask for it. The view pg_settings answers them, too, but makes a row of each setting first: 1.5 ms each time.
DATA_DIRECTORY: Final = text(
    "SELECT CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') END"
)
LOCAL_HOSTS: Final = frozenset({"", "localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class HostSize:
    """Size of a host's data; bytes and samples are estimates."""

    id: int
    name: str
    is_being_deleted: bool
    sample_bytes: int
    chunk_bytes: int
    n_samples: int
    first_sample_at: datetime | None
    last_sample_at: datetime | None


@dataclass(frozen=True, slots=True)
class SealedSize:
    """The sealed samples of a stat."""

    n_rows: int = 0
    n_values: int = 0
    n_bytes: int = 0


NOT_SEALED: Final = SealedSize()


@dataclass(frozen=True, slots=True)
class RawSizes:
    """Raw bytes as they were received, `n_packed_bytes` of them packed; and the size of both tables on disk."""

    n_bytes: int
    n_packed_bytes: int
    chunk_table_bytes: int
    packed_table_bytes: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """All sizes at one time."""

    measured_at: datetime
    kind: Storage
    database_bytes: int
    raw: RawSizes
    rollup_bytes: int
    sealed_bytes: int
    profile_bytes: int
    artefact_bytes: int
    stats: list[TableSize]
    sealed: Mapping[str, SealedSize]
    hosts: list[HostSize]

    @property
    def chunk_bytes(self) -> int:
        """The size of all raw bytes on disk, packed or not."""
        return self.raw.chunk_table_bytes + self.raw.packed_table_bytes

    @property
    def sample_bytes(self) -> int:
        """The size of all sample tables, with their indexes; without what is sealed."""
        return sum(stat.table_bytes + stat.index_bytes for stat in self.stats)


async def measure_sizes(session: AsyncSession) -> Sizes:
    """Return the current sizes."""
    stats = await read_table_sizes(session, SCHEMA)
    sealed = {name: SealedSize(int(n_rows), int(n_values), int(n)) for name, n_rows, n_values, n in await session.execute(SEALED)}
    shards = await read_shard_sizes(session)
    on_workers = {name: one.n_bytes for (schema, name), one in shards.items() if schema == "public"}
    own = (await session.execute(PART_BYTES)).mappings().one()
    parts = {name: int(n_bytes) + on_workers.get(name, 0) for name, n_bytes in own.items()}
    raw = (await session.execute(RAW_BYTES)).one()
    return Sizes(
        measured_at=datetime.now(UTC),
        kind=await read_storage(session),
        database_bytes=int(await session.scalar(DATABASE_BYTES) or 0) + shards.get(WHOLE, NO_SHARDS).table_bytes,
        raw=RawSizes(max(int(raw.n_bytes), int(raw.n_packed)), int(raw.n_packed), parts["chunks"], parts["packed_chunks"]),
        rollup_bytes=parts["rollups"] + parts["rollup_marks"],
        sealed_bytes=parts["sealed_blocks"],
        profile_bytes=parts["profile_pieces"] + parts["profiles"],
        artefact_bytes=parts["artefacts"],
        stats=stats,
        sealed=sealed,
        hosts=await _read_hosts(session, stats, sealed, parts["chunks"] + parts["packed_chunks"]),
    )


async def _read_hosts(
    session: AsyncSession, stats: list[TableSize], sealed: Mapping[str, SealedSize], chunk_bytes: int
) -> list[HostSize]:
    by_stat: dict[str, dict[int, int]] = {}
    for host_id, stat, n in await session.execute(HOST_SHARES):
        by_stat.setdefault(stat, {})[host_id] = int(n)
    sample_bytes: dict[int, float] = {}
    n_samples: dict[int, float] = {}
    for size in stats:
        shares = by_stat.get(size.name, {})
        total = sum(shares.values())
        own = sealed.get(size.name, NOT_SEALED)
        n_bytes, n_rows = size.table_bytes + size.index_bytes + own.n_bytes, size.n_rows + own.n_rows
        for host_id, n in shares.items():
            sample_bytes[host_id] = sample_bytes.get(host_id, 0.0) + n_bytes * n / total
            n_samples[host_id] = n_samples.get(host_id, 0.0) + n_rows * n / total
    rows = (await session.execute(HOSTS)).all()
    n_raw_bytes = sum(row.n_raw_bytes for row in rows) or 1
    return [
        HostSize(
            id=row.id,
            name=row.name,
            is_being_deleted=row.is_being_deleted,
            sample_bytes=round(sample_bytes.get(row.id, 0.0)),
            chunk_bytes=round(chunk_bytes * row.n_raw_bytes / n_raw_bytes),
            n_samples=round(n_samples.get(row.id, 0.0)),
            first_sample_at=row.first_sample_at,
            last_sample_at=row.last_sample_at,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class DaySizes:
    """The sizes at the end of a day, or of today so far; `first_at` and `first_bytes` are those of its first measurement.

    Missing: 0 `profile_bytes` and `sealed_bytes` of days that an earlier version measured
    """

    measured_at: datetime
    database_bytes: int
    first_at: datetime
    first_bytes: int
    profile_bytes: int
    sealed_bytes: int
    stats: Mapping[str, int]
    hosts: Mapping[int, int]


async def note_sizes(sessions: async_sessionmaker[AsyncSession]) -> None:
    """Store the sizes of today. An hourly job."""
    async with open_write_session(sessions) as session:
        sizes = await measure_sizes(session)
        known = await session.get(StorageDay, sizes.measured_at.date())
        first: dict[str, object] = {"first_at": sizes.measured_at.isoformat(), "first_bytes": sizes.database_bytes}
        if known is not None:
            first = {key: known.sizes[key] for key in first}
        body: dict[str, object] = {
            **first,
            "database": sizes.database_bytes,
            "profiles": sizes.profile_bytes,
            "sealed": sizes.sealed_bytes,
            "stats": {
                stat.name: stat.table_bytes + stat.index_bytes + sizes.sealed.get(stat.name, NOT_SEALED).n_bytes
                for stat in sizes.stats
            },
            "hosts": {str(host.id): host.sample_bytes + host.chunk_bytes for host in sizes.hosts},
        }
        values = {"measured_at": sizes.measured_at, "sizes": body}
        put = insert(StorageDay).values(day=sizes.measured_at.date(), **values)
        await session.execute(put.on_conflict_do_update(index_elements=["day"], set_=values))


async def read_days(session: AsyncSession, *, most: int) -> list[DaySizes]:
    """Return the sizes of the last days, newest first."""
    rows = await session.scalars(
        select(StorageDay).order_by(StorageDay.day.desc()).limit(most), execution_options={"populate_existing": True}
    )
    return [_to_day(row) for row in rows]


def _to_day(row: StorageDay) -> DaySizes:
    stats, hosts = row.sizes["stats"], row.sizes["hosts"]
    assert isinstance(stats, dict)
    assert isinstance(hosts, dict)
    return DaySizes(
        measured_at=row.measured_at,
        database_bytes=int(str(row.sizes["database"])),
        first_at=datetime.fromisoformat(str(row.sizes["first_at"])),
        first_bytes=int(str(row.sizes["first_bytes"])),
        profile_bytes=int(str(row.sizes.get("profiles", 0))),
        sealed_bytes=int(str(row.sizes.get("sealed", 0))),
        stats={str(name): int(size) for name, size in stats.items()},
        hosts={int(id_): int(size) for id_, size in hosts.items()},
    )


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """The file system that the database lies on."""

    free_bytes: int
    total_bytes: int


async def read_disk(session: AsyncSession, database_url: str, folder: Path | None) -> DiskSpace | None:
    """Return the space of the disk with that folder, or with the database's own folder if that is on this machine.

    Missing: None when it is not, or its location is unknown
    """
    if folder is None:
        if not _is_local(database_url):
            return None
        found = await session.scalar(DATA_DIRECTORY)
        if found is None:
            return None
        folder = Path(found)
    try:
        space = os.statvfs(folder)
    except OSError:
        return None
    return DiskSpace(space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize)


def _is_local(database_url: str) -> bool:
    try:
        hosts = str(conninfo_to_dict(database_url).get("host") or "")
    except ProgrammingError:
        return False
    return all(host in LOCAL_HOSTS or host.startswith("/") for host in hosts.split(","))


async def read_database_bytes(session: AsyncSession) -> int:
    """Return the size of the database on disk."""
    return int(await session.scalar(select(func.pg_database_size(func.current_database()))) or 0)
