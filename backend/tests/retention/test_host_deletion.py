"""Deleting a host: gone at once for those who look, later from the disk, even when whoever deletes is killed."""

from pathlib import Path

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact
from normstat.auth.accounts import create_agent_token
from normstat.db.schema.job_models import JobState
from normstat.db.schema.models import Base
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import NotAllowed, NotFound
from normstat.ingest.batching import AgentIdentity
from normstat.jobs.claims import REMOVAL_LOCK
from normstat.query.artefact_times import read_artefact_times
from normstat.query.host_lists import list_hosts
from normstat.records.artefact_rows import (
    Artefact,
    ArtefactFilter,
    ArtefactSource,
    list_artefacts,
    read_artefact_row,
    read_part_body,
    read_part_stamp,
)
from normstat.records.reparse_rows import ReparseScope
from normstat.retention import host_deletion
from normstat.retention.deletion_worker import work_off_removals
from normstat.retention.host_deletion import HostDeletion
from tests.compaction.raw_view import pack_all
from tests.database_access import Database, query
from tests.databases import Sessions, on_either_database
from tests.e2e.product import wait_until
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.rereading import export, look, reparse, wish
from tests.ingest.sending import Agent
from tests.ingest.test_import_load import LOCKS
from tests.killed_commands import killed_at_lock


async def fill(engine: AsyncEngine) -> None:
    for host in ("alpha", "beta"):
        agent = Agent(engine, host)
        await agent.send_file(b"no line of it\n" + vmstat_text(vmstat_times(90, START.replace(hour=11, minute=59))))
        await agent.send_file(mpstat_text(20, 4), "mpstat_linux", "m")


async def request(sessions: Sessions, name: str = "alpha") -> HostDeletion:
    async with open_write_session(sessions) as session:
        return await host_deletion.request_deletion(session, name, requested_by="anna")


async def names(sessions: Sessions) -> list[str]:
    async with open_read_session(sessions) as session:
        return [host.name for host in await list_hosts(session, START)]


async def add_artefact(sessions: Sessions, folder: Path, host: str) -> Artefact:
    """An artefact of plockstat for alpha, one of folded stacks for others."""
    text = folder / f"{host}.txt"
    text.write_bytes(LOCKS if host == "alpha" else b"java;main;run 12\njava;main;stop 3\n")
    return await make_artefact(sessions, ArtefactDraft(host, ArtefactSource.CLI, "anna", start=START), text, now=START)


async def artefacts_of(sessions: Sessions, *hosts: str) -> tuple[set[str], list[str]]:
    """The hosts of the artefacts that a list shows, and the tools that it offers."""
    async with open_read_session(sessions) as session:
        page = await list_artefacts(session, ArtefactFilter(hosts=hosts), limit=10, offset=0)
    assert page.n_total == len(page.artefacts)
    return {artefact.host for artefact in page.artefacts}, page.tools


def host_of(url: str, deletion: HostDeletion) -> int:
    """The id that the host had, and that its rows have until they are deleted."""
    ((host_id,),) = query(url, f"SELECT host_id FROM host_deletions WHERE job_id = {deletion.job_id}")
    assert isinstance(host_id, int)
    return host_id


def left_of(url: str, host_id: int) -> dict[str, int]:
    """How many rows of the host each table has."""
    found = {}
    with psycopg.connect(url) as connection:
        stats = [name for (name,) in connection.execute("SELECT 'samples.' || name FROM stats").fetchall()]
        by_host = [table.name for table in Base.metadata.sorted_tables if "host_id" in table.columns]
        for table in [*by_host, *stats]:
            if table != "host_deletions":
                row = connection.execute(f"SELECT count(*) FROM {table} WHERE host_id = %s", [host_id]).fetchone()
                assert row is not None
                found[table] = int(row[0])
        for table in ("chunks", "packed_chunks", "rejected_lines", "gaps", "stream_changes"):
            row = connection.execute(f"SELECT count(*) FROM {table} WHERE stream_id NOT IN (SELECT id FROM streams)").fetchone()
            assert row is not None
            found[table] = int(row[0])
    return {table: n for table, n in found.items() if n}


async def test_everything_goes_and_nothing_of_others(db: Database) -> None:
    await fill(db.engine)
    await reparse(db.sessions, db.url, ReparseScope(host="alpha"))
    await pack_all(db.sessions)
    n_packs = db.query("SELECT count(*) FROM packed_chunks")[0][0]
    other = await export(db.engine, "beta")
    ((alpha,),) = db.query("SELECT id FROM hosts WHERE name = 'alpha'")
    n_samples = sum(left_of(db.url, int(str(alpha)))[f"samples.{stat}"] for stat in ("vmstat_linux", "mpstat_linux"))
    record = await request(db.sessions)
    assert (record.host, record.state, record.n_samples) == ("alpha", JobState.QUEUED, 0)
    assert await names(db.sessions) == ["beta"]
    assert await work_off_removals(db.url)
    async with open_read_session(db.sessions) as session:
        (ended,) = (await host_deletion.list_deletions(session)).deletions
    assert (ended.state, ended.n_samples) == (JobState.DONE, n_samples)
    assert left_of(db.url, host_of(db.url, record)) == {}
    assert db.query("SELECT name FROM hosts") == [("beta",)]
    assert await export(db.engine, "beta") == other
    left = db.query("SELECT count(*) FROM packed_chunks JOIN streams ON id = stream_id")[0][0]
    assert 0 < left < n_packs


async def test_its_artefacts_are_hidden_at_once_and_go_with_it(db: Database, tmp_path: Path) -> None:
    await fill(db.engine)
    made = {host: await add_artefact(db.sessions, tmp_path, host) for host in ("alpha", "beta")}
    assert await artefacts_of(db.sessions) == ({"alpha", "beta"}, ["folded", "plockstat"])
    await request(db.sessions)
    # Before a row of it is deleted.
    assert await artefacts_of(db.sessions) == ({"beta"}, ["folded"])
    assert await artefacts_of(db.sessions, "alpha") == (set(), ["folded"])
    gone = made["alpha"].id
    async with open_read_session(db.sessions) as session:
        assert [time.host for time in await read_artefact_times(session, None)] == ["beta"]
        for look_for in (read_artefact_row(session, gone), read_part_body(session, gone, 0), read_part_stamp(session, gone, 0)):
            with pytest.raises(NotFound):
                await look_for
    # A new host of that name has none of them, and keeps its own.
    again = await add_artefact(db.sessions, tmp_path, "alpha")
    assert again.id != gone
    assert await work_off_removals(db.url)
    assert db.query("SELECT id FROM artefacts ORDER BY id") == [(made["beta"].id,), (again.id,)]
    for table in ("artefact_bytes", "artefact_parts"):
        found = db.query(f"SELECT DISTINCT artefact_id FROM {table} ORDER BY 1")
        assert found == [(made["beta"].id,), (again.id,)], table
    assert await artefacts_of(db.sessions) == ({"alpha", "beta"}, ["folded", "plockstat"])


async def test_it_comes_back_as_new_at_once(db: Database) -> None:
    await fill(db.engine)
    async with open_write_session(db.sessions) as session:
        _, token = await create_agent_token(session, name="bound", host="alpha", created_by="anna")
        bound = AgentIdentity(host_id=token.host_id, token_id=token.id)
    reparse_id = await wish(db.sessions, ReparseScope(host="alpha"))
    old = await request(db.sessions)
    assert (await look(db.sessions, reparse_id)).state is JobState.STOPPED
    assert db.query("SELECT revoked_at IS NOT NULL FROM agent_tokens") == [(True,)]
    with pytest.raises(NotAllowed):
        await Agent(db.engine, identity=bound).send_file(vmstat_text(vmstat_times(5)))
    assert db.query("SELECT count(*) FROM hosts") == [(2,)]
    text = vmstat_text(vmstat_times(7))
    assert await Agent(db.engine).send_file(text, key="new") == len(text)
    assert await names(db.sessions) == ["alpha", "beta"]
    assert await work_off_removals(db.url)
    assert left_of(db.url, host_of(db.url, old)) == {}
    assert db.query("SELECT host, count(*) FROM stat.vmstat_linux GROUP BY 1 ORDER BY 1")[0] == ("alpha", 6)
    # The name again, while it is another host.
    assert host_of(db.url, await request(db.sessions)) != host_of(db.url, old)


@on_either_database
async def test_killed_in_the_middle_the_next_one_goes_on(db: Database) -> None:
    await fill(db.engine)
    # The rows of the second stat cannot be deleted now.
    lock = "LOCK TABLE samples.vmstat_linux IN SHARE MODE"
    with killed_at_lock(db.url, lock, "host", "delete", "alpha", "--yes"):
        assert await names(db.sessions) == ["beta"]
    free = f"SELECT WHERE pg_try_advisory_xact_lock({REMOVAL_LOCK})"
    wait_until(lambda: bool(db.query(free)), "the lock of the killed command is free")
    assert await names(db.sessions) == ["beta"]
    assert await work_off_removals(db.url)
    async with open_read_session(db.sessions) as session:
        (ended,) = (await host_deletion.list_deletions(session)).deletions
    assert ended.state is JobState.DONE
    assert left_of(db.url, host_of(db.url, ended)) == {}
    # What was deleted before the kill counts, and once.
    assert db.query("SELECT host, count(*) FROM stat.vmstat_linux GROUP BY 1") == [("beta", 89)]
    assert ended.n_samples == 89 + db.query("SELECT count(*) FROM samples.mpstat_linux")[0][0]


async def test_an_unknown_host(sessions: Sessions) -> None:
    with pytest.raises(NotFound):
        await request(sessions, "nobody")
