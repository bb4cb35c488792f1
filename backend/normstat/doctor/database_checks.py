"""Checks of the database's version, settings, clock and disk. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from normstat.doctor.check_result import CheckResult, error, not_checked, ok, warning
from normstat.doctor.database_facts import DatabaseFacts
from normstat.local.binaries import FROM_WHEEL
from normstat.local.postgres_releases import MIN_MAJOR, SUPPORT_ENDS, PostgresVersion, find_missing, is_supported
from normstat.query.disk_usage import StorageInfo
from normstat.runtime.readable import count_of, format_bytes
from normstat.runtime.units import GIB, MIB
from normstat.settings import CONNECTIONS_BESIDE_POOL, CONNECTIONS_OF_WATCHING

FAILURES_OF: Final = timedelta(days=7)
# Graphs and posts take no more CPU with 64 MB than with 256 MB (measured for `normstat up`).
MIN_SHARED_BUFFERS: Final = 64 * MIB
MIN_WAL_SIZE: Final = GIB
# A query over years locks one chunk for each day.
MIN_LOCKS_WITH_CHUNKS: Final = 256
# Commands, backups and psql beside the server.
SPARE_CONNECTIONS: Final = 5
CLOCK_WARNING_S: Final = 1.0
CLOCK_ERROR_S: Final = 10.0
# PostgreSQL stops when it cannot write its WAL.
MIN_FREE_BYTES: Final = GIB
MIN_FREE_PERCENT: Final = 10.0
FULL_SOON_DAYS: Final = 30.0
FULL_VERY_SOON_DAYS: Final = 7.0


@dataclass(frozen=True, slots=True)
class ServerSize:
    """How many processes the server has, and the pool of each."""

    n_workers: int
    pool_size: int


def check_database(facts: DatabaseFacts, size: ServerSize, today: date) -> Iterator[CheckResult]:
    """Yield the checks of the database's version, role, settings and clock."""
    yield _check_version(facts, today)
    yield _check_role(facts)
    yield _check_timescaledb(facts)
    yield _check_durability(facts)
    yield _check_page_checksums(facts, today)
    yield _check_memory(facts)
    yield _check_connections(facts, size)
    yield _check_clock(facts)


def _check_version(facts: DatabaseFacts, today: date) -> CheckResult:
    version = PostgresVersion.of_number(facts.version_num)
    found = f"PostgreSQL {facts.settings.get('server_version', version)}"
    if facts.origin == FROM_WHEEL:
        found += f", {FROM_WHEEL}"
    if version.major < MIN_MAJOR:
        return error(
            "postgresql", found, f"{MIN_MAJOR} or newer", "upgrade PostgreSQL (pg_upgrade, or normstat backup and restore)"
        )
    if (encoding := facts.settings.get("server_encoding", "UTF8")) != "UTF8":
        return error(
            "postgresql", f"{found}, encoding {encoding}", "encoding UTF8", "create the database again with ENCODING 'UTF8'"
        )
    if not is_supported(version, today):
        ended = f"{found}, no updates since {SUPPORT_ENDS[version.major]}"
        return warning("postgresql", ended, "a version that gets updates", "upgrade PostgreSQL")
    if missing := find_missing(version):
        newest = PostgresVersion(version.major, missing[-1].minors[version.major])
        lacking = f"{found}: newer releases fixed {sum(release.n_fixed for release in missing)} vulnerabilities"
        return warning("postgresql", lacking, f"{newest} of {missing[-1].day} or newer", _how_to_update(facts))
    return ok("postgresql", found)


def _how_to_update(facts: DatabaseFacts) -> str:
    if facts.origin == FROM_WHEEL:
        return "install the system's package postgresql, then normstat backup DIR and normstat up --data NEWDIR --restore DIR"
    return "install the update of PostgreSQL and restart it"


def _check_role(facts: DatabaseFacts) -> CheckResult:
    found = f"role {facts.role}, database {facts.database}"
    if facts.is_standby:
        return error("database_role", f"{found}: a standby, read-only", "the primary", "name the primary in NORMSTAT_DATABASE_URL")
    if facts.is_superuser:
        advice = "stop the server, set NORMSTAT_ADMIN_URL, and run normstat own-database"
        return warning("database_role", f"{found}; the role is a superuser", "a role that only owns its database", advice)
    return ok("database_role", found)


def _check_timescaledb(facts: DatabaseFacts) -> CheckResult:
    match facts.storage:
        case "postgresql":
            return ok("timescaledb", "not installed: normstat packs samples itself")
        case "unknown":
            found = f"TimescaleDB {facts.extension_version}, an edition that this version does not know"
            return warning("timescaledb", found, "the edition timescale or apache", "see SHOW timescaledb.license")
        case "timescaledb-community" | "timescaledb-apache":
            found = f"TimescaleDB {facts.extension_version}, {facts.storage.removeprefix('timescaledb-')} edition"
    if facts.available_version not in (None, facts.extension_version):
        return warning(
            "timescaledb",
            f"{found}; {facts.available_version} is installed",
            "the installed version in use",
            "stop the server and run ALTER EXTENSION timescaledb UPDATE",
        )
    if facts.n_failed_jobs:
        return warning(
            "timescaledb",
            f"{found}; its last job failed on {count_of(facts.n_failed_jobs, 'table')}, so samples of past days take more space",
            "jobs that move past days into the columnstore",
            "see the server's log; PostgreSQL 18.7, 17.12 and 16.16 need TimescaleDB 2.32.1, or the same fix in an older branch",
        )
    if _number(facts, "max_locks_per_transaction") < MIN_LOCKS_WITH_CHUNKS:
        return warning(
            "timescaledb",
            f"{found}; max_locks_per_transaction is {facts.settings.get('max_locks_per_transaction')}",
            f"at least {MIN_LOCKS_WITH_CHUNKS}: a query over years locks a chunk for each day",
            f"set max_locks_per_transaction = {MIN_LOCKS_WITH_CHUNKS} in postgresql.conf and restart PostgreSQL",
        )
    return ok("timescaledb", found)


def _check_durability(facts: DatabaseFacts) -> CheckResult:
    is_off = [
        name for name in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum") if facts.settings.get(name) == "off"
    ]
    if not is_off:
        return ok("database_durability", "fsync, full_page_writes, synchronous_commit and autovacuum are on")
    losses = []
    if {"fsync", "full_page_writes"} & set(is_off):
        losses.append("a power failure may destroy the database")
    if "synchronous_commit" in is_off:
        losses.append("a crash loses samples that agents have already deleted")
    if "autovacuum" in is_off:
        losses.append("tables grow without end")
    return warning(
        "database_durability",
        f"off: {', '.join(is_off)} ({'; '.join(losses)})",
        "on",
        f"set {', '.join(f'{name} = on' for name in is_off)} in postgresql.conf and reload PostgreSQL",
    )


def _check_page_checksums(facts: DatabaseFacts, today: date) -> CheckResult:
    if facts.settings.get("data_checksums") != "on":
        found = "data_checksums is off: PostgreSQL does not notice damaged pages on its disk"
        return warning(
            "database_checksums", found, "on", "stop PostgreSQL and run pg_checksums --enable, which reads all of it once"
        )
    if facts.checksum_failed_at is not None and facts.checksum_failed_at.date() >= today - FAILURES_OF:
        found = f"a damaged page was read at {facts.checksum_failed_at:%Y-%m-%dT%H:%M:%SZ}"
        advice = "look after the disk; normstat storage check says what is damaged"
        return error("database_checksums", found, "none in the last week", advice)
    return ok("database_checksums", "on, and no damaged page was read in the last week")


def _check_memory(facts: DatabaseFacts) -> CheckResult:
    buffers, wal = _number(facts, "shared_buffers"), _number(facts, "max_wal_size")
    found = f"shared_buffers {format_bytes(buffers)}, max_wal_size {format_bytes(wal)}"
    if buffers < MIN_SHARED_BUFFERS:
        advice = "set shared_buffers = 128MB in postgresql.conf and restart PostgreSQL"
        return warning("database_memory", found, f"shared_buffers of at least {format_bytes(MIN_SHARED_BUFFERS)}", advice)
    if wal < MIN_WAL_SIZE:
        advice = "set max_wal_size = 2GB in postgresql.conf and reload PostgreSQL"
        return warning(
            "database_memory", found, f"max_wal_size of at least {format_bytes(MIN_WAL_SIZE)}: checkpoints are costly", advice
        )
    return ok("database_memory", found)


def _check_connections(facts: DatabaseFacts, size: ServerSize) -> CheckResult:
    most = _number(facts, "max_connections")
    reserved = _number(facts, "superuser_reserved_connections") + _number(facts, "reserved_connections")
    of_server = size.n_workers * (size.pool_size + CONNECTIONS_BESIDE_POOL) + CONNECTIONS_OF_WATCHING
    found = (
        f"max_connections {most} ({facts.n_connections} in use, {reserved} reserved); the server may open {of_server} "
        f"(processes: {size.n_workers}, {size.pool_size} + {CONNECTIONS_BESIDE_POOL} each, and {CONNECTIONS_OF_WATCHING})"
    )
    needed = of_server + reserved + SPARE_CONNECTIONS
    if most < of_server + reserved:
        advice = f"set max_connections = {needed} or more and restart PostgreSQL, or use fewer NORMSTAT_WORKERS"
        return error("database_connections", found, f"at least {needed}", advice)
    if most < needed:
        advice = f"set max_connections = {needed} or more and restart PostgreSQL"
        return warning("database_connections", found, f"at least {needed}, with {SPARE_CONNECTIONS} for commands", advice)
    return ok("database_connections", found)


def _check_clock(facts: DatabaseFacts) -> CheckResult:
    # A slow answer allows for a larger difference.
    off_s = max(0.0, abs(facts.clock_offset_s) - facts.clock_error_s)
    ahead = "ahead of" if facts.clock_offset_s > 0 else "behind"
    if off_s <= CLOCK_WARNING_S:
        return ok("database_clock", "the database's clock agrees with this machine's within a second")
    found = f"the database's clock is {abs(facts.clock_offset_s):.1f} s {ahead} this machine's"
    make = error if off_s > CLOCK_ERROR_S else warning
    return make("database_clock", found, f"at most {CLOCK_WARNING_S:.0f} s", "synchronise both machines by NTP or chrony")


def check_disk(storage: StorageInfo) -> CheckResult:
    """Check free space against growth."""
    free, total, growth = storage.disk.free_bytes, storage.disk.total_bytes, storage.growth_bytes_per_day
    grows = "growth not known yet" if growth is None else f"grows by {format_bytes(growth)} a day"
    if free is None or total is None:
        why = f"free space unknown; the database has {format_bytes(storage.database_bytes)}, {grows}"
        return not_checked(
            "disk",
            why,
            "run it on the database's machine with GRANT pg_read_all_settings TO the role, or set NORMSTAT_DATABASE_DIR",
        )
    days = storage.days_until_full
    found = f"{format_bytes(free)} of {format_bytes(total)} free ({100 * free / max(1, total):.0f} %), {grows}"
    found += "" if days is None else f", full in {days:.0f} days"
    advice = "see normstat storage; set retention rules (normstat retention), or enlarge the disk"
    expected = f"{MIN_FREE_PERCENT:.0f} % free, for {FULL_SOON_DAYS:.0f} days at least"
    if free < MIN_FREE_BYTES or (days is not None and days < FULL_VERY_SOON_DAYS):
        return error("disk", found, expected, advice)
    if 100 * free < MIN_FREE_PERCENT * total or (days is not None and days < FULL_SOON_DAYS):
        return warning("disk", found, expected, advice)
    return ok("disk", found)


def _number(facts: DatabaseFacts, name: str) -> int:
    """Return a setting as a number; 0 for one that this version of PostgreSQL does not have."""
    return int(facts.settings.get(name, "0"))
