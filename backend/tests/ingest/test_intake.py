"""Delivery is exact: what is acknowledged is stored once, what is not is not there, whatever is sent and in whatever order."""

import asyncio
import datetime as dt
import itertools
import random

import psycopg
import pytest

from normstat.db.session import make_engine
from normstat.errors import BadRequest, DatabaseAway, NotAllowed
from normstat.ingest.batching import AgentIdentity
from normstat.samples import ingest_rows, stream_rows
from normstat.samples.chunks import unpack_body
from tests.database_access import Database, query
from tests.databases import on_either_database
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.sending import Agent, gap, stream

VMSTAT_ROWS = (
    "SELECT time, procs_r, procs_b, memory_swpd, memory_free, memory_buff, memory_cache, swap_si, swap_so, io_bi, io_bo, system_in,"
    " system_cs, cpu_us, cpu_sy, cpu_id, cpu_wa, cpu_st FROM stat.vmstat_linux ORDER BY stream_id, line_offset"
)


def vmstat_rows(text: bytes) -> list[tuple[object, ...]]:
    """The rows of generated text, read independently; without the first, which is about the time since boot."""
    rows = []
    for line in text.decode().splitlines()[3:]:
        *values, day, clock = line.split()
        rows.append((dt.datetime.fromisoformat(f"{day}T{clock}+00:00"), *map(int, values)))
    return rows


def raw_bytes(url: str) -> bytes:
    return b"".join(unpack_body(bytes(body)) for (body,) in query(url, "SELECT body FROM chunks ORDER BY start_offset"))


def accounts(url: str) -> dict[str, object]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute("SELECT * FROM streams")
        assert cursor.description is not None
        names = [column.name for column in cursor.description]
        (row,) = cursor.fetchall()
        return dict(zip(names, row, strict=True))


def assert_books_balance(url: str) -> None:
    stream_row = accounts(url)
    bytes_by_kind = stream_row["bytes_by_kind"]
    assert isinstance(bytes_by_kind, dict)
    assert sum(bytes_by_kind.values()) + int(str(stream_row["n_gap_bytes"])) == stream_row["acked_offset"]


@pytest.mark.parametrize("seed", range(2))
async def test_nothing_is_missing_and_nothing_double_however_it_is_sent(agent: Agent, database_url: str, seed: int) -> None:
    numbers = random.Random(seed)
    text = vmstat_text(vmstat_times(400), seed)
    acked = 0
    for _ in range(400):
        if acked == len(text):
            break
        frames = []
        for _ in range(numbers.randrange(1, 4)):
            # Mostly from where the stream stands; sometimes from before, sometimes from the future.
            offset = min(len(text), max(0, acked + numbers.choice([0, 0, 0, -1, -700, -10_000, 1, 500])))
            frames.append(stream(text[offset : offset + numbers.choice([0, 1, 40, 103, 1000, 9000])], offset=offset))
        answer = (await agent.send(*frames))["k"]
        assert answer >= acked
        assert text[answer - 1 : answer] in {b"", b"\n"}
        acked = answer
    assert await agent.send_file(text[acked:], offset=acked) == len(text)
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)
    assert raw_bytes(database_url) == text
    assert_books_balance(database_url)


async def test_senders_at_once_double_nothing(agent: Agent, database_url: str) -> None:
    text = vmstat_text(vmstat_times(300))
    pieces = [0, 5_000, 12_345, 20_000, len(text)]
    for begin, end in itertools.pairwise(pieces):
        acked = (await agent.send(stream(b"", offset=0)))["k"]
        assert acked <= begin
        answers = await asyncio.gather(*(agent.send(stream(text[acked:end], offset=acked)) for _ in range(3)))
        assert answers[0] == answers[1] == answers[2]
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)
    assert raw_bytes(database_url) == text


async def test_hosts_at_once_share_new_tables(db: Database) -> None:
    text = vmstat_text(vmstat_times(30))
    cpu_text = mpstat_text(30, 2)
    agents = [Agent(db.engine, host=f"host{number}") for number in range(4)]
    answers = await asyncio.gather(
        *(agent.send(stream(text), stream(cpu_text, "mpstat_linux", "m", command="mpstat -P ALL 1")) for agent in agents)
    )
    assert all(answer == {"k": len(text), "m": len(cpu_text)} for answer in answers)
    assert db.query("SELECT count(*), count(DISTINCT host_id) FROM stat.vmstat_linux") == [(4 * 29, 4)]
    assert db.query("SELECT count(*) FROM stat.mpstat_linux") == [(4 * 30 * 3,)]


@on_either_database
async def test_gap_is_noted_and_passed(agent: Agent, database_url: str) -> None:
    text = vmstat_text(vmstat_times(30))
    line = text.index(b"\n", 1500) + 1
    lost_end = text.index(b"\n", 1800) + 10  # in the middle of a line
    answer = await agent.send(stream(text[:line]), gap(line, lost_end - line), stream(text[lost_end:], offset=lost_end))
    assert answer == {"k": len(text)}
    assert query(database_url, "SELECT start_offset, end_offset FROM gaps") == [(line, lost_end)]
    assert accounts(database_url)["n_gap_bytes"] == lost_end - line
    assert_books_balance(database_url)
    expected = vmstat_rows(text)
    found = query(database_url, VMSTAT_ROWS)
    # The rest of the line whose beginning was lost is no sample, though it may look like one.
    rest_end = text.index(b"\n", lost_end) + 1
    n_before, n_after = text[:line].count(b"\n") - 3, text[rest_end:].count(b"\n")
    assert found == expected[:n_before] + expected[-n_after:]
    assert raw_bytes(database_url) == text[:line] + text[lost_end:]


@on_either_database
async def test_gap_is_not_passed_before_what_comes_before_it(agent: Agent, database_url: str) -> None:
    text = vmstat_text(vmstat_times(5))
    assert await agent.send(gap(100, 50)) == {"k": 0}
    assert await agent.send_file(text) == len(text)
    assert await agent.send(gap(0, len(text))) == {"k": len(text)}
    assert query(database_url, "SELECT count(*) FROM gaps") == [(0,)]
    assert await agent.send(gap(10, len(text))) == {"k": len(text) + 10}
    assert query(database_url, "SELECT start_offset, end_offset FROM gaps") == [(len(text), len(text) + 10)]


@on_either_database
async def test_unknown_spec_is_kept_raw(agent: Agent, database_url: str) -> None:
    text = b"first line\nsecond line\nunfinished"
    assert await agent.send_file(text, "fancystat_beos") == 23
    assert raw_bytes(database_url) == text[:23]
    found = accounts(database_url)
    assert (found["n_ignored"], found["n_sample"], found["bytes_by_kind"]) == (2, 0, {"ignored": 23})


@on_either_database
async def test_spec_that_becomes_known_goes_on_with_the_right_state(agent: Agent, database_url: str) -> None:
    text = vmstat_text(vmstat_times(20))
    half = text.index(b"\n", 1000) + 1
    await agent.send_file(text[:half], "vmstat_beos")
    with psycopg.connect(database_url) as connection:  # what a newer program would find
        connection.execute("UPDATE streams SET spec = 'vmstat_linux'")
    assert await agent.send_file(text[half:], offset=half) == len(text)
    n_after = text[half:].count(b"\n")
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)[-n_after:]


@on_either_database
async def test_token_of_one_host_is_for_no_other(db: Database) -> None:
    await Agent(db.engine, host="alpha").send_file(b"")
    ((host_id,),) = db.query("SELECT id FROM hosts")
    bound = AgentIdentity(host_id=int(str(host_id)), token_id=1)
    text = vmstat_text(vmstat_times(3))
    assert await Agent(db.engine, "alpha", bound).send_file(text) == len(text)
    with pytest.raises(NotAllowed):
        await Agent(db.engine, "beta", bound).send_file(text)
    assert db.query("SELECT name FROM hosts") == [("alpha",)]


@pytest.mark.parametrize("name", ["", "a b", "a/b", "..", "\0", "ä", "x" * 201])
async def test_impossible_host_names_are_refused(name: str) -> None:
    nowhere = make_engine("postgresql://127.0.0.1:1/nothing", pool_size=1)
    with pytest.raises(BadRequest, match="Normstat-Host"):
        await Agent(nowhere, host=name).send_file(b"")


async def test_database_away_is_no_acknowledgement() -> None:
    nowhere = make_engine("postgresql://127.0.0.1:1/nothing", pool_size=1)
    with pytest.raises(DatabaseAway):
        await Agent(nowhere).send_file(vmstat_text(vmstat_times(3)))


@on_either_database
async def test_host_knows_what_its_agent_said(db: Database) -> None:
    await Agent(db.engine).send_file(vmstat_text(vmstat_times(3)))
    assert db.query("SELECT name, os, agent_version, last_seen_at > now() - interval '1 min', clock_offset_s FROM hosts") == [
        ("alpha", "Linux 6.1.0 x86_64", "1.0", True, None)
    ]
    assert db.query("SELECT command, first_sample_at, last_sample_at FROM streams") == [
        ("vmstat -n -t 1", START + dt.timedelta(seconds=1), START + dt.timedelta(seconds=2))
    ]
    assert db.query("SELECT name, first_sample_at, last_sample_at FROM instances") == [
        ("", START + dt.timedelta(seconds=1), START + dt.timedelta(seconds=2))
    ]


@on_either_database
async def test_failure_in_the_middle_leaves_nothing(agent: Agent, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = vmstat_text(vmstat_times(20))
    await agent.send_file(text[:600])
    before = (accounts(database_url), raw_bytes(database_url), query(database_url, VMSTAT_ROWS))

    async def fail(*_: object) -> None:
        raise psycopg.OperationalError("the connection is lost")

    # The last thing that is written for a stream: samples and chunks are in the transaction by then.
    monkeypatch.setattr(stream_rows, "add_gaps", fail)
    with pytest.raises(DatabaseAway):
        await agent.send_file(text)
    monkeypatch.undo()
    assert (accounts(database_url), raw_bytes(database_url), query(database_url, VMSTAT_ROWS)) == before
    assert await agent.send_file(text) == len(text)
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)


@on_either_database
async def test_connection_lost_in_the_middle_is_no_acknowledgement(
    agent: Agent, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = vmstat_text(vmstat_times(20))
    await agent.send_file(text[:600])
    announce_all = ingest_rows.announce_all

    async def kill_and_announce(*arguments: object) -> None:
        query(
            database_url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
        )
        await announce_all(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest_rows, "announce_all", kill_and_announce)
    with pytest.raises(DatabaseAway):
        await agent.send_file(text)
    monkeypatch.undo()
    assert await agent.send_file(text) == len(text)
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)


@on_either_database
async def test_new_samples_are_announced_with_the_commit(agent: Agent, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as listener:
        listener.execute("LISTEN normstat_live")
        await agent.send_file(vmstat_text(vmstat_times(3)))
        (notice,) = listener.notifies(timeout=120, stop_after=1)
        await agent.send_file(b"")
        assert list(listener.notifies(timeout=0)) == []
    assert notice.payload == '[{"host":"alpha","spec":"vmstat_linux","last_sample_at":"2026-11-21T12:00:02+00:00"}]'
