"""What `normstat doctor` asks the database about itself: version, settings, sessions, the leader, jobs."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.backup.damage import CheckSource
from normstat.db.hypertables import Storage, read_storage
from normstat.db.leader import LEADER_LOCK_HALVES
from normstat.db.schema.job_models import Job, JobState
from normstat.db.schema.models import User
from normstat.db.schema.retention_models import DataCheck

SETTINGS: Final = (
    "server_version", "shared_buffers", "max_connections", "superuser_reserved_connections", "reserved_connections", "max_wal_size",
    "max_locks_per_transaction", "synchronous_commit", "fsync", "full_page_writes", "autovacuum", "server_encoding",
    "data_checksums",
)  # fmt: skip
READ_SETTINGS: Final = text("""
    SELECT name, CASE unit
        WHEN '8kB' THEN (setting::bigint * 8192)::text
        WHEN 'kB' THEN (setting::bigint * 1024)::text
        WHEN 'MB' THEN (setting::bigint * 1048576)::text
        ELSE setting
    END
    FROM pg_settings WHERE name = ANY(:names)
""")
READ_ROLE: Final = text("""
    SELECT current_setting('server_version_num')::int, pg_is_in_recovery(),
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), current_user, current_database(), clock_timestamp()
""")
READ_EXTENSION: Final = text("""
    SELECT e.extversion, a.default_version
    FROM pg_extension e LEFT JOIN pg_available_extensions a ON a.name = e.extname
    WHERE e.extname = 'timescaledb'
""")
COUNT_FAILED_JOBS: Final = text("""
    SELECT count(*) FROM timescaledb_information.job_stats WHERE hypertable_schema = 'samples' AND last_run_status = 'Failed'
""")
READ_SESSIONS: Final = text("""
    SELECT split_part(application_name, ' ', 1) || ' ' || split_part(application_name, ' ', 2), count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'normstat %'
    GROUP BY 1 ORDER BY 1
""")
READ_CHECKSUM_FAILURE: Final = text("SELECT max(checksum_last_failure) FROM pg_stat_database")
COUNT_CONNECTIONS: Final = text("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
# A bigint lock is shown in two halves.
READ_LEADER: Final = text("""
    SELECT now() - a.backend_start, coalesce(p.place, ''), now() - p.beat_at
    FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
        LEFT JOIN server_processes p ON p.id = split_part(a.application_name, ' ', 3)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid = :high AND l.objid = :low
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    LIMIT 1
""")
# A segment is named by timeline and number, in two parts of eight hexadecimal digits; other files have longer names.
READ_ARCHIVE: Final = text("""
    SELECT current_setting('archive_mode') <> 'off', (SELECT setting::int FROM pg_settings WHERE name = 'archive_timeout'),
        last_archived_time, last_failed_time, coalesce(last_failed_wal, ''), failed_count,
        CASE WHEN last_archived_wal ~ '^[0-9A-F]{24}' THEN greatest(0, (pg_current_wal_lsn() - '0/0'
            - ((('x' || substr(last_archived_wal, 9, 8))::bit(32)::bigint * (4294967296 / segment.bytes)
            + ('x' || substr(last_archived_wal, 17, 8))::bit(32)::bigint + 1) * segment.bytes)))::bigint END,
        clock_timestamp()
    FROM pg_stat_archiver, (SELECT setting::bigint AS bytes FROM pg_settings WHERE name = 'wal_segment_size') AS segment
""")
LIMIT: Final = text("SET LOCAL statement_timeout = '60s'")
RECENT: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What a database says of itself. `settings`: as text, sizes in bytes. `clock_offset_s`: its clock less this machine's.

    `n_failed_jobs`: tables of samples on which TimescaleDB's latest job failed. `origin`: where the program of a server on this
    machine comes from; empty where that is not known. `checksum_failed_at`: when a page was read last that was not as it was
    written. Missing: None for never, or without checksums
    """

    version_num: int
    is_standby: bool
    is_superuser: bool
    role: str
    database: str
    clock_offset_s: float
    clock_error_s: float
    settings: dict[str, str]
    storage: Storage
    extension_version: str | None
    available_version: str | None
    n_failed_jobs: int
    n_connections: int
    checksum_failed_at: datetime | None
    n_sessions_by_program: dict[str, int]
    origin: str = ""


@dataclass(frozen=True, slots=True)
class ArchiveFacts:
    """How far the archive of the write-ahead log is. Missing: times are None where nothing was archived, or nothing failed;
    `behind_bytes` is None where nothing was archived.
    """

    is_on: bool
    timeout_s: int
    """A segment that is not full is archived after this time; 0: never."""

    archived_at: datetime | None
    failed_at: datetime | None
    failed_segment: str
    n_failed: int
    behind_bytes: int | None
    """Log that was written after the last archived segment."""

    now: datetime


@dataclass(frozen=True, slots=True)
class FoundDamage:
    """What a check of stored data found, and when: how much is damaged, and the first of it, a line each."""

    source: CheckSource
    checked_at: datetime
    n_damaged: int
    damaged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobFacts:
    """The state of background work. Missing: `leader_since` is None where no server process leads, `leader_beat_age` where that
    never said that it runs
    """

    leader_since: timedelta | None
    failed: tuple[tuple[str, int, str], ...]
    """Kind, number and latest message of jobs that failed in the last week, and were not done since."""

    wait_s: float
    """How long the oldest job that is due has waited; 0 without one."""

    n_administrators: int
    leader_place: str = ""
    """host:pid"""

    leader_beat_age: timedelta | None = None


async def begin_limited(session: AsyncSession) -> None:
    """Begin a transaction whose statements end after a minute: a database that hangs must not hang the doctor."""
    await session.rollback()
    await session.execute(LIMIT)


async def read_database_facts(session: AsyncSession) -> DatabaseFacts:
    """Return what the database says of itself; works on a database of any schema version."""
    await session.execute(select(1))
    asked = datetime.now(UTC)
    began = time.monotonic()
    version_num, is_standby, is_superuser, role, database, its_now = (await session.execute(READ_ROLE)).one()
    took_s = time.monotonic() - began
    offset_s = (its_now - asked).total_seconds() - took_s / 2
    extension = (await session.execute(READ_EXTENSION)).one_or_none()
    return DatabaseFacts(
        version_num=version_num,
        is_standby=is_standby,
        is_superuser=is_superuser,
        role=role,
        database=database,
        clock_offset_s=offset_s,
        clock_error_s=took_s / 2,
        settings={row[0]: row[1] for row in await session.execute(READ_SETTINGS, {"names": list(SETTINGS)})},
        storage=await read_storage(session),
        extension_version=None if extension is None else extension[0],
        available_version=None if extension is None else extension[1],
        n_failed_jobs=0 if extension is None else int(await session.scalar(COUNT_FAILED_JOBS) or 0),
        n_connections=int(await session.scalar(COUNT_CONNECTIONS) or 0),
        checksum_failed_at=await session.scalar(READ_CHECKSUM_FAILURE),
        n_sessions_by_program={row[0]: row[1] for row in await session.execute(READ_SESSIONS)},
    )


async def read_archive_facts(session: AsyncSession) -> ArchiveFacts:
    """Return how far the archive is; on a primary."""
    return ArchiveFacts(*(await session.execute(READ_ARCHIVE)).one())


async def read_data_checks(session: AsyncSession) -> list[FoundDamage]:
    """Return what the latest check of all stored data found, and the latest backup; needs the current schema."""
    query = select(DataCheck.source, DataCheck.checked_at, DataCheck.n_damaged, DataCheck.damaged)
    return [
        FoundDamage(CheckSource(row.source), row.checked_at, row.n_damaged, tuple(row.damaged))
        for row in await session.execute(query)
    ]


async def read_job_facts(session: AsyncSession, now: datetime) -> JobFacts:
    """Return the state of background work; needs the current schema."""
    leader = (await session.execute(READ_LEADER, LEADER_LOCK_HALVES)).one_or_none()
    oldest = await session.scalar(select(func.min(Job.next_try_at)).where(Job.state == JobState.QUEUED, Job.next_try_at <= now))
    latest = func.coalesce(Job.finished_at, Job.heartbeat_at, Job.started_at, Job.queued_at)
    failed = await session.execute(
        select(Job.kind, func.count(), func.max(Job.message))
        .where(Job.state == JobState.FAILED, latest > now - RECENT)
        .group_by(Job.kind)
        .order_by(Job.kind)
    )
    administrators = select(func.count()).where(User.role == "administrator", User.disabled_at.is_(None))
    return JobFacts(
        leader_since=None if leader is None else leader[0] or timedelta(0),
        leader_place="" if leader is None else leader[1],
        leader_beat_age=None if leader is None else leader[2],
        failed=tuple((kind, n, message or "") for kind, n, message in failed),
        wait_s=0.0 if oldest is None else (now - oldest).total_seconds(),
        n_administrators=int(await session.scalar(administrators) or 0),
    )
