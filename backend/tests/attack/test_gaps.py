"""Gaps are lengths that an agent merely states: nothing may be as large as such a number says."""

from pathlib import Path

import psycopg
import pytest

from normstat.backup import backup_plan
from normstat.backup.backup_plan import BackupPlan
from normstat.db.schema.models import Chunk
from normstat.db.session import make_sessions
from normstat.errors import BadFrame
from normstat.ingest.protocol import MAX_GAP_BYTES, MAX_STREAM_BYTES, Frame, FrameKind, format_frames, parse_frames
from tests.backup.test_backup import bring, content, save
from tests.database_access import Database
from tests.databases import TestServer, on_either_database
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.rereading import reparse
from tests.ingest.sending import Agent, gap, stream
from tests.ingest.test_intake import assert_books_balance

pytestmark = on_either_database

MAX_LENGTH = 2**63 - 2


def chunk_pieces(url: str) -> list[str]:
    """The pieces of raw bytes that a backup would have."""
    with psycopg.connect(url) as connection:
        return [piece.key for piece in BackupPlan(connection).pieces() if piece.table == Chunk.__tablename__]


@pytest.mark.parametrize(
    ("kind", "offset", "length", "expected"),
    [
        ("gap", 0, MAX_LENGTH, "the maximum is"),
        ("gap", 0, MAX_GAP_BYTES + 1, "the maximum is"),
        ("gap", MAX_STREAM_BYTES, 1, "at most"),
        ("gap", 2**53, 1, "at most"),
        ("stream", MAX_STREAM_BYTES, 1, "at most"),
    ],
)
def test_what_no_host_can_have_had_is_refused(kind: str, offset: int, length: int, expected: str) -> None:
    body = f"{kind} vmstat_linux k {offset} {length} x\n".encode() + (b"\n" if kind == "stream" else b"")
    with pytest.raises(BadFrame, match=expected):
        parse_frames(body)


def test_the_longest_gap_is_taken() -> None:
    frame = Frame(FrameKind.GAP, "vmstat_linux", "k", MAX_STREAM_BYTES - MAX_GAP_BYTES, MAX_GAP_BYTES, "x")
    assert parse_frames(format_frames([frame])) == [frame]


async def test_reparse_of_a_stream_with_the_longest_gap(db: Database) -> None:
    text = vmstat_text(vmstat_times(20))
    await Agent(db.engine).send(stream(text), gap(len(text), MAX_GAP_BYTES))
    before = db.query("SELECT * FROM samples.vmstat_linux ORDER BY time")
    done = await reparse(make_sessions(db.engine), db.url)
    assert (done.state, done.n_bytes, done.n_bytes_done) == ("done", len(text), len(text))
    assert db.query("SELECT * FROM samples.vmstat_linux ORDER BY time") == before
    assert_books_balance(db.url)


async def test_few_bytes_far_apart_are_one_piece_of_a_backup(db: Database) -> None:
    """A gap costs its sender nothing: pieces are counted by the bytes that are there."""
    frames, offset = [], 0
    for _ in range(300):
        frames += [gap(offset, backup_plan.WINDOW_BYTES), stream(b"x\n", offset=offset + backup_plan.WINDOW_BYTES)]
        offset += backup_plan.WINDOW_BYTES + 2
    assert await Agent(db.engine).send(*frames) == {"k": offset}
    assert len(chunk_pieces(db.url)) == 1


async def test_windows_around_gaps_hold_every_byte_once(
    db: Database, server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gaps before, within and at the ends of windows; a second backup copies only what is new."""
    monkeypatch.setattr(backup_plan, "WINDOW_BYTES", 1000)
    agent = Agent(db.engine)
    text = vmstat_text(vmstat_times(100))
    offset = at = 0
    for n_bytes, n_lost in ((1, 5000), (999, 1), (1000, 3000), (2500, 10**6), (10, 10)):
        await agent.send(
            stream(b"y" * (n_bytes - 1) + b"\n", "unknown_any", "holes", offset=offset),
            gap(offset + n_bytes, n_lost, "unknown_any", "holes"),
        )
        offset += n_bytes + n_lost
    for _ in range(7):
        at = await agent.send_file(text[at : at + 700], offset=at)
    first, _ = await save(db.url, tmp_path)
    n_windows = len(chunk_pieces(db.url))
    assert n_windows == max(-(-4510 // 1000), -(-at // 1000))
    await agent.send_file(text[at:], offset=at)
    second, _ = await save(db.url, tmp_path)
    unchanged = {piece.key for piece in first.pieces if piece in second.pieces and piece.table == Chunk.__tablename__}
    assert {f"chunks/0-{number}" for number in range(at // 1000)} <= unchanged
    before = content(db.url)
    with server.fresh_database() as other_url:
        await bring(other_url, tmp_path)
        assert content(other_url) == before
