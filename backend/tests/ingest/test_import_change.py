"""An import is renamed, dated again and moved to another host; each change can be undone."""

import datetime as dt
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from normstat.compaction.seal_job import Sealing
from normstat.db.schema.job_models import ImportRow
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, Conflict
from normstat.ingest import import_rows
from normstat.ingest.import_rows import Import
from normstat.ingest.imports.change import change_import, undo_change
from normstat.ingest.imports.import_queue import ImportQueue
from normstat.samples.rollups.rollup_job import roll_up
from tests.database_access import Database
from tests.databases import on_either_database
from tests.ingest.rereading import books, export

CAPTURE = Path(__file__).parents[1] / "golden/synthetic/sar_linux/sysstat-9.0.4--midnight-restart-twelve-hours.txt"
SAR = CAPTURE.read_bytes()
DAY = timedelta(days=1)
LATER = datetime(2026, 12, 1, tzinfo=UTC)
EVENTS = """
    SELECT start_at, not_before_at, text FROM events JOIN event_hosts ON event_id = events.id JOIN hosts ON hosts.id = host_id
    WHERE hosts.name = '{}' ORDER BY start_at, text
"""


class Imports:
    """Imports of a database, one after the other."""

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self._folder = folder
        self._queue = ImportQueue(db.engine, db.url, folder, 1 << 30)

    async def load(self, data: bytes, host: str = "alpha", **options: object) -> Import:
        file = self._folder / "upload.file"
        file.write_bytes(data)
        row = ImportRow(host=host, name="sar.txt", file_path=str(file), **options)
        async with open_write_session(self._db.sessions) as session:
            queued = await import_rows.add_import(session, row, n_bytes=len(data), asked_by="anna")
        return await self._run(queued.id)

    async def change(self, import_id: int, **change: object) -> Import:
        async with open_write_session(self._db.sessions) as session:
            await change_import(session, import_id, **change)  # type: ignore[arg-type]
        return await self._run(import_id)

    async def undo(self, import_id: int) -> Import:
        async with open_write_session(self._db.sessions) as session:
            await undo_change(session, import_id)
        return await self._run(import_id)

    async def _run(self, import_id: int) -> Import:
        await self._queue.run_all()
        async with open_read_session(self._db.sessions) as session:
            return await import_rows.read_import(session, import_id)


@pytest.fixture
def imports(db: Database, tmp_path: Path) -> Imports:
    return Imports(db, tmp_path)


async def state_of(db: Database, host: str) -> tuple[object, ...]:
    return await export(db.engine, host), books(db.url, host), db.query(EVENTS.format(host))


def shifted(csv: bytes, by: timedelta) -> bytes:
    """Return an export as if its samples were later."""
    lines = []
    for line in csv.decode().splitlines(keepends=True):
        shifted_line = line
        time, _, rest = line.partition(",")
        if time[:2] == "20":
            at = datetime.fromisoformat(time) + by
            epoch, _, rest = rest.partition(",")
            shifted_line = f"{at:%Y-%m-%dT%H:%M:%SZ},{float(epoch) + by.total_seconds():.0f},{rest}"
        lines.append(shifted_line)
    return "".join(lines).encode()


async def settle(db: Database) -> None:
    """Roll up and seal all that is there."""
    assert (await roll_up(db.sessions, now=LATER, budget_s=60)).is_all
    await Sealing(db.sessions, 1).seal(now=LATER, budget_s=60)


@on_either_database
async def test_samples_events_and_rollups_move_to_the_new_host_and_day_and_back(db: Database, imports: Imports) -> None:
    loaded = await imports.load(SAR)
    await imports.load(SAR, "reference")
    await settle(db)
    before = await state_of(db, "alpha")
    moved = await imports.change(loaded.id, label="  night  batch ", host="beta", shift_s=-86400.0)
    assert (moved.state, moved.label, moved.host, moved.shift_s) == ("done", "night batch", "beta", -86400.0)
    assert moved.message == "changed: 8 samples moved"
    [file] = moved.files
    assert (file.shift_s, file.first_sample_at) == (-86400.0, datetime(2026, 11, 20, 23, 50, 1, tzinfo=UTC))
    assert await export(db.engine, "beta") == shifted(await export(db.engine, "reference"), -DAY)
    assert (await export(db.engine, "alpha")).count(b"\n") == 1
    left = books(db.url)
    assert (left["streams"], left["instances"], db.query(EVENTS.format("alpha"))) == ([], [], [])
    events = [(at - DAY, None if first is None else first - DAY, text) for at, first, text in db.query(EVENTS.format("reference"))]
    assert len(events) == 1
    assert db.query(EVENTS.format("beta")) == events
    # Wide graphs of both hosts are drawn from what is there now.
    await settle(db)
    rolled = "SELECT count(DISTINCT field_key) FROM rollups JOIN hosts ON hosts.id = host_id WHERE hosts.name = '{}'"
    assert db.query(rolled.format("beta")) == db.query(rolled.format("reference"))
    back = await imports.undo(loaded.id)
    assert (back.label, back.host, back.shift_s, back.earlier) == ("", "alpha", 0.0, None)
    assert await state_of(db, "alpha") == before
    assert (await export(db.engine, "beta")).count(b"\n") == 1


@on_either_database
async def test_a_file_that_has_grown_goes_on_with_its_new_date(db: Database, imports: Imports) -> None:
    lines = SAR.splitlines(keepends=True)
    loaded = await imports.load(b"".join(lines[:5]))
    await imports.change(loaded.id, start=datetime(2026, 11, 30, 11, 50, 1, tzinfo=UTC))
    grown = await imports.load(SAR)
    assert [file.n_samples_new for file in grown.files] == [6]
    assert db.query("SELECT shift_s, first_sample_at FROM streams") == [
        (8 * 86400.0 + 12 * 3600.0, datetime(2026, 11, 30, 11, 50, 1, tzinfo=UTC))
    ]
    again = await imports.load(SAR)
    assert [(file.n_samples_new, file.note) for file in again.files] == [(0, "already loaded")]


@on_either_database
async def test_the_same_change_again_completes_one_that_was_stopped(db: Database, imports: Imports) -> None:
    loaded = await imports.load(SAR)
    async with open_write_session(db.sessions) as session:
        await change_import(session, loaded.id, host="beta")
        await session.execute(text("UPDATE jobs SET state = 'stopped'"))
    moved = await imports.change(loaded.id, host="beta")
    assert (moved.state, moved.message) == ("done", "changed: 8 samples moved")
    assert (await imports.undo(loaded.id)).host == "alpha"


@on_either_database
async def test_what_cannot_move_is_refused_as_a_whole(db: Database, imports: Imports) -> None:
    loaded = await imports.load(SAR)
    await imports.load(SAR, "beta")
    with pytest.raises(Conflict, match="beta has the same sar_linux output already"):
        await imports.change(loaded.id, host="beta")
    with pytest.raises(BadRequest, match="1970 to 2199"):
        await imports.change(loaded.id, shift_s=-4e9)
    with pytest.raises(Conflict, match="nothing to undo"):
        await imports.undo(loaded.id)
    each = await imports.load(SAR.replace(b"web1", b"web9"), "gamma", is_each_host=True)
    with pytest.raises(Conflict, match="each host that its files name"):
        await imports.change(each.id, host="delta")
    async with db.sessions() as session, session.begin():
        await session.execute(text("INSERT INTO stream_changes (stream_id, kept_from) SELECT id, 10 FROM streams"))
    with pytest.raises(Conflict, match="Retention removed raw bytes"):
        await imports.change(loaded.id, shift_s=60.0)
    [file] = (await imports.change(loaded.id, label="Monday")).files
    assert file.first_sample_at == dt.datetime(2026, 11, 21, 23, 50, 1, tzinfo=UTC)
