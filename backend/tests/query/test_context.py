"""The lines around a place of a stream's raw output, over the borders of chunks, gaps, and lines that never end."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host, StoredRejectedLine, Stream
from normstat.db.session import driver_of
from normstat.errors import DamagedChunk, NotFound
from normstat.query import context
from normstat.query.context import ByteRun, StreamContext, find_lines, read_context
from normstat.samples.chunks import compress_chunk, copy_chunks, read_chunks, unpack_body
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database


async def keep(sessions: Sessions, pieces: list[tuple[int, bytes]], rejected: dict[int, int] | None = None) -> int:
    """A stream of these chunks (offset, bytes), with rejected lines (offset -> number); gives its id."""
    async with sessions() as session, session.begin():
        host = Host(name="web1")
        session.add(host)
        await session.flush()
        end = max(start + len(data) for start, data in pieces)
        stream = Stream(host_id=host.id, spec="vmstat_linux", key="k", acked_offset=end)
        session.add(stream)
        await session.flush()
        chunks = [(host.id, stream.id, compress_chunk(start, data)) for start, data in pieces]
        await copy_chunks(await driver_of(session), chunks, datetime.now(UTC))
        session.add_all(
            StoredRejectedLine(stream_id=stream.id, line_offset=offset, line_no=no, n_bytes=1, line_text="", reason="odd")
            for offset, no in (rejected or {}).items()
        )
        return stream.id


def test_damaged_chunks_are_named() -> None:
    text = b"r b w\n" * 100
    assert unpack_body(compress_chunk(0, text).body) == text
    for body in (b"", b"neither", compress_chunk(0, text).body[:-3]):
        with pytest.raises(DamagedChunk, match="damaged"):
            unpack_body(body)


async def look(sessions: Sessions, stream_id: int, offset: int, before: int = 2, after: int = 2) -> StreamContext:
    async with sessions() as session:
        return await read_context(session, stream_id, offset, before=before, after=after)


def texts(found: StreamContext) -> list[str]:
    return [("> " if line.is_target else "") + line.text for line in found.lines]


async def test_lines_around_a_place_are_found_over_the_borders_of_chunks(sessions: Sessions) -> None:
    data = "".join(f"line {number}\n" for number in range(10)).encode()
    # The second border is in the middle of a line, as chunks of very long lines are.
    pieces = [(0, data[:14]), (14, data[14:31]), (31, data[31:])]
    stream_id = await keep(sessions, pieces, {28: 5})
    found = await look(sessions, stream_id, 28)
    assert (found.host, found.spec, found.key, found.stream_id) == ("web1", "vmstat_linux", "k", stream_id)
    assert texts(found) == ["line 2", "line 3", "> line 4", "line 5", "line 6"]
    assert [line.offset for line in found.lines] == [14, 21, 28, 35, 42]
    assert [line.line_no for line in found.lines] == [3, 4, 5, 6, 7]
    assert {line.n_bytes for line in found.lines} == {7}
    # Any byte of the line, its end too, stands for the line.
    assert texts(await look(sessions, stream_id, 34)) == texts(found)
    assert texts(await look(sessions, stream_id, 0)) == ["> line 0", "line 1", "line 2"]
    assert texts(await look(sessions, stream_id, 69)) == ["line 7", "line 8", "> line 9"]
    assert texts(await look(sessions, stream_id, 28, 0, 0)) == ["> line 4"]
    assert [line.line_no for line in (await look(sessions, stream_id, 0)).lines] == [None, None, None]


async def test_a_gap_is_said_and_a_place_in_it_is_not_found(sessions: Sessions) -> None:
    stream_id = await keep(sessions, [(0, b"one\ntwo\n"), (100, b"half\nthree\n")])
    found = await look(sessions, stream_id, 105)
    assert texts(found) == ["two", "half", "> three"]
    assert [line.is_after_gap for line in found.lines] == [False, True, False]
    for offset in (8, 99, 111, 10**12):
        with pytest.raises(NotFound, match=f"at offset {offset}; it ends at 111"):
            await look(sessions, stream_id, offset)
    with pytest.raises(NotFound, match="no stream"):
        await look(sessions, stream_id + 1, 0)


async def test_a_gap_at_the_beginning_is_one_too(sessions: Sessions) -> None:
    found = await look(sessions, await keep(sessions, [(50, b"one\ntwo\n")]), 50)
    assert [(line.text, line.is_after_gap) for line in found.lines] == [("one", True), ("two", False)]


async def test_only_so_much_is_read_as_is_shown(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    line = b"x" * 99 + b"\n"
    pieces = [(start, line * 10) for start in range(0, 1_000_000, 1000)]
    stream_id = await keep(sessions, pieces)
    n_read: list[int] = []

    async def counted(session: AsyncSession, stream_id: int, *, start: int):  # type: ignore[no-untyped-def]
        async for place, data in read_chunks(session, stream_id, start=start):
            n_read.append(len(data))
            yield place, data

    monkeypatch.setattr(context, "read_chunks", counted)
    found = await look(sessions, stream_id, 500_000, 10, 10)
    assert [line.offset for line in found.lines] == list(range(499_000, 501_100, 100))
    assert sum(n_read) <= context.LOOK_BACKS[0] + 3000
    # More lines than the first look holds: the second one does.
    n_read.clear()
    found = await look(sessions, stream_id, 500_000, 200, 200)
    assert [line.offset for line in found.lines] == list(range(480_000, 520_100, 100))
    assert sum(n_read) <= context.LOOK_BACKS[0] + context.LOOK_BACKS[1] + 50_000


async def test_a_line_without_end_costs_bounded_memory(sessions: Sessions) -> None:
    """As a hostile line of many MiB is kept: in chunks of a MiB and more, without a newline."""
    piece = 1 << 20
    head = b"before\n"
    pieces = [(0, head), *((len(head) + number * piece, b"y" * piece) for number in range(8))]
    end = len(head) + 8 * piece
    stream_id = await keep(sessions, [*pieces, (end, b"\nafter\n")])
    middle = len(head) + 4 * piece + 5
    (target,) = (await look(sessions, stream_id, middle)).lines
    assert target.is_target
    assert target.is_cut
    assert target.text == "y" * context.MAX_TEXT_LENGTH
    assert target.n_bytes < context.LOOK_BACKS[-1] + context.LOOK_AHEAD + 3 * piece
    # From the line behind it, only its end is looked at, and it is not shown as if it were a line.
    assert texts(await look(sessions, stream_id, end + 1)) == ["> after"]
    near = (await look(sessions, stream_id, len(head) + 1)).lines
    assert [(line.text[:6], line.is_cut) for line in near] == [("before", False), ("yyyyyy", True)]


async def test_bytes_that_are_no_text_are_written_out(sessions: Sessions) -> None:
    stream_id = await keep(sessions, [(0, b"a\xffb\0c\r\n\xc3\xa9\n" + b"z" * 3000)])
    first, second, third = (await look(sessions, stream_id, 0)).lines
    assert first.text == "a\\xffb\\x00c"
    assert second.text == "é"
    assert (third.text, third.is_cut, third.n_bytes) == ("z" * 2000, True, 3000)


async def test_numbers_that_contradict_each_other_are_left_out(sessions: Sessions) -> None:
    stream_id = await keep(sessions, [(0, b"one\ntwo\nthree\n")], {0: 1, 8: 9})
    assert [line.line_no for line in (await look(sessions, stream_id, 4)).lines] == [None, None, None]


@given(lines=st.lists(st.binary(max_size=9).map(lambda data: data.replace(b"\n", b"")), min_size=1, max_size=9), last=st.booleans())
def test_every_byte_belongs_to_one_line(lines: list[bytes], last: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if last else b"")
    for offset in range(len(data)):
        found = find_lines([ByteRun(0, data, is_after_gap=False)], offset, 100, 100)
        assert found is not None
        starts = [line.offset for line in found]
        assert starts == [0, *(place + 1 for place, byte in enumerate(data) if byte == 10 and place + 1 < len(data))]
        (target,) = (line for line in found if line.is_target)
        assert target.offset <= offset < target.offset + target.n_bytes
        assert sum(line.n_bytes for line in found) == len(data)
