"""Names cost an agent nothing: how many streams and hosts it makes is limited, and who is refused keeps its bytes."""

import asyncio

import pytest
import structlog

from normstat.errors import BadRequest, NormstatError, TooLarge, TooManyRequests
from normstat.ingest import limits
from normstat.ingest.batching import AgentIdentity, IngestQueue, IngestRequest, Recording, set_limits
from normstat.ingest.limits import HOUR_S, HourlyCount, RefusalLog
from normstat.ingest.protocol import Ack, Frame
from normstat.ingest.transaction import IngestCache
from normstat.runtime.input_limits import RETRY_AFTER_S, IngestLimits
from normstat.stats.records import NO_TIMING
from tests.auth.test_throttle import Clock
from tests.database_access import Database
from tests.databases import on_either_database
from tests.generated import mpstat_text, vmstat_text, vmstat_times
from tests.ingest.sending import ANY_HOST, Agent, stream
from tests.ingest.test_intake import VMSTAT_ROWS, vmstat_rows

pytestmark = on_either_database

WAIT_S = 60.0
TEXT = vmstat_text(vmstat_times(5))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which new names are counted."""
    clock = Clock()
    monkeypatch.setattr(
        "normstat.ingest.batching.IngestCache",
        lambda: IngestCache(new_hosts=HourlyCount(clock), new_streams=HourlyCount(clock), refusals=RefusalLog(clock)),
    )
    return clock


async def take(
    ingest_queue: IngestQueue, host: str, *frames: Frame, identity: AgentIdentity = ANY_HOST
) -> list[Ack] | NormstatError:
    try:
        return await ingest_queue.submit(IngestRequest(identity, host, "Linux", "1", None, frames), longest_wait_s=WAIT_S)
    except NormstatError as error:
        return error


def refusal(answer: object, kind: type[NormstatError]) -> NormstatError:
    assert isinstance(answer, kind), answer
    return answer


async def test_a_host_begins_so_many_streams_in_an_hour(db: Database, clock: Clock) -> None:
    ingest_queue = IngestQueue(db.engine, IngestLimits(new_streams=10))
    for number in range(0, 9, 3):
        frames = [stream(TEXT, key=f"k{number + more}") for more in range(3)]
        assert await take(ingest_queue, "alpha", *frames) == [Ack(frame.key, len(TEXT)) for frame in frames]
    # All of the request or nothing: the one that would fit is not taken either.
    error = refusal(await take(ingest_queue, "alpha", *(stream(TEXT, key=f"n{more}") for more in range(2))), TooManyRequests)
    assert error.details == {"retry_after_s": RETRY_AFTER_S}
    assert "NORMSTAT_INGEST_MAX_NEW_STREAMS" in error.message
    assert db.query("SELECT count(*) FROM streams") == [(9,)]
    # What was begun goes on, and so do other hosts.
    more = vmstat_text(vmstat_times(9))
    assert await take(ingest_queue, "alpha", stream(more[len(TEXT) :], key="k0", offset=len(TEXT))) == [Ack("k0", len(more))]
    assert await take(ingest_queue, "beta", stream(TEXT, key="n0")) == [Ack("n0", len(TEXT))]
    clock.now += HOUR_S + 1
    assert await take(ingest_queue, "alpha", stream(TEXT, key="n0"), stream(TEXT, key="n1")) == [
        Ack(f"n{n}", len(TEXT)) for n in (0, 1)
    ]
    assert len(db.query(VMSTAT_ROWS)) == len(vmstat_rows(TEXT)) * 11 + len(vmstat_rows(more))


async def test_a_request_of_more_streams_than_an_hour_may_have_is_too_large(db: Database) -> None:
    """Not "later": it would never be taken. Agents send at most 200 streams at once, and the setting is never less."""
    ingest_queue = IngestQueue(db.engine, IngestLimits(new_streams=10))
    refusal(await take(ingest_queue, "alpha", *(stream(b"", key=f"k{n}") for n in range(11))), TooLarge)
    assert db.query("SELECT count(*) FROM streams") == [(0,)]


async def test_what_is_refused_counts_nothing_and_keeps_no_other_back(db: Database) -> None:
    ingest_queue = IngestQueue(db.engine, IngestLimits(new_streams=10))
    many = [stream(b"", key=f"k{n}") for n in range(6)]
    assert isinstance(await take(ingest_queue, "alpha", *many), list)
    answers = await asyncio.gather(
        *(
            take(ingest_queue, host, *(stream(TEXT, key=f"{host}{n}") for n in range(5)))
            for host in ("alpha", "beta", "alpha", "gamma")
        )
    )
    assert [type(answer) for answer in answers] == [TooManyRequests, list, TooManyRequests, list]
    assert isinstance(await take(ingest_queue, "alpha", *(stream(b"", key=f"n{n}") for n in range(4))), list)
    assert db.query("SELECT name, count(*) FROM streams JOIN hosts ON hosts.id = host_id GROUP BY 1 ORDER BY 1") == [
        ("alpha", 10), ("beta", 5), ("gamma", 5)
    ]  # fmt: skip


async def test_who_imports_may_begin_as_many_as_there_are_files(db: Database) -> None:
    ingest_queue = IngestQueue(db.engine, IngestLimits(new_streams=2, new_hosts=1, hosts=1))
    for host in ("alpha", "beta"):
        job = IngestRequest(
            ANY_HOST, host, "", "", None, [stream(TEXT, key=f"k{n}") for n in range(5)], Recording(NO_TIMING, is_final=True)
        )
        assert len(await ingest_queue.submit(job, longest_wait_s=WAIT_S)) == 5
    assert isinstance(await take(ingest_queue, "alpha", stream(TEXT, key="live")), list)


async def test_a_token_makes_so_many_hosts_in_an_hour(db: Database, clock: Clock) -> None:
    ingest_queue = IngestQueue(db.engine, IngestLimits(new_hosts=5))
    with structlog.testing.capture_logs() as logs:
        answers = [await take(ingest_queue, f"h{number}", stream(TEXT)) for number in range(8)]
    assert [type(answer) for answer in answers] == [list] * 5 + [TooManyRequests] * 3
    # A flood of refusals is a line a minute in the log.
    assert [(entry["event"], entry["token"]) for entry in logs if entry["event"] == "host_refused"] == [("host_refused", 1)]
    assert db.query("SELECT count(*) FROM hosts") == [(5,)]
    assert isinstance(await take(ingest_queue, "h3", stream(TEXT)), list)
    assert isinstance(await take(ingest_queue, "h6", stream(TEXT), identity=AgentIdentity(None, token_id=2)), list)
    clock.now += HOUR_S + 1
    assert isinstance(await take(ingest_queue, "h7", stream(TEXT)), list)


async def test_hosts_that_come_together_are_counted_together(db: Database) -> None:
    ingest_queue = IngestQueue(db.engine, IngestLimits(new_hosts=7, hosts=20))
    answers = await asyncio.gather(*(take(ingest_queue, f"h{number}", stream(TEXT)) for number in range(30)))
    assert sum(isinstance(answer, list) for answer in answers) == 7
    assert db.query("SELECT count(*) FROM hosts") == [(7,)]


async def test_there_are_so_many_hosts_in_all(db: Database) -> None:
    ingest_queue = IngestQueue(db.engine, IngestLimits(hosts=4))
    answers = [await take(ingest_queue, f"h{n}", stream(TEXT), identity=AgentIdentity(None, token_id=n)) for n in range(6)]
    assert [type(answer) for answer in answers] == [list] * 4 + [TooManyRequests] * 2
    assert "NORMSTAT_INGEST_MAX_HOSTS" in refusal(answers[4], TooManyRequests).message
    assert isinstance(await take(ingest_queue, "h2", stream(TEXT)), list)
    set_limits(db.engine, IngestLimits(hosts=5))
    assert isinstance(await take(ingest_queue, "h4", stream(TEXT)), list)


async def test_a_key_that_is_used_for_another_spec_is_refused_and_says_for_which(db: Database) -> None:
    agent = Agent(db.engine)
    await agent.send_file(TEXT, "vmstat_linux", "k")
    with pytest.raises(BadRequest, match="belongs to vmstat_linux on this host and was sent for mpstat_linux") as caught:
        await agent.send(stream(mpstat_text(3, 1), "mpstat_linux", "k"), stream(TEXT, key="other"))
    assert caught.value.details == {"key": "k", "spec": "vmstat_linux"}
    assert db.query("SELECT spec, key FROM streams") == [("vmstat_linux", "k")]
    # On another host it is another stream, and the host goes on.
    assert await Agent(db.engine, "beta").send_file(mpstat_text(3, 1), "mpstat_linux", "k") > 0
    assert await agent.send_file(TEXT, "vmstat_linux", "other") == len(TEXT)


def test_the_count_of_an_hour_forgets_and_stays_small() -> None:
    clock = Clock()
    count: HourlyCount[str] = HourlyCount(clock)
    for _ in range(10_000):
        count.add("a", 1)
        clock.now += 0.36
    assert count.count("a") in range(9_800, 10_001)
    assert len(count._seen["a"]) <= HOUR_S / limits.ENTRY_S + 1
    clock.now += HOUR_S / 2
    assert count.count("a") in range(4_800, 5_200)
    clock.now += HOUR_S
    assert count.count("a") == 0
    assert not count._seen


def test_refusals_are_logged_once_a_minute_with_their_number() -> None:
    clock = Clock()
    refusals = RefusalLog(clock)
    with structlog.testing.capture_logs() as logs:
        for _ in range(500):
            refusals.note("host_refused", 1, token=1)
            refusals.note("host_refused", 2, token=2)
        clock.now += limits.LOG_EVERY_S
        refusals.note("host_refused", 1, token=1)
    assert [(entry["token"], entry["n_refused"]) for entry in logs] == [(1, 1), (2, 1), (1, 500)]
