"""Damage of stored data: a check and a backup name it, all else is backed up, and the doctor tells."""

import asyncio
import re
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.backup.dump import back_up
from normstat.backup.inspection import inspect_store
from normstat.backup.manifest import Manifest
from normstat.backup.restore_tables import check_backup, restore
from normstat.comparison.saved_comparison_rows import SavedComparisonDraft, create_saved
from normstat.db.session import make_sessions, open_read_session, open_write_session
from normstat.doctor.check_result import CheckStatus
from normstat.doctor.database_facts import read_data_checks
from normstat.doctor.packed_checks import CHECKS
from normstat.doctor.work_checks import check_stored_data
from tests.backup.test_backup import add_artefact, bare_url, content, quiet
from tests.cli.commands import Commands
from tests.compaction.raw_view import pack_all
from tests.database_access import Database
from tests.databases import on_either_database
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.sending import Agent
from tests.query.filling import seal_all

pytestmark = on_either_database
__all__ = ["bare_url"]


def flip(url: str, table: str, column: str, where: str = "true") -> None:
    """Changes one bit in the middle of a stored value, as a disk may."""
    statement = sql.SQL(
        "UPDATE {table} SET {column} = set_byte({column}, length({column}) / 2, get_byte({column}, length({column}) / 2) # 1)"
        " WHERE ctid = (SELECT ctid FROM {table} WHERE " + where + " LIMIT 1)"
    )
    with psycopg.connect(url) as connection:
        done = connection.execute(statement.format(table=sql.Identifier(table), column=sql.Identifier(column)))
        assert done.rowcount == 1


async def fill(engine: AsyncEngine, folder: Path) -> None:
    """Something in each table that has packed values."""
    sessions = make_sessions(engine)
    await Agent(engine).send_file(vmstat_text(vmstat_times(300)))
    await pack_all(sessions)
    await Agent(engine, "beta").send_file(mpstat_text(30, 3), "mpstat_linux")
    await seal_all(sessions, "alpha")
    await add_artefact(sessions, folder, b"a;b 1\nc;d 2\n" * 50)
    async with open_write_session(sessions) as session:
        await create_saved(session, SavedComparisonDraft("kept", "", {}, b'{"findings": []}', "ann"))


# By column, how the line about each damaged value begins.
BODIES = [
    ("sealed_blocks", "body", "alpha, vmstat_linux, 20"),
    ("chunks", "body", "beta, mpstat_linux, bytes 0 to "),
    ("packed_chunks", "body", "alpha, vmstat_linux, bytes 0 to "),
    ("artefact_bytes", "body", "alpha, "),
    ("artefact_parts", "body", "alpha, "),
    ("comparisons", "result", "kept, "),
]
HEADS = [
    ("sealed_blocks", "head", "alpha, vmstat_linux, 20"),
    ("packed_chunks", "directory", "alpha, vmstat_linux, bytes 0 to "),
]


async def test_each_damaged_value_is_named_by_a_check_and_by_each_backup_until_it_is_whole(db: Database, tmp_path: Path) -> None:
    async def back_up_again() -> Manifest:
        # A folder for each round: what an earlier backup has whole is not copied again.
        return await asyncio.to_thread(back_up, db.url, tmp_path / places[0][1], quiet, CHECKS)

    await fill(db.engine, tmp_path)
    assert (await asyncio.to_thread(inspect_store, db.url, CHECKS, quiet)).damage == []
    for places in (BODIES, HEADS):
        for table, column, _ in places:
            flip(db.url, table, column)
        told = [one.describe() for one in (await asyncio.to_thread(inspect_store, db.url, CHECKS, quiet)).damage]
        assert len(told) == len(places)
        for (table, _, named), line in zip(places, told, strict=True):
            assert line.startswith(f"{table}: {named}")
            assert re.search(r": [\d,]+ bytes: ", line)
        damaged = await back_up_again()
        assert (damaged.damaged, (await back_up_again()).damaged) == (told, told)
        for table, column, _ in places:
            flip(db.url, table, column)
        whole = await back_up_again()
        assert (whole.damaged, whole.n_rows) == ([], damaged.n_rows)


class LostValue(NamedTuple):
    """A column of the third stream's rows that cannot be read, and how that is told."""

    schema: str
    table: str
    column: str
    named: str


LOST = [
    LostValue("public", "chunks", "body", "chunks: alpha, vmstat_linux, bytes 0 to ? of stream 3"),
    LostValue(
        "samples", "vmstat_linux", "procs_r", "vmstat_linux: alpha, vmstat_linux, 2026-11-21T09:00:00Z to 2026-11-21T10:00:00Z"
    ),
]
COLUMNS = """
    SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position
"""
BROKEN = """
    CREATE FUNCTION lost_piece(anyelement) RETURNS anyelement STABLE LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'missing chunk number 0 for toast value 7' USING ERRCODE = 'data_corrupted';
    END $$
"""


def lose(url: str, lost: LostValue) -> None:
    """Puts in place of a table what says of these rows what PostgreSQL says of a lost piece of a long value."""
    with psycopg.connect(url) as connection:
        names = [str(name) for (name,) in connection.execute(COLUMNS, [lost.schema, lost.table]).fetchall()]
        connection.execute(BROKEN)
        shown = [
            f"CASE WHEN stream_id = 3 THEN lost_piece({name}) ELSE {name} END AS {name}" if name == lost.column else name
            for name in names
        ]
        connection.execute(f"ALTER TABLE {lost.schema}.{lost.table} RENAME TO stored")
        connection.execute(f"CREATE VIEW {lost.schema}.{lost.table} AS SELECT {', '.join(shown)} FROM {lost.schema}.stored")


@pytest.mark.parametrize("lost", LOST, ids=lambda lost: lost.table)
async def test_what_postgresql_cannot_read_is_left_out_and_all_else_is_restored(
    db: Database, bare_url: str, tmp_path: Path, lost: LostValue
) -> None:
    agent = Agent(db.engine)
    for number, key in enumerate("abcd"):
        await agent.send_file(vmstat_text(vmstat_times(20, START.replace(hour=8 + number))), key=key)
    before = content(db.url)
    lose(db.url, lost)
    found = await asyncio.to_thread(inspect_store, db.url, CHECKS, quiet)
    manifest = await asyncio.to_thread(back_up, db.url, tmp_path, quiet, CHECKS)
    assert [damage.describe() for damage in found.damage] == manifest.damaged
    [told] = manifest.damaged
    assert told.startswith(lost.named)
    assert "missing chunk number 0" in told
    await asyncio.to_thread(restore, bare_url, tmp_path, await asyncio.to_thread(check_backup, tmp_path, quiet), quiet)
    name, place = ("chunks", 0) if lost.schema == "public" else (f"samples.{lost.table}", 3)
    assert content(bare_url)[name] == [row for row in before[name] if row[place] != 3]


async def test_commands_end_with_a_status_of_their_own_and_the_doctor_tells(db: Database, tmp_path: Path) -> None:
    normstat, sessions = Commands(db.url), make_sessions(db.engine)

    async def doctor() -> CheckStatus:
        async with open_read_session(sessions) as session:
            found = await read_data_checks(session)
        return check_stored_data(found, max((one.checked_at for one in found), default=vmstat_times(1)[0])).status

    await fill(db.engine, tmp_path)
    assert await doctor() is CheckStatus.NOT_CHECKED
    flip(db.url, "sealed_blocks", "body", "n_rows > 0")
    code, _, err = await normstat("backup", tmp_path / "backup")
    assert code == 3
    assert "damaged: sealed_blocks: alpha, vmstat_linux, " in err
    assert await doctor() is CheckStatus.ERROR
    code, out, err = await normstat("storage", "check")
    assert (code, "1 damaged" in out, "sealed_blocks: alpha" in err) == (3, True, True)
    flip(db.url, "sealed_blocks", "body", "n_rows > 0")
    code, out, err = await normstat("storage", "check")
    assert (code, "0 damaged" in out) == (0, True)
    assert await doctor() is CheckStatus.OK
