"""What happens while streams are read again: bytes come, people read, processes die."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from typer.testing import CliRunner

from normstat.cli import app
from normstat.db.schema.job_models import JobState
from normstat.db.schema.models import Host
from normstat.db.session import WriteSession, open_read_session, open_write_session
from normstat.ingest.reparse import reparse_stream as reparse_module
from normstat.ingest.reparse.reparse_stream import StreamReparse
from normstat.ingest.reparse.reparse_worker import run_reparses, work_off
from normstat.ingest.reparse.staging import Replaced, Span, Staging
from normstat.jobs.claims import REPARSE_LOCK
from normstat.records import reparse_rows
from normstat.records.reparse_rows import ReparseScope
from normstat.samples.lookup import find_stat, require_host
from normstat.samples.sample_pages import Page, PageQuery, read_pages
from normstat.settings import load_settings
from tests.addons import APP_USER, app_user_text
from tests.database_access import Database, query
from tests.databases import Sessions, on_either_database
from tests.fork_server import ForkedProcess, start_forked
from tests.ingest.rereading import ALWAYS, books, export, look, put, reparse, reparse_stream, wish
from tests.ingest.sending import Agent

pytestmark = on_either_database

# A column of another name, so that old and new cannot be taken for each other.
CHANGED = APP_USER.replace('key = "wait"', 'key = "wait_ms"')
RECEIVED = frozenset({"received_at"})


async def old_stream(agent: Agent, sessions: Sessions, n_reports: int = 60) -> bytes:
    """A stream that was read with the first version of its spec; the second one is there."""
    await put(sessions, "app_user", APP_USER)
    text = app_user_text(n_reports)
    await agent.send_file(text, "app_user")
    await put(sessions, "app_user", CHANGED)
    return text


async def assert_as_fresh(agent: Agent, engine: AsyncEngine, url: str, text: bytes) -> None:
    """All of the text is there once, read with today's spec."""
    await Agent(engine, "fresh").send_file(text, "app_user")
    assert await export(engine) == await export(engine, "fresh")
    assert books(url, without=RECEIVED) == books(url, "fresh", without=RECEIVED)


@contextlib.contextmanager
def locked_host(url: str) -> Iterator[None]:
    """Somebody who writes for the host, and takes long."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT FROM hosts WHERE name = 'alpha' FOR NO KEY UPDATE")
        yield
        connection.rollback()


async def wait_for(url: str, statement: str) -> None:
    """Until the statement has a row."""
    while not await asyncio.to_thread(query, url, statement):  # noqa: ASYNC110 (it is another process that is waited for)
        await asyncio.sleep(0.02)


WAITS_FOR_HOST = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
def _is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody had sent for long: the host is only locked at the end."""
    monkeypatch.setattr(reparse_module, "QUIET", timedelta(days=-1))


async def test_bytes_that_come_while_it_reads(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    text = await old_stream(agent, db.sessions)
    more = app_user_text(30, start_s=1_795_300_000)
    parts = [more[at : at + 97] for at in range(0, len(more), 97)]
    monkeypatch.setattr(reparse_module, "BATCH_BYTES", 300)
    monkeypatch.setattr(reparse_module, "TAIL_BYTES", 50)
    sent = bytearray(text)
    waiting = bytearray()

    async def watch(_: int) -> None:
        if parts:
            waiting.extend(parts.pop(0))
            acked = await agent.send_file(bytes(waiting), "app_user", offset=len(sent))
            n_taken = acked - len(sent)
            sent.extend(waiting[:n_taken])
            del waiting[:n_taken]

    await reparse_stream(db.url, watch=watch)
    assert not parts
    assert bytes(sent) == text + more
    await assert_as_fresh(agent, db.engine, db.url, text + more)


def watch_replacing(monkeypatch: pytest.MonkeyPatch, then: Callable[[], Awaitable[object]]) -> list[Span | None]:
    """Does something behind each replacement; what it gives grows with each of them."""
    replace, seen = Staging.replace, list[Span | None]()

    async def replace_and_go_on(staging: Staging, session: WriteSession, old: list[str], span: Span | None) -> Replaced:
        seen.append(span)
        done = await replace(staging, session, old, span)
        await then()
        return done

    monkeypatch.setattr(Staging, "replace", replace_and_go_on)
    return seen


@pytest.mark.usefixtures("_is_quiet")
async def test_bytes_that_come_while_it_replaces(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """It did not lock the host, sees what came, and begins to replace once more."""
    text = await old_stream(agent, db.sessions)
    more = app_user_text(9, users=8, start_s=1_795_300_000)

    async def send_more() -> None:
        # The second time the host is locked.
        if len(calls) == 1:
            assert await agent.send_file(more, "app_user", offset=len(text)) == len(text + more)

    calls = watch_replacing(monkeypatch, send_more)
    await reparse_stream(db.url)
    assert len(calls) == 2
    await assert_as_fresh(agent, db.engine, db.url, text + more)


@pytest.mark.usefixtures("_is_quiet")
async def test_instances_that_another_stream_brings_meanwhile(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers that it reserved for new names are given up for those that are there now."""
    await agent.send_file(app_user_text(12), "app_user")
    await put(db.sessions, "app_user", APP_USER)
    watch_replacing(monkeypatch, lambda: agent.send_file(app_user_text(12, start_s=1_795_300_000), "app_user", "other"))
    await agent.send_file(app_user_text(1, users=1, start_s=1_795_200_000), "app_user", "first")
    await reparse_stream(db.url)
    names = db.query("SELECT name FROM instances ORDER BY 1")
    assert names == [("user0",), ("user1",), ("user2",)]
    lost = "SELECT count(*) FROM samples.app_user AS s LEFT JOIN instances AS i ON i.id = s.instance_id WHERE i.id IS NULL"
    assert db.query(lost) == [(0,)]
    by_stream = db.query("SELECT stream_id, count(*) FROM stat.app_user GROUP BY 1 ORDER BY 2")
    assert [n for _, n in by_stream] == [1, 24, 24]


async def test_columns_that_come_with_the_last_bytes(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column unknown to the spec arrives when the host is locked already, and its table must not be changed then."""
    text = await old_stream(agent, db.sessions)
    more = b"1795300000\nUser Calls Wait Odd\nuser9 1 1.5 7\n"
    lock_host = StreamReparse._lock_hosts
    n_calls = 0

    async def lock_after_more_came(self: StreamReparse, session: WriteSession) -> Host:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 1:
            assert await agent.send_file(more, "app_user", offset=len(text)) == len(text + more)
            with psycopg.connect(db.url) as connection:
                # As if ingest had not read it yet: its column is gone again.
                connection.execute("ALTER TABLE samples.app_user DROP COLUMN odd CASCADE")
                connection.execute("DELETE FROM stat_fields WHERE key = 'odd'")
        return await lock_host(self, session)

    monkeypatch.setattr(StreamReparse, "_lock_hosts", lock_after_more_came)
    await reparse_stream(db.url)
    assert n_calls == 2
    await assert_as_fresh(agent, db.engine, db.url, text + more)
    assert db.query("SELECT max(odd) FROM stat.app_user") == [(7.0,)]


@pytest.mark.usefixtures("_is_quiet")
async def test_whoever_reads_sees_the_old_until_the_new_is_there(agent: Agent, db: Database) -> None:
    await old_stream(agent, db.sessions)
    old, old_books = await export(db.engine), books(db.url)
    reparse_id = await wish(db.sessions)
    with locked_host(db.url):
        work = asyncio.create_task(work_off(db.url))
        await wait_for(db.url, WAITS_FOR_HOST)
        # Old rows are deleted and new ones are inserted by now, in a transaction that waits.
        assert await export(db.engine) == old
        assert books(db.url) == old_books
        present = await look(db.sessions, reparse_id)
        assert (present.state, present.n_bytes_done, present.n_streams_done) == (JobState.RUNNING, present.n_bytes, 0)
    await work
    new = await export(db.engine)
    assert new != old
    assert b"wait_ms" in new
    assert b",wait," not in new
    assert new.count(b"\n") == old.count(b"\n")


async def test_pages_that_follow_each_other_are_of_one_state(agent: Agent, db: Database) -> None:
    """A graph of many samples takes several statements, and the samples are replaced between two of them."""
    await old_stream(agent, db.sessions, n_reports=1200)
    # The new column is there already: it would have to wait for whoever reads.
    await Agent(db.engine, "other").send_file(app_user_text(2), "app_user")
    async with open_read_session(db.sessions) as session:
        pages = _pages(session)
        first = await anext(pages)
        assert (await reparse(db.sessions, db.url)).state is JobState.DONE
        rest = [page async for page in pages]
    assert len(rest) > 1
    assert sum(map(len, [first, *rest])) == 2400
    for page in [first, *rest]:
        assert not any(value != value for value in page.values[0].tolist())  # noqa: PLR0124 (NaN)


async def _pages(session: AsyncSession) -> AsyncIterator[Page]:
    host_id = await require_host(session, "alpha")
    stat = await find_stat(session, "app_user")
    assert stat is not None
    wait = next(field for field in stat.fields if field.key == "wait")
    async for page in read_pages(session, PageQuery("app_user", host_id, ALWAYS, [wait], values_per_page=1)):
        yield page


def start_command(url: str, log_path: Path) -> ForkedProcess:
    with log_path.open("wb") as log:
        return start_forked(["reparse", "--all"], os.environ | {"NORMSTAT_DATABASE_URL": url}, log)


@pytest.mark.slow
async def test_killed_in_the_middle_the_old_is_there_and_the_next_one_goes_on(agent: Agent, db: Database, tmp_path: Path) -> None:
    await put(db.sessions, "app_user", APP_USER)
    for key in ("a", "b", "c"):
        await agent.send_file(app_user_text(40), "app_user", key)
    await put(db.sessions, "app_user", CHANGED)
    old = db.query("SELECT stream_id, count(wait) FROM stat.app_user GROUP BY 1 ORDER BY 1")
    second = old[1][0]
    with psycopg.connect(db.url) as connection:
        # The second stream's row cannot be written: the process stands in the middle of its transaction.
        connection.execute("SELECT FROM streams WHERE id = %s FOR UPDATE", [second])
        process = start_command(db.url, tmp_path / "log")
        await wait_for(db.url, WAITS_FOR_HOST)
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait)
        connection.rollback()
    await wait_for(db.url, f"SELECT WHERE pg_try_advisory_xact_lock({REPARSE_LOCK})")
    # The first one is done, the others are as they were; nothing is left of what was staged.
    counts = db.query("SELECT stream_id, count(wait), count(wait_ms) FROM stat.app_user GROUP BY 1 ORDER BY 1")
    n_rows = int(str(old[0][1]))
    assert [row[1:] for row in counts] == [(0, n_rows), (n_rows, 0), (n_rows, 0)]
    assert db.query("SELECT FROM pg_tables WHERE tablename LIKE 'staged%'") == []
    assert db.query("SELECT spec_version FROM streams ORDER BY id") == [(2,), (1,), (1,)]
    left = await look(db.sessions, 1)
    assert (left.state, left.n_streams_done, left.n_streams) == (JobState.RUNNING, 1, 3)

    # A server that starts afterwards takes it up.
    server = asyncio.create_task(run_reparses(db.url, db.sessions, poll_s=0.05))
    await wait_for(db.url, "SELECT FROM jobs WHERE finished_at IS NOT NULL")
    server.cancel()
    ended = await look(db.sessions, 1)
    assert (ended.state, ended.n_streams_done, ended.n_samples_after) == (JobState.DONE, 3, 3 * n_rows)
    assert ended.n_bytes_done == ended.n_bytes
    assert db.query("SELECT count(wait), count(wait_ms) FROM stat.app_user") == [(0, 3 * n_rows)]


async def test_the_command_works_and_says_what_came_of_it(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    text = await old_stream(agent, db.sessions)
    n_rows = db.query("SELECT count(*) FROM stat.app_user")[0][0]
    said = f"1 of 1 stream reparsed: {n_rows} samples before, {n_rows} after, 0 lines rejected\n"
    monkeypatch.setenv("NORMSTAT_DATABASE_URL", db.url)
    load_settings.cache_clear()
    chosen = ("--spec", "app_user", "--host", "alpha")
    for words, expected in ((chosen, (0, said)), ((), (2, "")), (("--host", "nobody"), (1, ""))):
        # In a thread: the command has an event loop of its own.
        done = await asyncio.to_thread(CliRunner().invoke, app, ["reparse", *words])
        assert (done.exit_code, done.stdout) == expected
    load_settings.cache_clear()
    assert db.query("SELECT spec_version, acked_offset FROM streams") == [(2, len(text))]


async def test_stopped_it_leaves_what_it_did_not_finish(agent: Agent, db: Database) -> None:
    await old_stream(agent, db.sessions)
    old = await export(db.engine)
    reparse_id = await wish(db.sessions)
    with locked_host(db.url):
        work = asyncio.create_task(work_off(db.url))
        await wait_for(db.url, "SELECT FROM jobs WHERE state = 'running'")
        async with open_write_session(db.sessions) as session:
            await reparse_rows.stop_reparse(session, reparse_id, "stopped by anna")
    await work
    ended = await look(db.sessions, reparse_id)
    assert (ended.state, ended.message) == (JobState.STOPPED, "stopped by anna")
    assert ended.n_streams_done in {0, 1}
    assert (await export(db.engine) == old) == (ended.n_streams_done == 0)


async def test_two_processes_do_not_both_work(agent: Agent, db: Database) -> None:
    await old_stream(agent, db.sessions)
    await wish(db.sessions)
    with locked_host(db.url):
        work = asyncio.create_task(work_off(db.url))
        await wait_for(db.url, WAITS_FOR_HOST)
        assert not await work_off(db.url)
        second = asyncio.create_task(run_reparses(db.url, db.sessions, poll_s=0.05))
        await asyncio.sleep(0.2)
    assert await work
    second.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await second
    assert (await look(db.sessions, 1)).n_streams_done == 1


async def test_a_spec_that_changes_meanwhile_leaves_the_stream_outdated(agent: Agent, db: Database) -> None:
    text = await old_stream(agent, db.sessions)

    async def watch(_: int) -> None:
        await put(db.sessions, "app_user", APP_USER.replace('key = "wait"', 'key = "waited"'))

    await reparse_stream(db.url, watch=watch)
    assert db.query("SELECT spec_version, reader_version FROM streams") == [(2, 2)]
    record = await reparse(db.sessions, db.url, ReparseScope(is_outdated_only=True))
    assert record.n_streams_done == 1
    await assert_as_fresh(agent, db.engine, db.url, text)


async def test_a_stream_goes_on_after_it_was_read_again(agent: Agent, db: Database) -> None:
    """In the middle of a report: the state that the reparse leaves is that of the end of the stream."""
    await put(db.sessions, "app_user", APP_USER)
    text = app_user_text(30)
    cut = text.index(b"user1", len(text) // 2)
    await agent.send_file(text[:cut], "app_user")
    await put(db.sessions, "app_user", CHANGED)
    await reparse(db.sessions, db.url)
    await agent.send_file(text[cut:], "app_user", offset=cut)
    await assert_as_fresh(agent, db.engine, db.url, text)
