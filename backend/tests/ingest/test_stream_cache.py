"""A process goes on with the rows of streams as it wrote them, and sees when another one has written them."""

import json
from collections.abc import Callable

import psycopg
import pytest

from normstat.db.session import make_engine
from normstat.errors import DatabaseAway
from normstat.ingest.batching import IngestQueue
from normstat.ingest.protocol import Ack
from normstat.samples import ingest_rows, stream_cache
from tests.database_access import Database
from tests.databases import on_either_database
from tests.generated import mpstat_text
from tests.ingest.sending import opened_engine, stream
from tests.ingest.test_batches import WAIT_S, job_of

pytestmark = on_either_database

TEXT = mpstat_text(12, 2)
# In the midst of reports and of lines.
CUTS = (0, 333, 700, 1100, len(TEXT))
STATES = "SELECT reader_state, n_header, n_sample, bytes_by_kind, acked_offset FROM streams WHERE spec = 'mpstat_linux'"


@pytest.fixture
def n_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The number of rows of streams that were looked for in the database so far; where tables are made first, once more."""
    seen: list[int] = []
    find = ingest_rows.find_streams

    async def note(connection: psycopg.AsyncConnection, names: object) -> object:
        places = list(names)  # type: ignore[call-overload]
        seen.append(len(places))
        return await find(connection, places)

    monkeypatch.setattr(ingest_rows, "find_streams", note)
    return lambda: sum(seen)


async def send(queue: IngestQueue, begin: int, end: int, host: str = "alpha") -> int:
    """Send TEXT[begin:end]; return what is acknowledged."""
    frame = stream(TEXT[begin:end], "mpstat_linux", offset=begin, command="mpstat -P ALL 1")
    (ack,) = await queue.submit(job_of(host, frame), longest_wait_s=WAIT_S)
    assert isinstance(ack, Ack)
    return ack.offset


async def send_all(queues: list[IngestQueue], host: str = "alpha") -> None:
    """Send TEXT in pieces, by turns through the queues."""
    at = 0
    for number, cut in enumerate(CUTS[1:]):
        at = await send(queues[number % len(queues)], at, cut, host)
    assert at == len(TEXT)


async def test_rows_that_nobody_else_wrote_are_not_read_again(db: Database, n_read: Callable[[], int]) -> None:
    await send_all([IngestQueue(db.engine)])
    assert n_read() == 2
    (found,) = db.query(STATES)
    # Exactly what a process without a cache would have written.
    engines = [make_engine(db.url, pool_size=2) for _ in CUTS[1:]]
    try:
        await send_all([IngestQueue(each) for each in engines], host="beta")
    finally:
        for each in engines:
            await each.dispose()
    assert n_read() == 2 + len(CUTS) - 1
    one, other = db.query(STATES)
    assert one == other == found


async def test_rows_that_another_process_wrote_are_read(db: Database, n_read: Callable[[], int]) -> None:
    async with opened_engine(db.url, pool_size=2) as other:
        await send_all([IngestQueue(db.engine), IngestQueue(other)])
    assert n_read() == 1 + len(CUTS) - 1
    assert db.query("SELECT count(*), count(DISTINCT time) FROM samples.mpstat_linux") == [(36, 12)]


@pytest.mark.parametrize("change", ["acked_offset = 333", "command = 'changed'"])
async def test_a_row_that_was_changed_by_hand_is_read(db: Database, change: str) -> None:
    queue = IngestQueue(db.engine)
    at = await send(queue, 0, 700)
    with psycopg.connect(db.url) as connection:
        connection.execute(f"UPDATE streams SET {change}")
    if "333" in change:
        assert await send(queue, at, 1100) == 333, "the agent is told where the stream stands"
    else:
        assert await send(queue, at, 1100) > at
        assert db.query("SELECT command FROM streams") == [("changed",)]


async def test_what_was_rolled_back_is_not_remembered(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = IngestQueue(db.engine)
    at = await send(queue, 0, 700)

    async def fail(*_: object) -> None:
        raise psycopg.OperationalError("gone")

    monkeypatch.setattr(ingest_rows, "announce_all", fail)
    with pytest.raises(DatabaseAway):
        await send(queue, at, 1100)
    monkeypatch.undo()
    assert db.query("SELECT acked_offset FROM streams") == [(at,)]
    assert await send(queue, at, len(TEXT)) == len(TEXT)
    assert db.query("SELECT count(*), count(DISTINCT time) FROM samples.mpstat_linux") == [(36, 12)]


async def test_the_cache_is_bounded(db: Database, monkeypatch: pytest.MonkeyPatch, n_read: Callable[[], int]) -> None:
    monkeypatch.setattr(stream_cache, "MAX_STREAMS", 2)
    queue = IngestQueue(db.engine)
    for host in ("alpha", "beta", "gamma"):
        await send(queue, 0, 700, host)
    for host in ("gamma", "beta", "alpha"):
        await send(queue, 333, 1100, host)
    assert n_read() == 1 + 4, "the stream that was used longest ago is forgotten"
    monkeypatch.setattr(stream_cache, "MAX_STATE_BYTES", 10)
    await send(queue, 700, len(TEXT), "alpha")
    await send(queue, 700, len(TEXT), "alpha")
    assert n_read() == 1 + 5
    assert db.query("SELECT count(*) FROM samples.mpstat_linux WHERE host_id = 1") == [(36,)]


@pytest.mark.parametrize("state", [{"n": 2**70}, {"a": {"b": [1, 2.5, None, "é\x01"]}}])
async def test_states_come_back_as_they_are(state: dict[str, object]) -> None:
    """orjson reads a number of more than 64 bits as a float: such a state is not cached."""
    encoded = ingest_rows._encode(state)
    assert (encoded is None) == (state == {"n": 2**70})
    if encoded is not None:
        assert json.loads(encoded) == state
