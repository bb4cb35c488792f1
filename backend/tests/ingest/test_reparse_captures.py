"""A capture of every spec, sent in pieces and read again: the same samples, accounts and rejected lines, byte for byte."""

import datetime as dt
import random
from collections.abc import Collection

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.schema.job_models import JobState
from normstat.ingest.batching import Recording
from normstat.stats.catalogue import load_catalogue
from normstat.stats.records import Timing
from tests.database_access import Database
from tests.golden_captures import Capture, captures, specs_of_families
from tests.ingest.rereading import books, export, reparse
from tests.ingest.sending import Agent, stream

# What tools that print no times, or no days, must be told.
TIMING = Timing(date=dt.date(2026, 11, 21), start_us=1_795_262_400_000_000, interval_us=10_000_000)
# One of each spec: all of them take minutes on each database (and were tried).
MAX_BYTES = 15_000


def chosen(specs: Collection[str]) -> list[Capture]:
    by_spec: dict[str, list[Capture]] = {}
    for capture in captures():
        if len(capture.data) <= MAX_BYTES and capture.spec in specs:
            by_spec.setdefault(capture.spec, []).append(capture)
    return [found[-1] for found in by_spec.values()]


async def load(engine: AsyncEngine, capture: Capture, numbers: random.Random, *, is_timed: bool) -> None:
    """Sends the capture in pieces of any size; with timing as an import does, to its end."""
    data = capture.data
    at = 0
    # What is left of a line is sent again with more behind it.
    size = numbers.randrange(500, 5000)
    recording = Recording(TIMING) if is_timed else None
    while at < len(data):
        is_last = at + size >= len(data)
        frame = stream(data[at : at + size], capture.spec, capture.name, offset=at, command=capture.command())
        acks = await Agent(engine).send(frame, recording=Recording(TIMING, is_final=True) if is_timed and is_last else recording)
        acked = acks[capture.name]
        if acked == at and is_last:
            return
        size = numbers.randrange(500, 5000) if acked > at else size * 2
        at = acked


FIRST_OF_EACH_FAMILY = [names[0] for names in specs_of_families().values()]
ALL = list(load_catalogue().specs)
FULL = (pytest.mark.matrix,)


# Each spec in one way, each way on one kind of database: what differs between specs is the same in all of them.
@pytest.mark.parametrize(
    ("server", "specs", "is_timed"),
    [
        pytest.param("postgresql", FIRST_OF_EACH_FAMILY, True, id="one of each family", marks=pytest.mark.slow),
        pytest.param("postgresql", ALL[::2], False, id="all as an agent sends them", marks=FULL),
        pytest.param("timescaledb", ALL[1::2], True, id="all as they are imported", marks=(*FULL, pytest.mark.timescale)),
    ],
    indirect=["server"],
)
async def test_reading_again_changes_nothing(db: Database, specs: list[str], *, is_timed: bool) -> None:
    numbers = random.Random(1)
    for capture in chosen(specs):
        await load(db.engine, capture, numbers, is_timed=is_timed)
    before, books_before = await export(db.engine), books(db.url)
    ids = db.query("SELECT id, name FROM instances ORDER BY id")
    record = await reparse(db.sessions, db.url)
    assert (record.state, record.message) == (JobState.DONE, "")
    assert record.n_samples_before == record.n_samples_after > 100
    assert await export(db.engine) == before
    books_after = books(db.url)
    for name, rows in books_before.items():
        for old, new in zip(rows, books_after[name], strict=True):
            if name == "rejected":
                # A sample of many lines came when its first line did, not when its last one showed that it cannot be kept.
                assert str(new["received_at"]) <= str(old["received_at"])
                old["received_at"] = new["received_at"]
            assert new == old
    assert db.query("SELECT id, name FROM instances ORDER BY id") == ids
