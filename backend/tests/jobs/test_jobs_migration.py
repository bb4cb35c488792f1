"""0010: the queued and running work of a database of 0009 goes on, and its finished work stays listed."""

from pathlib import Path

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.ingest.imports.import_queue import ImportQueue
from normstat.ingest.reparse.reparse_worker import work_off
from normstat.jobs import job_list
from normstat.jobs.job_list import JobFilter
from normstat.profiles.profile_job import run_profiles
from normstat.retention.deletion_worker import work_off_removals
from normstat.storage.schema import migrations
from normstat.storage.schema.job_models import JobKind, JobState
from normstat.storage.session import make_engine, make_sessions, open_read_session
from tests.databases import on_either_database
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.sending import Agent

pytestmark = on_either_database

Sessions = async_sessionmaker[AsyncSession]
OLD_WORK = (
    (
        "INSERT INTO imports (host, name, state, file_path, n_bytes, created_by)"
        " VALUES ('web2', 'vmstat.out', 'waiting', %(path)s, 9, 'ann')"
    ),
    (
        "INSERT INTO imports (host, name, state, message, file_path, n_bytes, n_bytes_done, created_by, finished_at)"
        " VALUES ('web2', 'old.out', 'failed', 'no room', '/nowhere', 7, 3, 'ann', now())"
    ),
    (
        "INSERT INTO reparses (host_id, is_outdated_only, state, newest_stream_id, n_streams, n_bytes, created_by)"
        " VALUES (1, false, 'running', 100, 1, 1000, 'ann')"
    ),
    "INSERT INTO retention_runs (state, n_samples, created_by) VALUES ('waiting', 0, 'every night')",
    "INSERT INTO retention_runs (state, message, n_samples, created_by, finished_at) VALUES ('failed', 'broken', 5, 'ann', now())",
    "INSERT INTO host_deletions (host_id, host, requested_by, n_samples) VALUES (2, 'gone', 'ann', 12)",
    "UPDATE hosts SET name = 'deleted 2' WHERE id = 2",
    (
        "INSERT INTO baselines (name, windows, created_by)"
        " VALUES ('quiet', '{[2026-11-01,2026-11-02)}', 'ann'), ('calm', '{[2026-11-01,2026-11-02)}', 'ann')"
    ),
    "INSERT INTO baseline_hosts SELECT id, 1 FROM baselines",
    (
        "INSERT INTO baseline_versions (baseline_id, version, windows, hosts, reason, made_by)"
        " SELECT id, 1, windows, '{alpha}', 'made', 'ann' FROM baselines"
    ),
    "INSERT INTO profile_jobs (baseline_id, host_id, state, n_done, n_total) VALUES (1, 1, 'working', 2, 8)",
    "INSERT INTO profile_jobs (baseline_id, host_id, state, message, finished_at) VALUES (2, 1, 'failed', 'broken', now())",
)


@pytest.fixture
async def filled(database_url: str, tmp_path: Path) -> Path:
    """A database of 0009 with samples and with work in every state; the file of the import that waits."""
    engine = make_engine(database_url, pool_size=2)
    await Agent(engine, "alpha").send_file(vmstat_text(vmstat_times(60)))
    await Agent(engine, "gone").send_file(vmstat_text(vmstat_times(60)))
    await engine.dispose()
    migrations.downgrade(database_url, "0009")
    path = tmp_path / "waiting.file"
    path.write_bytes(vmstat_text(vmstat_times(11)))
    with psycopg.connect(database_url) as connection:
        for statement in OLD_WORK:
            connection.execute(statement, {"path": str(path)} if "%(path)s" in statement else None)
    return path


async def test_work_of_0009_is_done_after_the_upgrade(filled: Path, database_url: str) -> None:
    migrations.upgrade(database_url)
    migrations.check(database_url)
    engine = make_engine(database_url, pool_size=4)
    sessions = make_sessions(engine)
    try:
        before = await read(sessions)
        assert before == {
            (JobKind.IMPORT, "web2: vmstat.out"): (JobState.QUEUED, 0, 9, "ann"),
            (JobKind.IMPORT, "web2: old.out"): (JobState.FAILED, 3, 7, "ann"),
            (JobKind.REPARSE, "alpha all streams"): (JobState.RUNNING, 0, 1000, "ann"),
            (JobKind.RETENTION, "1"): (JobState.QUEUED, 0, None, "every night"),
            (JobKind.RETENTION, "2"): (JobState.FAILED, 0, None, "ann"),
            (JobKind.DELETION, "gone"): (JobState.QUEUED, 12, None, "ann"),
            (JobKind.PROFILE, "quiet alpha"): (JobState.RUNNING, 2, 8, ""),
            (JobKind.PROFILE, "calm alpha"): (JobState.FAILED, 0, None, ""),
        }
        await ImportQueue(engine, database_url, filled.parent, 1 << 30).run_all()
        assert await work_off(database_url)
        assert await work_off_removals(database_url)
        assert await run_profiles(sessions, budget_s=60) == 2
        after = await read(sessions)
    finally:
        await engine.dispose()
    assert {key: state for key, (state, *_) in after.items() if state is not JobState.DONE} == {
        (JobKind.IMPORT, "web2: old.out"): JobState.FAILED,
        (JobKind.RETENTION, "2"): JobState.FAILED,
    }
    assert not filled.exists()  # noqa: ASYNC240 (a moment)
    with psycopg.connect(database_url) as connection:
        counts = "SELECT h.name, count(*) FROM samples.vmstat_linux JOIN hosts AS h ON h.id = host_id GROUP BY 1 ORDER BY 1"
        assert connection.execute(counts).fetchall() == [("alpha", 59), ("web2", 10)]
        assert connection.execute("SELECT n_streams_done FROM reparses").fetchall() == [(1,)]


async def test_the_work_survives_the_way_down_and_up_again(filled: Path, database_url: str) -> None:
    migrations.upgrade(database_url)
    engine: AsyncEngine = make_engine(database_url, pool_size=2)
    before = await read(make_sessions(engine))
    await engine.dispose()
    migrations.downgrade(database_url, "0009")
    with psycopg.connect(database_url) as connection:
        imports = connection.execute("SELECT state, message FROM imports ORDER BY id").fetchall()
        assert imports == [("waiting", ""), ("failed", "no room")]
        assert connection.execute("SELECT state FROM profile_jobs ORDER BY baseline_id").fetchall() == [("working",), ("failed",)]
    migrations.upgrade(database_url)
    engine = make_engine(database_url, pool_size=2)
    assert await read(make_sessions(engine)) == before
    await engine.dispose()


async def read(sessions: Sessions) -> dict[tuple[JobKind, str], tuple[JobState, int, int | None, str]]:
    """All jobs by kind and target; runs of retention, which have no target, by their number."""
    found = {}
    async with open_read_session(sessions) as session:
        records = await job_list.list_jobs(session, JobFilter(), 100)
    runs = sorted(record.id for record in records if record.kind is JobKind.RETENTION)
    numbers = {job_id: str(n) for n, job_id in enumerate(runs, 1)}
    for job in records:
        target = numbers.get(job.id) or " ".join(filter(None, (job.baseline, job.host, job.target)))
        found[job.kind, target] = (job.state, job.n_done, job.n_total, job.asked_by)
    return found
