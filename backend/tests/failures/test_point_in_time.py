"""Continuous backup by what PostgreSQL has: a base backup and the archived log bring back a host that was deleted by mistake."""

import asyncio
import threading
import time
from pathlib import Path

import httpx
import psycopg
import pytest

from normstat.db.session import make_engine, make_sessions
from normstat.doctor.database_facts import ArchiveFacts, read_archive_facts
from tests.e2e.product import Server, wait_until
from tests.failures.postgres import CopyOfPostgres, FragilePostgres
from tests.failures.sender import Agent, log_in, make_agent_token
from tests.generated import START, vmstat_text, vmstat_times

# Two databases and two servers start here, on a machine that may be busy.
pytestmark = pytest.mark.timeout(120)

WANTED = {"host": "web1", "stat": "vmstat_linux", "start": START.isoformat(), "end": "2027-01-01T00:00:00Z"}
MIB = 1 << 20


def export(client: httpx.Client) -> bytes:
    answer = client.get("/export.csv", params=WANTED)
    assert answer.status_code == 200, answer.text
    return answer.content


async def archive_facts(url: str) -> ArchiveFacts:
    engine = make_engine(url, pool_size=1)
    try:
        async with make_sessions(engine)() as session:
            return await read_archive_facts(session)
    finally:
        await engine.dispose()


@pytest.mark.matrix
def test_a_host_that_was_deleted_by_mistake_comes_back(tmp_path: Path) -> None:
    primary, copy = FragilePostgres(), CopyOfPostgres()
    archive = primary.home / "archive"
    command = f"test ! -f {archive}/%f && cp %p {archive}/%f.part && mv {archive}/%f.part {archive}/%f"
    primary.options |= {"archive_mode": "on", "archive_command": command, "wal_level": "replica"}
    try:
        primary.start()
        primary.make_folder(archive)
        copy.copy(primary)
        token = make_agent_token(primary.url_of_tests)
        with Server(primary.url_of_tests, tmp_path / "log") as server, log_in(server, primary.url_of_tests) as client:
            # After the base backup: only the log has them.
            agent = Agent(server.port, token, "web1", vmstat_text(vmstat_times(3000), seed=1), 1 << 20)
            agent.run(threading.Event())
            before = export(client)
            assert before.count(b"\r\n") > 2990
            with psycopg.connect(primary.admin_url("normstat"), autocommit=True) as connection:
                connection.execute("UPDATE users SET role = 'administrator'")
                connection.execute("UPDATE api_tokens SET role = 'administrator'")
                [(good,)] = connection.execute("SELECT clock_timestamp()").fetchall()
                assert client.delete("/hosts/web1").status_code == 202
                counting = "SELECT count(*) FROM samples.vmstat_linux"
                wait_until(lambda: connection.execute(counting).fetchall() == [(0,)], "all samples are deleted")
                assert client.get("/hosts/web1").status_code == 404
                [(name,)] = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()
                archived = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
                wait_until(lambda: connection.execute(archived, [name]).fetchall() == [(True,)], "the log is archived")
        facts = asyncio.run(archive_facts(primary.url_of_tests))
        assert (facts.is_on, facts.timeout_s) == (True, 0)
        assert facts.behind_bytes is not None
        assert facts.behind_bytes < 16 * MIB
        primary.crash()

        began = time.monotonic()
        copy.recover(archive, good)
        n_bytes = sum(file.stat().st_size for file in archive.iterdir())
        print(f"recovered in {time.monotonic() - began:.1f} s, with {n_bytes / MIB:.0f} MiB of archived log")
        with Server(copy.url_of_tests, tmp_path / "log2") as server:
            headers = {"Authorization": client.headers["Authorization"]}
            with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=60) as after:
                assert export(after) == before
            agent.port = server.port
            agent.assert_stored_once(copy.url_of_tests)
    finally:
        copy.stop()
        primary.stop()
