"""Packing: what is read of raw bytes stays the same, chunk by chunk, whoever reads, packs, sends or removes at the same time."""

import asyncio
import itertools
import threading
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from normstat.codecs import pack_codec
from normstat.codecs.pack_codec import StoredChunk, build_pack, cut_frame, group_chunks, pack_frame, read_directory, unpack_frame
from normstat.compaction import packing_run
from normstat.compaction.packing_run import find_run, limit_at, pack_chunks, pack_next
from normstat.db.schema.job_models import JobState
from normstat.db.session import make_sessions
from normstat.db.turns import Turns
from normstat.errors import DamagedChunk
from normstat.query.context import read_context
from normstat.records.reparse_rows import ReparseScope
from normstat.samples.chunks import list_packed_starts, list_starts
from tests.compaction.raw_view import counts, pack_all, read_whole, stream_ids, views
from tests.database_access import Database
from tests.databases import on_either_database
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.rereading import books, export, reparse
from tests.ingest.sending import Agent, gap
from tests.ingest.test_reparse import fill, send_in_pieces

NOON = datetime(2026, 3, 5, 12, 0, 5, tzinfo=UTC)
DAY = timedelta(days=1)
OFFSETS = (0, 1, 4321, 9499, 9500, 10**9)


@pytest.fixture
def small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several frames a pack and several packs a stream, of little text."""
    monkeypatch.setattr(pack_codec, "FRAME_BYTES", 3000)
    monkeypatch.setattr(packing_run, "MAX_PACK_BYTES", 8000)


def at(chunk_start: int, data: bytes, received_at: datetime) -> StoredChunk:
    return StoredChunk(chunk_start, data, received_at)


def test_the_limit_is_a_midnight_so_that_packs_are_of_whole_days() -> None:
    assert limit_at(NOON, 1) == datetime(2026, 3, 4, tzinfo=UTC)
    assert limit_at(datetime.fromisoformat("2026-03-05T01:00:00+02:00"), 0) == datetime(2026, 3, 4, tzinfo=UTC)


def test_a_pack_ends_at_a_gap_at_midnight_and_before_what_is_young() -> None:
    first, second = at(0, b"ab", NOON), at(2, b"c", NOON)
    assert find_run([first, second, at(4, b"e", NOON)], NOON + DAY) == [first, second]
    assert find_run([first, second, at(3, b"d", NOON + DAY / 2)], NOON + DAY) == [first, second]
    assert find_run([first, second, at(3, b"d", NOON + DAY / 4)], NOON + DAY / 4) == [first, second]
    assert find_run([at(0, b"ab", NOON + DAY)], NOON + DAY) == []
    assert find_run([], NOON) == []


def test_a_pack_gives_its_chunks_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_codec, "FRAME_BYTES", 2000)
    text = vmstat_text(vmstat_times(200))
    cuts = [0, 1, 1, 1900, 1999, 7000, len(text) - 1, len(text)]
    base = 2**62
    chunks = [
        at(base + start, text[start:end], NOON + number * timedelta(milliseconds=700))
        for number, (start, end) in enumerate(itertools.pairwise(cuts))
        if start < end
    ]
    frames = [pack_frame(b"".join(chunk.data for chunk in group)) for group in group_chunks(chunks)]
    pack = build_pack(chunks, frames)
    assert (pack.start, pack.end, pack.n_chunks) == (base, base + len(text), len(chunks))
    places = read_directory(pack.directory, pack.start, pack.end)
    assert len(places) == len(frames) > 3
    found: list[StoredChunk] = []
    for place in places:
        data = unpack_frame(pack.body[place.body_start : place.body_end], place.end - place.start)
        found += cut_frame(place, data, 0)
    assert [(chunk.start, chunk.data) for chunk in found] == [(chunk.start, chunk.data) for chunk in chunks]
    assert [chunk.received_at for chunk in found] == [chunk.received_at.replace(microsecond=0) for chunk in chunks]
    last = places[-1]
    data = unpack_frame(pack.body[last.body_start :], last.end - last.start)
    assert cut_frame(last, data, last.end - 1)[0].data == data[-1:]
    with pytest.raises(DamagedChunk, match="end at"):
        read_directory(pack.directory, pack.start, pack.end + 1)
    for damaged in (b"", pack.directory[:-4]):
        with pytest.raises(DamagedChunk):
            read_directory(damaged, pack.start, pack.end)
    for damaged in (b"", b"\x07abc", frames[0][:-3]):
        with pytest.raises(DamagedChunk):
            unpack_frame(damaged, 10)


def test_bytes_that_are_no_text_are_packed_as_they_are() -> None:
    for data in (b"\0" * 9000, bytes(range(256)) * 40, b"x" * 100_000, b"", "ümläut ".encode() * 500):
        assert unpack_frame(pack_frame(data), len(data)) == data


@on_either_database
@pytest.mark.usefixtures("small_packs")
async def test_all_ways_to_read_give_the_same(db: Database) -> None:
    await fill(Agent(db.engine))
    before, csv, kept = await views(db.sessions, OFFSETS), await export(db.engine), books(db.url)
    n_chunks, _ = counts(db.url)
    done = await pack_all(db.sessions)
    assert done.is_all
    left, n_packs = counts(db.url)
    assert left == 0
    assert len(before) < n_packs < n_chunks
    assert await views(db.sessions, OFFSETS) == before
    ((n_bytes, n_packed),) = db.query(
        "SELECT sum(acked_offset - n_gap_bytes), sum(packed_bytes) FROM streams LEFT JOIN stream_changes ON stream_id = id",
    )
    assert n_bytes == n_packed == done.n_bytes
    # Samples derived from packed bytes are the same, and when a rejected line came is so to the second.
    record = await reparse(db.sessions, db.url)
    assert (record.state, record.message) == (JobState.DONE, "")
    assert await export(db.engine) == csv
    again = books(db.url)
    assert len(again["rejected"]) == len(kept["rejected"]) > 5
    for old, new in zip(kept["rejected"], again["rejected"], strict=True):
        assert isinstance(old["received_at"], datetime)
        assert new["received_at"] == old["received_at"].replace(microsecond=0)
        assert new["line_text"] == old["line_text"]


@on_either_database
@pytest.mark.usefixtures("small_packs")
async def test_agents_go_on_and_their_new_chunks_follow_the_packed_ones(db: Database) -> None:
    agent, text = Agent(db.engine), vmstat_text(vmstat_times(300))
    stop = await send_in_pieces(agent, text[:12_345], "vmstat_linux")
    await pack_all(db.sessions)
    # Sent once more, with bytes that are packed: known ones are skipped.
    assert await send_in_pieces(agent, text, "vmstat_linux") == len(text)
    (stream_id,) = await stream_ids(db.sessions)
    async with db.sessions() as session:
        chunks = await read_whole(session, stream_id)
        assert b"".join(chunk.data for chunk in chunks) == text
        assert stop in {chunk.start for chunk in chunks}
        starts = [chunk.start for chunk in chunks]
        coarse = await list_starts(session, stream_id, after=starts[3])
        assert set(coarse) < set(starts)
        assert coarse[-1] == starts[-1]
        inner = await list_packed_starts(session, stream_id, after=coarse[0])
        assert inner == [start for start in starts if coarse[0] < start < coarse[1]]
        assert await list_packed_starts(session, stream_id, after=starts[-1]) == []
        # Lines over the border of packed and other chunks.
        found = await read_context(session, stream_id, stop, before=3, after=3)
        assert "".join(f"{line.text}\n" for line in found.lines).encode() in text
        assert [line.is_target for line in found.lines] == 3 * [False] + [True] + 3 * [False]
    csv = await export(db.engine)
    await reparse(db.sessions, db.url, ReparseScope())
    assert await export(db.engine) == csv
    await pack_all(db.sessions)
    async with db.sessions() as session:
        assert b"".join(chunk.data for chunk in await read_whole(session, stream_id)) == text


@on_either_database
@pytest.mark.usefixtures("small_packs")
@pytest.mark.matrix
async def test_readers_see_all_bytes_while_two_processes_pack(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    text = vmstat_text(vmstat_times(900))
    await send_in_pieces(Agent(db.engine), text, "vmstat_linux", size=400)
    (stream_id,) = await stream_ids(db.sessions)
    other = make_sessions(db.engine)
    is_read = threading.Event()

    def pack_when_read(data: bytes) -> bytes:
        # However slow the machine: both have begun while the first reads are made.
        assert is_read.wait(60)
        return pack_frame(data)

    monkeypatch.setattr(packing_run, "pack_frame", pack_when_read)
    tasks = [asyncio.create_task(pack_all(db.sessions)), asyncio.create_task(pack_all(other))]
    n_reads = 0
    while not all(task.done() for task in tasks):
        async with db.sessions() as session:
            assert b"".join(chunk.data for chunk in await read_whole(session, stream_id, 3000)) == text
            # Each batch in a transaction of its own sees another state, as that of a reparse does.
        n_reads += 1
        if n_reads > 2:
            is_read.set()
    assert n_reads > 2
    n_bytes = sum([(await task).n_bytes for task in tasks])
    while n_bytes < len(text):
        # One of them came upon chunks that the other had packed, and left them.
        n_bytes += (await pack_all(db.sessions)).n_bytes
    assert n_bytes == len(text)
    assert db.query("SELECT packed_to, packed_bytes FROM stream_changes") == [(len(text), len(text))]


async def test_what_is_removed_meanwhile_is_not_brought_back(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    text = vmstat_text(vmstat_times(100))
    await send_in_pieces(Agent(db.engine), text, "vmstat_linux", size=500)
    (stream_id,) = await stream_ids(db.sessions)
    ((host_id,),) = db.query("SELECT id FROM hosts")
    assert isinstance(host_id, int)

    def pack_slowly(data: bytes) -> bytes:
        with psycopg.connect(db.url) as connection:
            connection.execute("DELETE FROM chunks WHERE start_offset < 1000")
        return pack_frame(data)

    before = datetime.now(UTC) + DAY
    with monkeypatch.context() as patch:
        patch.setattr(packing_run, "pack_frame", pack_slowly)
        assert await pack_next(db.sessions, stream_id, host_id, before=before, share=1) is None
    n_chunks, n_packs = counts(db.url)
    assert (n_chunks > 5, n_packs) == (True, 0)
    assert await pack_next(db.sessions, stream_id, host_id, before=before, share=1) is not None
    assert counts(db.url) == (0, 1)


async def test_a_damaged_chunk_stops_no_other_stream(db: Database) -> None:
    agent = Agent(db.engine)
    for key in ("a", "b", "c"):
        await agent.send_file(vmstat_text(vmstat_times(20)), key=key)
    with psycopg.connect(db.url) as connection:
        connection.execute("UPDATE chunks SET body = '\\x00' FROM streams WHERE streams.id = stream_id AND key = 'b'")
    turns: Turns[int] = Turns("packing_failed")
    done = await pack_chunks(db.sessions, before=datetime.now(UTC) + DAY, budget_s=60, turns=turns)
    assert (done.n_streams, done.n_done, done.n_failed, done.is_all) == (3, 2, 1, False)
    assert counts(db.url) == (1, 2)


async def test_a_full_disk_loses_nothing(db: Database) -> None:
    texts = {key: vmstat_text(vmstat_times(40), seed) for seed, key in enumerate("ab")}
    for key, text in texts.items():
        await send_in_pieces(Agent(db.engine), text, "vmstat_linux", key, size=500)
    n_chunks, _ = counts(db.url)
    with psycopg.connect(db.url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION fill_up() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$"
        )
        connection.execute("CREATE TRIGGER full_disk BEFORE INSERT ON packed_chunks FOR EACH ROW EXECUTE FUNCTION fill_up()")
        # As if the database were away: the next run tries again.
        with pytest.raises(DBAPIError, match="No space left"):
            await pack_all(db.sessions)
        assert counts(db.url) == (n_chunks, 0)
        connection.execute("DROP TRIGGER full_disk ON packed_chunks")
    assert (await pack_all(db.sessions)).is_all
    assert counts(db.url) == (0, 2)
    async with db.sessions() as session:
        for stream_id, text in zip(await stream_ids(db.sessions), texts.values(), strict=True):
            assert b"".join(chunk.data for chunk in await read_whole(session, stream_id)) == text


async def test_young_chunks_stay_and_the_job_tells_how_far_it_is(db: Database) -> None:
    agent = Agent(db.engine)
    await agent.send_file(vmstat_text(vmstat_times(20)), key="old")
    await agent.send(gap(5000, 10, key="old"))
    with psycopg.connect(db.url) as connection:
        connection.execute("UPDATE chunks SET received_at = now() - interval '3 days'")
    await agent.send_file(vmstat_text(vmstat_times(20)), key="young")
    await packing_run.run_packing(db.sessions, after_days=1, budget_s=60, turns=Turns("packing_failed"))
    assert counts(db.url) == (1, 1)
    jobs = "SELECT state, n_done, n_total, unit, message FROM jobs WHERE kind = 'packing'"
    assert db.query(jobs) == [("done", 1, 1, "streams", "")]
    await packing_run.run_packing(db.sessions, after_days=1, budget_s=60, turns=Turns("packing_failed"))
    assert db.query(jobs) == [("done", 0, 0, "streams", "")]
