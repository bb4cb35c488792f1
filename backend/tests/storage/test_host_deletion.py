"""Deleting a host: gone at once for those who look, later from the disk, even when whoever deletes is killed."""

from pathlib import Path

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact
from normstat.auth.accounts import create_agent_token
from normstat.errors import NotAllowed, NotFound
from normstat.ingest.batching import AgentIdentity
from normstat.jobs.claims import REMOVAL_LOCK
from normstat.query.artefact_times import read_artefact_times
from normstat.query.host_lists import list_hosts
from normstat.retention import host_deletion
from normstat.retention.deletion_worker import work_off_removals
from normstat.retention.host_deletion import HostDeletion
from normstat.storage.artefact_rows import (
    Artefact,
    ArtefactFilter,
    ArtefactSource,
    list_artefacts,
    read_artefact_row,
    read_part_body,
    read_part_stamp,
)
from normstat.storage.reparse_rows import ReparseScope
from normstat.storage.schema.job_models import JobState
from normstat.storage.schema.models import Base
from normstat.storage.session import open_read_session, open_write_session
from tests.databases import Sessions, on_either_database
from tests.e2e.product import wait_until
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.rereading import export, look, reparse, wish
from tests.ingest.sending import Agent
from tests.ingest.test_import_load import LOCKS
from tests.ingest.test_intake import query
from tests.killed_commands import killed_at_lock
from tests.packing.raw_view import pack_all


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


async def test_everything_goes_and_nothing_of_others(engine: AsyncEngine, sessions: Sessions, database_url: str) -> None:
    await fill(engine)
    await reparse(sessions, database_url, ReparseScope(host="alpha"))
    await pack_all(sessions)
    n_packs = query(database_url, "SELECT count(*) FROM packed_chunks")[0][0]
    other = await export(engine, "beta")
    ((alpha,),) = query(database_url, "SELECT id FROM hosts WHERE name = 'alpha'")
    n_samples = sum(left_of(database_url, int(str(alpha)))[f"samples.{stat}"] for stat in ("vmstat_linux", "mpstat_linux"))
    record = await request(sessions)
    assert (record.host, record.state, record.n_samples) == ("alpha", JobState.QUEUED, 0)
    assert await names(sessions) == ["beta"]
    assert await work_off_removals(database_url)
    async with open_read_session(sessions) as session:
        (ended,) = (await host_deletion.list_deletions(session)).deletions
    assert (ended.state, ended.n_samples) == (JobState.DONE, n_samples)
    assert left_of(database_url, host_of(database_url, record)) == {}
    assert query(database_url, "SELECT name FROM hosts") == [("beta",)]
    assert await export(engine, "beta") == other
    left = query(database_url, "SELECT count(*) FROM packed_chunks JOIN streams ON id = stream_id")[0][0]
    assert 0 < left < n_packs


async def test_its_artefacts_are_hidden_at_once_and_go_with_it(
    engine: AsyncEngine, sessions: Sessions, database_url: str, tmp_path: Path
) -> None:
    await fill(engine)
    made = {host: await add_artefact(sessions, tmp_path, host) for host in ("alpha", "beta")}
    assert await artefacts_of(sessions) == ({"alpha", "beta"}, ["folded", "plockstat"])
    await request(sessions)
    # Before a row of it is deleted.
    assert await artefacts_of(sessions) == ({"beta"}, ["folded"])
    assert await artefacts_of(sessions, "alpha") == (set(), ["folded"])
    gone = made["alpha"].id
    async with open_read_session(sessions) as session:
        assert [time.host for time in await read_artefact_times(session, None)] == ["beta"]
        for look_for in (read_artefact_row(session, gone), read_part_body(session, gone, 0), read_part_stamp(session, gone, 0)):
            with pytest.raises(NotFound):
                await look_for
    # A new host of that name has none of them, and keeps its own.
    again = await add_artefact(sessions, tmp_path, "alpha")
    assert again.id != gone
    assert await work_off_removals(database_url)
    assert query(database_url, "SELECT id FROM artefacts ORDER BY id") == [(made["beta"].id,), (again.id,)]
    for table in ("artefact_bytes", "artefact_parts"):
        found = query(database_url, f"SELECT DISTINCT artefact_id FROM {table} ORDER BY 1")
        assert found == [(made["beta"].id,), (again.id,)], table
    assert await artefacts_of(sessions) == ({"alpha", "beta"}, ["folded", "plockstat"])


async def test_it_comes_back_as_new_at_once(engine: AsyncEngine, sessions: Sessions, database_url: str) -> None:
    await fill(engine)
    async with open_write_session(sessions) as session:
        _, token = await create_agent_token(session, name="bound", host="alpha", created_by="anna")
        bound = AgentIdentity(host_id=token.host_id, token_id=token.id)
    reparse_id = await wish(sessions, ReparseScope(host="alpha"))
    old = await request(sessions)
    assert (await look(sessions, reparse_id)).state is JobState.STOPPED
    assert query(database_url, "SELECT revoked_at IS NOT NULL FROM agent_tokens") == [(True,)]
    with pytest.raises(NotAllowed):
        await Agent(engine, identity=bound).send_file(vmstat_text(vmstat_times(5)))
    assert query(database_url, "SELECT count(*) FROM hosts") == [(2,)]
    text = vmstat_text(vmstat_times(7))
    assert await Agent(engine).send_file(text, key="new") == len(text)
    assert await names(sessions) == ["alpha", "beta"]
    assert await work_off_removals(database_url)
    assert left_of(database_url, host_of(database_url, old)) == {}
    assert query(database_url, "SELECT host, count(*) FROM stat.vmstat_linux GROUP BY 1 ORDER BY 1")[0] == ("alpha", 6)
    # The name again, while it is another host.
    assert host_of(database_url, await request(sessions)) != host_of(database_url, old)


@on_either_database
async def test_killed_in_the_middle_the_next_one_goes_on(engine: AsyncEngine, sessions: Sessions, database_url: str) -> None:
    await fill(engine)
    # The rows of the second stat cannot be deleted now.
    lock = "LOCK TABLE samples.vmstat_linux IN SHARE MODE"
    with killed_at_lock(database_url, lock, "host", "delete", "alpha", "--yes"):
        assert await names(sessions) == ["beta"]
    free = f"SELECT WHERE pg_try_advisory_xact_lock({REMOVAL_LOCK})"
    wait_until(lambda: bool(query(database_url, free)), "the lock of the killed command is free")
    assert await names(sessions) == ["beta"]
    assert await work_off_removals(database_url)
    async with open_read_session(sessions) as session:
        (ended,) = (await host_deletion.list_deletions(session)).deletions
    assert ended.state is JobState.DONE
    assert left_of(database_url, host_of(database_url, ended)) == {}
    # What was deleted before the kill counts, and once.
    assert query(database_url, "SELECT host, count(*) FROM stat.vmstat_linux GROUP BY 1") == [("beta", 89)]
    assert ended.n_samples == 89 + query(database_url, "SELECT count(*) FROM samples.mpstat_linux")[0][0]


async def test_an_unknown_host(sessions: Sessions) -> None:
    with pytest.raises(NotFound):
        await request(sessions, "nobody")
