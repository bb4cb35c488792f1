"""Backups: what is restored is what there was, on whichever kind of store; interrupted ones go on; damage is named."""

import asyncio
import contextlib
import json
import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.artefacts.artefact_service import ArtefactDraft, load_part, make_artefact, reparse_artefact
from normstat.artefacts.parts import StackPart
from normstat.auth.accounts import create_agent_token
from normstat.auth.login import make_link
from normstat.backup import backup_plan, dump
from normstat.backup.backup_files import Connection
from normstat.backup.backup_plan import LEFT_OUT, LEFT_OUT_COLUMNS, PieceRequest, read_fingerprint
from normstat.backup.dump import Progress, back_up
from normstat.backup.manifest import Manifest, read_manifest
from normstat.backup.restore_tables import check_backup, restore
from normstat.baselines.baseline_records import RuleInfo
from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.baselines.exclusion_rows import ExclusionCreate, create_exclusion
from normstat.baselines.host_group_rows import create_group
from normstat.baselines.mute_rows import MuteCreate, create_mute
from normstat.compaction import packing_run
from normstat.compaction.packing_run import pack_next
from normstat.db import migrations
from normstat.db.leader import try_lead
from normstat.db.schema.baseline_models import SavedComparisonRow
from normstat.db.schema.job_models import JobKind
from normstat.db.schema.models import Base
from normstat.db.schema_version import require_current_schema
from normstat.db.session import make_sessions, open_read_session, open_write_session
from normstat.errors import BadRequest, Conflict, MigrationError
from normstat.jobs.periodic import recorded
from normstat.records import artefact_rows
from normstat.records.artefact_rows import Artefact, ArtefactSource, read_text
from normstat.records.audit_rows import AuditEntry, add_entries
from normstat.window import Window
from tests.compaction.raw_view import counts, pack_all
from tests.database_access import Database, query
from tests.databases import SERVERS, CommunityServer, ServerPool, Sessions, TestServer, on_either_database
from tests.debian_root import DatabaseUnavailable
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.rereading import export, reparse
from tests.ingest.sending import Agent, gap, opened_engine, stream
from tests.killed_commands import killed_at_lock
from tests.query.filling import seal_all

COMMUNITY = CommunityServer.name


def another_kind(server: TestServer, servers: ServerPool) -> TestServer:
    """A server of another kind of store; the same one where there is no other."""
    wanted = {"postgresql": ["timescaledb"], "timescaledb": [COMMUNITY, "postgresql"]}.get(server.name, ["postgresql"])
    for name in wanted:
        if name in SERVERS:
            with contextlib.suppress(DatabaseUnavailable):
                return servers.require(name)
    return server


@pytest.fixture
def other_url(server: TestServer, servers: ServerPool) -> Iterator[str]:
    """A database without rows, of another kind of store."""
    with another_kind(server, servers).fresh_database() as url:
        yield url


@pytest.fixture
def bare_url(server: TestServer, servers: ServerPool) -> Iterator[str]:
    """The same without tables: the restore makes them, which takes a second."""
    with another_kind(server, servers).fresh_database(is_migrated=False) as url:
        yield url


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*.zst")}


def quiet(_: Progress) -> None:
    """Nothing."""


async def fill(engine: AsyncEngine) -> Agent:
    """Two hosts, three days, rows with words of their own, a gap, lines that cannot be read, bytes without a spec."""
    agent = Agent(engine)
    for day in range(3):
        start = START + timedelta(days=day, hours=9)
        await agent.send_file(vmstat_text(vmstat_times(200, start)), key=f"v{day}")
        await agent.send_file(mpstat_text(30, 3, start=start), "mpstat_linux", f"m{day}")
    text = vmstat_text(vmstat_times(40))
    end = text.index(b"\n", 1000) + 1
    await agent.send(stream(text[:end], key="holes"), gap(end, 70, key="holes"))
    await agent.send_file(b"what is that\n1 2\n" + text, key="noise")
    await agent.send_file(b"who knows\n", "nothing_any")
    # 1.50 printed as 01.5: only the words of the row tell.
    await agent.send_file(mpstat_text(3, 1).replace(b"  0", b" 00"), "mpstat_linux", "odd")
    await Agent(engine, "beta").send_file(mpstat_text(20, 2), "mpstat_linux")
    # Too large for the four bytes of its column, which gets a wider one beside it.
    large = re.sub(rb"(?m)^ *\d+ ", b"5000000000 ", vmstat_text(vmstat_times(3, START + timedelta(days=1))))
    await agent.send_file(large, key="large")
    await mark_what_is_normal(engine)
    return agent


async def mark_what_is_normal(engine: AsyncEngine) -> None:
    """A row in each table of baselines that a backup has; profiles are made again."""
    day = Window(START, START + timedelta(days=1))
    rule = RuleInfo("FREQ=DAILY", START.replace(tzinfo=None), 3600, 28)
    async with open_write_session(make_sessions(engine)) as session:
        await create_group(session, "all", "", ["alpha", "beta"])
        draft = BaselineDraft("normal", "quiet", (), (day,), "ann", group="all", time_zone="Pacific/Chatham", rule=rule)
        await create_baseline(session, draft)
        await create_exclusion(session, ExclusionCreate(name="disk full", start=day.start, end=day.end, host="beta"), by="ann")
        await create_mute(session, MuteCreate(stat="vmstat_linux", field="procs_r", reason="noisy"), by="ann")
        session.add(SavedComparisonRow(name="kept", inputs={"host": "alpha"}, result=b"\x00", created_by="ann"))


def content(url: str) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables that a backup has."""
    found = {}
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        for table in Base.metadata.sorted_tables:
            if table.name not in LEFT_OUT:
                columns = [column.name for column in table.columns if (table.name, column.name) not in LEFT_OUT_COLUMNS]
                shown = sql.SQL(", ").join(map(sql.Identifier, columns))
                query = sql.SQL("SELECT {} FROM {} ORDER BY 1, 2").format(shown, sql.Identifier(table.name))
                found[table.name] = connection.execute(query).fetchall()
        for (name,) in connection.execute("SELECT name FROM stats").fetchall():
            keys = connection.execute(
                "SELECT key FROM stat_fields JOIN stats ON id = stat_id WHERE name = %s ORDER BY position", [name]
            ).fetchall()
            fields = sql.SQL(", ").join(sql.Identifier(key) for (key,) in keys)
            for schema, more in (("samples", "coalesce(printed, '')"), ("stat", "host, instance, printed")):
                query = sql.SQL(
                    "SELECT time, host_id, instance_id, stream_id, line_offset, {more}, {fields} FROM {table} ORDER BY 2, 4, 5, 3"
                ).format(more=sql.SQL(more), fields=fields, table=sql.Identifier(schema, name))
                found[f"{schema}.{name}"] = connection.execute(query).fetchall()
    return found


def compress(url: str) -> None:
    """Puts all chunks into the columnstore, where there is one."""
    with psycopg.connect(url) as connection:
        if connection.execute("SELECT current_setting('timescaledb.license', true)").fetchone() == ("timescale",):
            for (name,) in connection.execute("SELECT name FROM stats").fetchall():
                connection.execute("SELECT compress_chunk(c) FROM show_chunks(%s) AS c", [f"samples.{name}"])


async def save(url: str, folder: Path) -> tuple[Manifest, Progress]:
    seen = [Progress()]

    def watch(progress: Progress) -> None:
        seen[0] = progress

    return await asyncio.to_thread(back_up, url, folder, watch), seen[0]


async def bring(url: str, folder: Path) -> None:
    manifest = await asyncio.to_thread(check_backup, folder, quiet)
    await asyncio.to_thread(restore, url, folder, manifest, quiet)


@pytest.mark.slow
async def test_round_trip_into_another_kind_of_store(db: Database, bare_url: str, tmp_path: Path) -> None:
    agent = await fill(db.engine)
    compress(db.url)
    before, csv = content(db.url), await export(db.engine)
    assert len(before["samples.mpstat_linux"]) > 400
    assert any(row[5] for row in before["samples.mpstat_linux"])
    assert [name for name, rows in before.items() if "." not in name and "baseline" in name and not rows] == []
    assert all(before[table] for table in ("host_groups", "exclusions", "muted_series", "comparisons"))
    manifest, _ = await save(db.url, tmp_path / "backup")
    assert manifest.n_rows > 1000
    await bring(bare_url, tmp_path / "backup")
    assert content(bare_url) == before
    async with opened_engine(bare_url, pool_size=2) as other:
        assert await export(other) == csv
        # Agents go on where they were acknowledged, and new rows get numbers that nobody had.
        text = vmstat_text(vmstat_times(200, START + timedelta(days=2, hours=9)))
        assert await Agent(other).send_file(text, key="v2") == len(text)
        assert len(content(bare_url)["samples.vmstat_linux"]) == len(before["samples.vmstat_linux"])
        more = mpstat_text(5, 4, start=START + timedelta(days=9))
        for each in (Agent(other), agent):
            await each.send_file(more, "mpstat_linux", "new")
        assert await export(other) == await export(db.engine)
        assert content(bare_url)["instances"] == content(db.url)["instances"]
    require_current_schema(bare_url)


def modes_of(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


@on_either_database
async def test_the_next_backup_copies_what_is_new(db: Database, tmp_path: Path) -> None:
    agent = await fill(db.engine)
    first, _ = await save(db.url, tmp_path)
    assert modes_of(tmp_path) == {0o600}
    again, progress = await save(db.url, tmp_path)
    assert [piece for piece in again.pieces if piece.mark] == [piece for piece in first.pieces if piece.mark]
    assert progress.n_kept >= sum(1 for piece in again.pieces if piece.mark)
    # One stream goes on, on its last day: no other day and no other stat.
    text = vmstat_text(vmstat_times(300, START + timedelta(days=2, hours=9)))
    at = len(vmstat_text(vmstat_times(200, START + timedelta(days=2, hours=9))))
    await agent.send_file(text[at:], key="v2", offset=at)
    # And one brings what is two days old.
    await agent.send_file(mpstat_text(2, 1, start=START + timedelta(hours=2)), "mpstat_linux", "late")
    third, _ = await save(db.url, tmp_path)
    new = {piece.key for piece in third.pieces if piece not in again.pieces and piece.schema == "samples"}
    days = [(START + timedelta(days=number)).date().isoformat() for number in (0, 2)]
    changed = {"/".join([*key.split("/")[1:2], key.split("/")[-1][:10]]) for key in new}
    assert {f"mpstat_linux/{days[0]}", f"vmstat_linux/{days[1]}"} <= changed
    assert not any(word in key for key in changed for word in ("mpstat_linux/" + days[1], "vmstat_linux/" + days[0]))
    named = {piece.file for piece in third.pieces}
    assert files_of(tmp_path) == named


@pytest.mark.matrix
@on_either_database
async def test_samples_that_were_read_again_are_copied_again(db: Database, other_url: str, tmp_path: Path) -> None:
    """The same lines of the same streams: nothing but the count of reparses tells that their numbers may be others."""
    await Agent(db.engine).send_file(vmstat_text(vmstat_times(50)))
    await save(db.url, tmp_path)
    with psycopg.connect(db.url) as connection:
        connection.execute("UPDATE samples.vmstat_linux SET procs_r = procs_r + 1")
    same, _ = await save(db.url, tmp_path)
    await reparse(make_sessions(db.engine), db.url)
    third, _ = await save(db.url, tmp_path)
    files = [[piece.file for piece in manifest.pieces if piece.schema == "samples"] for manifest in (same, third)]
    assert len(files[0]) == len(files[1]) == 1
    assert [piece.mark for piece in same.pieces] != [piece.mark for piece in third.pieces]
    await bring(other_url, tmp_path)
    assert content(other_url) == content(db.url)


@on_either_database
async def test_artefacts_are_restored_and_only_changed_ones_copied_again(
    db: Database, other_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_plan, "ARTEFACTS_PER_PIECE", 1)
    monkeypatch.setattr(artefact_rows, "PIECE_BYTES", 10_000)
    sessions = make_sessions(db.engine)
    # Several pieces, and bytes that are no UTF-8.
    text = b"".join(b"java;caf\xe9;f%d %d\n" % (number, number + 1) for number in range(1000))
    assert len(text) > artefact_rows.PIECE_BYTES
    made = [await add_artefact(sessions, tmp_path, text), await add_artefact(sessions, tmp_path, b"nobody knows this\r\n\x00")]
    first, _ = await save(db.url, tmp_path / "backup")
    keys = {f"{table}/{artefact.id}" for table in ("artefact_bytes", "artefact_parts") for artefact in made}
    assert {piece.key for piece in first.pieces if piece.key.startswith("artefact_")} == keys
    made.append(await add_artefact(sessions, tmp_path, b"a;b 1\nc;d 2\n"))
    await reparse_artefact(sessions, made[0].id)
    second, _ = await save(db.url, tmp_path / "backup")
    copied = {piece.key for piece in second.pieces if piece.key.startswith("artefact_") and piece not in first.pieces}
    assert copied == {f"artefact_parts/{made[0].id}", f"artefact_bytes/{made[2].id}", f"artefact_parts/{made[2].id}"}
    await bring(other_url, tmp_path / "backup")
    assert content(other_url) == content(db.url)
    async with opened_engine(other_url, pool_size=2) as other:
        async with open_read_session(make_sessions(other)) as session:
            assert b"".join([piece async for piece in read_text(session, made[0].id)]) == text
            assert b"".join([piece async for piece in read_text(session, made[1].id)]) == b"nobody knows this\r\n\x00"
            part = await load_part(session, made[0].id, 0, StackPart)
        assert part.n_rows == 1000
        # A new one gets a number that no other had.
        assert (await add_artefact(make_sessions(other), tmp_path, b"e;f 1\ng;h 2\n")).id > made[2].id


async def add_artefact(sessions: Sessions, folder: Path, text: bytes) -> Artefact:
    path = folder / "artefact.txt"
    path.write_bytes(text)
    return await make_artefact(sessions, ArtefactDraft("alpha", ArtefactSource.CLI, "ann", start=START), path, now=START)


@pytest.mark.matrix
@on_either_database
async def test_packing_between_backups_changes_no_byte(
    db: Database, other_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packs reach over the edges of the windows that raw bytes are copied by."""
    monkeypatch.setattr(backup_plan, "WINDOW_BYTES", 1500)
    monkeypatch.setattr(packing_run, "MAX_PACK_BYTES", 2500)
    sessions, agent = make_sessions(db.engine), Agent(db.engine)
    text = vmstat_text(vmstat_times(150))
    for end in range(1000, 10_000, 700):
        await agent.send(stream(text[:end], key="long"), stream(text[: end // 2], key="short"))
    await save(db.url, tmp_path)
    ids = db.query("SELECT id, host_id FROM streams ORDER BY id")
    for _ in range(2):
        # One pack of each stream, then a backup: it has some windows of a stream packed, and others not.
        for stream_id, host_id in ids:
            later = datetime.now(UTC) + timedelta(days=1)
            await pack_next(sessions, int(str(stream_id)), int(str(host_id)), before=later, share=1)
        manifest, _ = await save(db.url, tmp_path)
    again, progress = await save(db.url, tmp_path)
    raw = {"chunks", "packed_chunks"}
    assert [piece for piece in again.pieces if piece.table in raw] == [piece for piece in manifest.pieces if piece.table in raw]
    assert progress.n_kept >= sum(piece.table in raw for piece in again.pieces)
    n_chunks, n_packs = counts(db.url)
    assert (n_chunks > 3, n_packs > 3) == (True, True)
    await agent.send_file(text, key="long")
    await pack_all(sessions)
    await save(db.url, tmp_path)
    await bring(other_url, tmp_path)
    assert content(other_url) == content(db.url)


@on_either_database
@pytest.mark.slow
async def test_killed_in_the_middle_both_go_on(db: Database, other_url: str, tmp_path: Path) -> None:
    await fill(db.engine)
    with killed_at_lock(db.url, "LOCK TABLE samples.vmstat_linux IN ACCESS EXCLUSIVE MODE", "backup", str(tmp_path)):
        with pytest.raises(BadRequest, match="never finished"):
            read_manifest(tmp_path)
        n_there = len(files_of(tmp_path))
        assert n_there == 3
    # What was copied of the first day is not all of it any more, and one more stream is there.
    await Agent(db.engine).send_file(mpstat_text(2, 1, start=START + timedelta(hours=2)), "mpstat_linux", "late")
    before = content(db.url)
    _, progress = await save(db.url, tmp_path)
    assert progress.n_kept == n_there - 1

    with killed_at_lock(other_url, "LOCK TABLE rejected_lines IN SHARE MODE", "restore", str(tmp_path)):
        assert query(other_url, "SELECT count(*) FROM hosts") == [(2,)]
    # Neither a server nor a migration goes on there.
    for step in (require_current_schema, migrations.upgrade):
        with pytest.raises(MigrationError, match=r"was interrupted. Continue it with the same backup"):
            await asyncio.to_thread(step, other_url)
    manifest = await asyncio.to_thread(check_backup, tmp_path, quiet)
    with pytest.raises(Conflict, match="partly restored"):
        await asyncio.to_thread(restore, other_url, tmp_path, replace(manifest, taken_at="later"), quiet)
    await bring(other_url, tmp_path)
    assert content(other_url) == before
    require_current_schema(other_url)


@on_either_database
async def test_all_of_a_backup_is_of_one_instant(db: Database, other_url: str, tmp_path: Path) -> None:
    """Agents send all the time while it is made: every stream has just the samples of the bytes that are there."""
    texts = {key: vmstat_text(vmstat_times(400), seed) for seed, key in enumerate("abcd")}
    agent = Agent(db.engine)
    at = {key: await agent.send_file(text[:700], key=key) for key, text in texts.items()}
    task = asyncio.create_task(save(db.url, tmp_path))
    while not task.done():
        for key, text in texts.items():
            at[key] = await agent.send_file(text[at[key] : at[key] + 700], key=key, offset=at[key])
    await task
    await bring(other_url, tmp_path)
    streams = query(
        other_url,
        "SELECT key, n_sample, (SELECT count(*) FROM samples.vmstat_linux WHERE stream_id = s.id), acked_offset,"
        " (SELECT coalesce(max(end_offset), 0) FROM chunks WHERE stream_id = s.id) FROM streams AS s ORDER BY key",
    )
    assert streams
    for _, n_sample, n_rows, acked, n_bytes in streams:
        assert (n_rows, acked) == (n_sample, n_bytes)
    # Sent once more from where each stream stands, all of it is there once.
    async with opened_engine(other_url, pool_size=2) as other:
        for key, text in texts.items():
            for url_engine in (db.engine, other):
                await Agent(url_engine).send_file(text, key=key)
        assert await export(other) == await export(db.engine)


@on_either_database
async def test_damage_is_named_before_anything_is_restored(db: Database, bare_url: str, tmp_path: Path) -> None:
    await fill(db.engine)
    manifest, _ = await save(db.url, tmp_path)
    samples = [piece for piece in manifest.pieces if piece.schema == "samples"]
    path = tmp_path / samples[0].file
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(body)
    (tmp_path / samples[1].file).unlink()
    with pytest.raises(BadRequest) as caught:
        await bring(bare_url, tmp_path)
    assert f"{samples[0].file} is damaged" in caught.value.message
    assert f"{samples[1].file} is missing" in caught.value.message
    with psycopg.connect(bare_url) as connection:
        assert connection.execute("SELECT FROM pg_tables WHERE tablename = 'hosts'").fetchall() == []
    # The next backup copies what is not there any more.
    _, progress = await save(db.url, tmp_path)
    assert progress.n_done - progress.n_kept >= 1
    with pytest.raises(BadRequest, match="is damaged"):
        await asyncio.to_thread(check_backup, tmp_path, quiet)


@on_either_database
async def test_what_is_refused(db: Database, other_url: str, server: TestServer, tmp_path: Path) -> None:
    await Agent(db.engine).send_file(vmstat_text(vmstat_times(5)))
    await save(db.url, tmp_path / "a")
    with pytest.raises(Conflict, match="The database is not empty"):
        await bring(db.url, tmp_path / "a")
    with server.fresh_database() as url:
        with psycopg.connect(url) as connection:
            # Databases of tests are copies of one.
            connection.execute("UPDATE store_identity SET id = gen_random_uuid()")
        with pytest.raises(Conflict, match="another database"):
            await save(url, tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/thesis.txt").write_text("mine")
    with pytest.raises(BadRequest, match="not empty and is not a backup"):
        await save(db.url, tmp_path / "b")
    with pytest.raises(BadRequest, match="it is not a backup"):
        await bring(other_url, tmp_path / "b")
    body = json.loads((tmp_path / "a/manifest.json").read_text())
    for changes, error, message in (
        ({"format": 2}, BadRequest, "this program reads 1"),
        ({"revision": "9999"}, Conflict, "newer normstat"),
    ):
        (tmp_path / "a/manifest.json").write_text(json.dumps(body | changes))
        with pytest.raises(error, match=message):
            await bring(other_url, tmp_path / "a")


@on_either_database
async def test_what_a_first_start_writes_gives_way_to_a_backup(db: Database, other_url: str, bare_url: str, tmp_path: Path) -> None:
    await Agent(db.engine).send_file(vmstat_text(vmstat_times(5)))
    await save(db.url, tmp_path)
    before = content(db.url)
    async with opened_engine(other_url, pool_size=2) as other:
        sessions = make_sessions(other)
        async with open_write_session(sessions) as session:
            await make_link(session, name=None, must_forget_password=False)
            await create_agent_token(session, name="agent", host="alpha", created_by="command line")
            await add_entries(session, [AuditEntry("root", "command", "web1", "run_command", {"command": "login-link"})])
        async with recorded(sessions, JobKind.ROLLUP, unit="hours"):
            pass
        # As left by the version before: a backup brings its own schema.
        await asyncio.to_thread(migrations.downgrade, other_url, "-1")
        async with try_lead(other) as leadership:
            assert leadership is not None
            with pytest.raises(Conflict, match="A server is running on this database"):
                await bring(other_url, tmp_path)
    await bring(other_url, tmp_path)
    assert content(other_url) == before
    # An account that somebody uses is not what a first start writes, nor are samples.
    with pytest.raises(Conflict, match=r"chunks has rows.*choose a data folder without data"):
        await bring(other_url, tmp_path)
    await asyncio.to_thread(migrations.upgrade, bare_url)
    query(bare_url, "INSERT INTO users (name, role, password_hash) VALUES ('ann', 'administrator', 'x') RETURNING id")
    with pytest.raises(Conflict, match="users has rows"):
        await bring(bare_url, tmp_path)


@on_either_database
async def test_chunks_that_go_under_the_snapshot_are_noticed(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRUNCATE, as dropping and compressing a chunk do it, does not wait for snapshots: they see an empty table then."""
    await fill(db.engine)
    truncated: list[PieceRequest] = []

    def read_behind_truncate(connection: Connection, request: PieceRequest) -> tuple[int, str]:
        if request.table == "vmstat_linux" and not truncated:
            truncated.append(request)
            with psycopg.connect(db.url) as other:
                other.execute("TRUNCATE samples.vmstat_linux")
        return read_fingerprint(connection, request)

    monkeypatch.setattr(dump, "read_fingerprint", read_behind_truncate)
    manifest, progress = await save(db.url, tmp_path)
    assert truncated
    # The pieces of before are kept; those of the table are what the new snapshot sees: nothing.
    assert progress.n_kept > 0
    assert not any(piece.table == "vmstat_linux" for piece in manifest.pieces)


# --- sealed samples: each once, whether it was a row or sealed when the backup before was made ---


@on_either_database
async def test_rows_that_were_sealed_since_are_not_restored_twice(db: Database, other_url: str, tmp_path: Path) -> None:
    await fill(db.engine)
    csv = await export(db.engine), await export(db.engine, "beta")
    await save(db.url, tmp_path)
    await seal_all(db.sessions, "alpha")
    manifest, _ = await save(db.url, tmp_path)
    assert any(piece.key.startswith("sealed/") for piece in manifest.pieces)
    again, progress = await save(db.url, tmp_path)
    assert [piece for piece in again.pieces if piece.mark] == [piece for piece in manifest.pieces if piece.mark]
    assert progress.n_kept >= sum(1 for piece in again.pieces if piece.mark)
    # Late, in a time that is sealed: a row, then part of the block.
    await Agent(db.engine).send_file(vmstat_text(vmstat_times(7)), key="late")
    await save(db.url, tmp_path)
    await seal_all(db.sessions, "alpha")
    last, _ = await save(db.url, tmp_path)
    assert files_of(tmp_path) == {piece.file for piece in last.pieces}
    csv = await export(db.engine), csv[1]
    await bring(other_url, tmp_path)
    async with opened_engine(other_url, pool_size=2) as other:
        assert (await export(other), await export(other, "beta")) == csv
