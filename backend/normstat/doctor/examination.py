"""Runs all checks of an installation, the database's first."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from normstat import __version__
from normstat.db.schema_version import read_newest_version, require_current_schema
from normstat.db.session import make_engine, make_sessions
from normstat.db.standby import StandbyPosition, read_position, read_primary
from normstat.doctor.address_probe import probe_address
from normstat.doctor.check_result import CheckResult, error, not_checked, ok
from normstat.doctor.database_checks import ServerSize, check_database, check_disk
from normstat.doctor.database_facts import (
    DatabaseFacts,
    begin_limited,
    read_archive_facts,
    read_data_checks,
    read_database_facts,
    read_job_facts,
)
from normstat.doctor.file_checks import check_account, check_clock_service, check_data_disk, check_files
from normstat.doctor.setting_checks import check_address, check_page, check_settings
from normstat.doctor.wal_checks import check_archiving, check_standby
from normstat.doctor.work_checks import (
    OF_SENDING,
    check_agents,
    check_jobs,
    check_losses,
    check_rules,
    check_stored_data,
    check_versions,
)
from normstat.errors import DatabaseAway, HalfRestored, MigrationError, NormstatError
from normstat.local.binaries import find_origin
from normstat.local.postgres_releases import PostgresVersion
from normstat.query.disk_usage import read_storage_info
from normstat.records.judging_pace import read_pace
from normstat.runtime.installed_files import find_agents_dir, find_page_dir
from normstat.settings import Settings
from normstat.watch.own_figures import SeenHost, list_seen_hosts, read_losses, read_stream_figures
from normstat.watch.watch_lists import list_watched_hosts

OF_DATABASE: Final = (
    "postgresql", "database_role", "timescaledb", "database_durability", "database_checksums", "database_memory",
    "database_connections", "database_clock",
)  # fmt: skip
LOSSES_OF: Final = timedelta(days=7)
OF_JOBS: Final = ("leader", "jobs", "administrators")
OF_AGENTS: Final = ("agents", *OF_SENDING, "rules")
OF_CONTENT: Final = (*OF_JOBS, "stored_data", *OF_AGENTS, "lost_bytes", "disk")


@dataclass(frozen=True, slots=True)
class Installation:
    """What is examined: the settings that the server has, how its database was found, and where it runs.

    Missing: `data_dir` is None unless `normstat up` runs here; `server_owner` is None unless its processes were found here
    """

    settings: Settings
    database_origin: str
    database_hint: str
    data_dir: Path | None
    server_owner: int | None


def find_data_dir(import_dir: Path | None) -> Path | None:
    """Return the data folder of `normstat up`, which keeps the imports there; None of a server that runs without it."""
    if import_dir is None or not (import_dir.parent / "postgres.password").is_file():
        return None
    return import_dir.parent


async def examine(place: Installation) -> list[CheckResult]:
    """Return the results of all checks: the database's, the work's, the settings', the machine's."""
    settings = place.settings
    results, hosts = await _examine_database(place)
    now = datetime.now(UTC)
    if hosts is None and place.data_dir is not None:
        # A full disk may be why the database does not answer.
        results = [check_data_disk(place.data_dir) if result.check == "disk" else result for result in results]
    n_sending = None if hosts is None else sum(1 for host in hosts if (now - host.last_seen_at).days < 1)
    results += check_address(probe_address(settings.public_url, settings.tls_cert), __version__, now)
    results += check_settings(settings, n_sending, speaks_tls=settings.tls_cert is not None)
    results.append(check_page(find_page_dir(settings.page_dir), find_agents_dir(settings.agents_dir)))
    results += check_files(settings, place.data_dir)
    results.append(check_account(place.server_owner))
    results.append(check_clock_service())
    return results


async def _examine_database(place: Installation) -> tuple[list[CheckResult], list[SeenHost] | None]:
    """Return the checks that need the database, and the hosts that send. Missing: None for those where they are not known"""
    after = ("versions", "migrations", *OF_CONTENT)
    try:
        # One for the session, and one for the position of a standby.
        engine = make_engine(place.settings.database_url, pool_size=2)
    except NormstatError as refused:
        failed = error("database", refused.message, "a libpq URL", "correct NORMSTAT_DATABASE_URL")
        return [failed, *_skip((*OF_DATABASE, *after), "the database's URL is not valid")], None
    try:
        async with make_sessions(engine)() as session:
            try:
                await begin_limited(session)
                facts = await read_database_facts(session)
            except DBAPIError as failure:
                cause = _cause(failure)
                failed = error("database", f"{place.database_origin}: {cause}{place.database_hint}", "it answers", _advice(cause))
                return [failed, *_skip((*OF_DATABASE, *after), "the database does not answer")], None
            # By a socket, so it runs on this machine.
            if str(conninfo_to_dict(place.settings.database_url).get("host", "/")).startswith("/"):
                version = PostgresVersion.of_number(facts.version_num)
                facts = replace(facts, origin=await asyncio.to_thread(find_origin, version))
            results = [ok("database", place.database_origin), *_examine_facts(facts, place.settings)]
            migrations = _check_migrations(place.settings.database_url)
            results.append(migrations)
            if migrations.expected:
                return [*results, *_skip(OF_CONTENT, "the schema is not this program's")], None
            hosts = await _examine_content(session, place, results)
            if not facts.is_standby:
                results.append(await _examine_archive(session))
            if place.settings.database_read_url is not None:
                results.append(await _examine_standby(engine, place.settings.database_read_url, place.settings))
            return results, hosts
    finally:
        await engine.dispose()


async def _examine_archive(session: AsyncSession) -> CheckResult:
    try:
        await begin_limited(session)
        return check_archiving(await read_archive_facts(session))
    except DBAPIError as failure:
        return not_checked("archiving", _cause(failure))


async def _examine_standby(primary: AsyncEngine, url: str, settings: Settings) -> CheckResult:
    try:
        standby = make_engine(url, pool_size=1)
    except NormstatError as refused:
        return check_standby(refused.message, settings.database_read_max_lag_s)
    try:
        found: StandbyPosition | str = await read_position(await read_primary(primary), standby)
    except DBAPIError as failure:
        found = _cause(failure)
    finally:
        await standby.dispose()
    return check_standby(found, settings.database_read_max_lag_s)


def _examine_facts(facts: DatabaseFacts, settings: Settings) -> Iterator[CheckResult]:
    size = ServerSize(settings.workers, settings.database_pool_size)
    yield from check_database(facts, size, datetime.now(UTC).date())
    yield check_versions(facts.n_sessions_by_program, __version__)


def _check_migrations(database_url: str) -> CheckResult:
    try:
        require_current_schema(database_url)
    except HalfRestored as wrong:
        return error("migrations", wrong.message, "a whole restore", "continue the restore, as it says; do not migrate")
    except MigrationError as wrong:
        return error("migrations", wrong.message, "the schema of this program", "stop the servers and run normstat migrate")
    except DatabaseAway as away:
        return error("migrations", away.message, "it answers", "run it again")
    return ok("migrations", f"schema version {read_newest_version()}, this program's")


async def _examine_content(session: AsyncSession, place: Installation, results: list[CheckResult]) -> list[SeenHost] | None:
    """Add the checks of the database's contents; a failed one does not affect the others."""
    now = datetime.now(UTC)
    hosts: list[SeenHost] | None = None
    settings = place.settings
    try:
        results += check_jobs(await read_job_facts(session, now))
    except DBAPIError as failure:
        await begin_limited(session)
        results += _skip(OF_JOBS, _cause(failure))
    try:
        results.append(check_stored_data(await read_data_checks(session), now))
    except DBAPIError as failure:
        await begin_limited(session)
        results += _skip(("stored_data",), _cause(failure))
    try:
        hosts = await list_seen_hosts(session)
        results += check_agents(hosts, await read_stream_figures(session, hosts, now), now)
        judged_at = {host.name: host.judged_at for host in await list_watched_hosts(session)}
        results.append(check_rules(judged_at, hosts, await read_pace(session, now), now))
    except DBAPIError as failure:
        await begin_limited(session)
        results += _skip(OF_AGENTS, _cause(failure))
    try:
        results.append(check_losses(await read_losses(session, now - LOSSES_OF), now))
    except DBAPIError as failure:
        await begin_limited(session)
        results += _skip(("lost_bytes",), _cause(failure))
    try:
        storage = await read_storage_info(session, settings.database_url, settings.database_dir, settings.seal_after_days)
        results.append(check_disk(storage))
    except DBAPIError as failure:
        results += _skip(("disk",), _cause(failure))
    return hosts


def _skip(checks: tuple[str, ...], why: str) -> list[CheckResult]:
    return [not_checked(check, why) for check in checks]


def _cause(failure: DBAPIError) -> str:
    return (str(failure.orig).strip().splitlines() or ["no answer"])[0]


def _advice(cause: str) -> str:
    if "password" in cause or "authentication" in cause or "role" in cause:
        return "check user and password in NORMSTAT_DATABASE_URL, and pg_hba.conf"
    if "does not exist" in cause:
        return "create the database: normstat own-database"
    return "start the database, or correct NORMSTAT_DATABASE_URL"
