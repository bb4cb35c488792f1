"""Requests of several agents in one transaction: each has its own answer, and what a process remembers never leads astray."""

import asyncio
import dataclasses

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import make_engine
from normstat.errors import DatabaseAway, NotAllowed, NotAuthenticated, TooLarge
from normstat.ingest import batching, transaction
from normstat.ingest.batching import AgentIdentity, IngestQueue, IngestRequest
from normstat.ingest.protocol import Ack, Frame
from normstat.samples import ingest_rows, instance_cache
from tests.database_access import Database
from tests.databases import on_either_database
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.sending import ANY_HOST, stream

pytestmark = on_either_database

WAIT_S = 120.0
HOSTS = [f"host{number}" for number in range(12)]
TEXT = vmstat_text(vmstat_times(10))


def job_of(host: str, *frames: Frame, identity: AgentIdentity = ANY_HOST) -> IngestRequest:
    return IngestRequest(identity, host, "Linux", "1.0", None, frames)


async def take_all(queue: IngestQueue, jobs: list[IngestRequest]) -> list[list[Ack] | BaseException]:
    return await asyncio.gather(*(queue.submit(job, longest_wait_s=WAIT_S) for job in jobs), return_exceptions=True)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The hosts of each batch that is stored."""
    seen: list[list[str]] = []
    store = transaction.Batch.store

    async def note(self: transaction.Batch) -> None:
        seen.append([job.host_name for job in self._jobs])
        await store(self)

    monkeypatch.setattr(transaction.Batch, "store", note)
    return seen


async def test_requests_that_wait_are_taken_together(db: Database, batches: list[list[str]]) -> None:
    queue = IngestQueue(db.engine)
    texts = {host: vmstat_text(vmstat_times(10), seed=number) for number, host in enumerate(HOSTS)}
    answers = await take_all(queue, [job_of(host, stream(text)) for host, text in texts.items()])
    assert answers == [[Ack("k", len(text))] for text in texts.values()]
    assert max(map(len, batches)) > 5
    rows = db.query("SELECT host, count(*), sum(system_cs)::int8 FROM stat.vmstat_linux GROUP BY 1 ORDER BY 1")
    sums = [(host, 9, sum(int(line.split()[11]) for line in texts[host].decode().splitlines()[3:])) for host in sorted(HOSTS)]
    assert rows == sums
    assert db.query("SELECT count(*) FROM streams WHERE acked_offset > 0 AND n_sample = 9") == [(len(HOSTS),)]


async def test_requests_of_several_hosts_are_gathered(
    engine: AsyncEngine, batches: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after another, each would cost a transaction."""
    monkeypatch.setattr(batching, "GATHER_S", 3600.0)
    monkeypatch.setattr(batching, "BATCH_JOBS", 3)
    queue = IngestQueue(engine)
    cut = TEXT.index(b"\n", 700) + 1
    await queue.submit(job_of("alpha", stream(TEXT[:cut])), longest_wait_s=WAIT_S)
    await queue.submit(job_of("alpha", stream(TEXT[cut:], offset=cut)), longest_wait_s=WAIT_S)
    assert {tuple(hosts) for hosts in batches} == {("alpha",)}, "a host alone waits for nobody"
    batches.clear()
    beta, gamma = (
        asyncio.create_task(queue.submit(job_of(host, stream(TEXT)), longest_wait_s=WAIT_S)) for host in ("beta", "gamma")
    )
    await asyncio.sleep(0.05)
    assert not batches
    assert await queue.submit(job_of("delta", stream(TEXT)), longest_wait_s=WAIT_S) == [Ack("k", len(TEXT))]
    assert await beta == await gamma == [Ack("k", len(TEXT))]
    assert {tuple(hosts) for hosts in batches} == {("beta", "gamma", "delta")}


async def test_one_that_is_refused_keeps_no_other_back(db: Database) -> None:
    queue = IngestQueue(db.engine)
    await queue.submit(job_of("alpha", stream(TEXT)), longest_wait_s=WAIT_S)
    bound = AgentIdentity(host_id=999, token_id=1)
    revoked = dataclasses.replace(ANY_HOST, token_id=999, is_remembered=True)
    answers = await take_all(
        queue,
        [
            job_of("beta", stream(TEXT)),
            job_of("alpha", stream(TEXT), identity=bound),
            job_of("gamma", stream(TEXT), identity=revoked),
            job_of("delta", stream(TEXT)),
        ],
    )
    assert answers[0] == answers[3] == [Ack("k", len(TEXT))]
    assert isinstance(answers[1], NotAllowed)
    assert isinstance(answers[2], NotAuthenticated)
    assert db.query("SELECT name FROM hosts ORDER BY 1") == [("alpha",), ("beta",), ("delta",)]


async def test_a_batch_that_fails_is_taken_apart(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    find_streams = ingest_rows.find_streams
    hosts = {name: number for number, (name,) in enumerate(db.query("SELECT name FROM hosts"))}
    assert not hosts

    async def fail_for_one(connection: psycopg.AsyncConnection, names: object) -> object:
        wanted = list(names)  # type: ignore[call-overload]
        if any(key == "bad" for _, (_, key) in wanted):
            raise TooLarge("too many days")
        return await find_streams(connection, wanted)

    monkeypatch.setattr(ingest_rows, "find_streams", fail_for_one)
    answers = await take_all(
        IngestQueue(db.engine), [job_of(host, stream(TEXT, key="bad" if host == "host3" else "k")) for host in HOSTS]
    )
    refused = [host for host, answer in zip(HOSTS, answers, strict=True) if isinstance(answer, TooLarge)]
    assert refused == ["host3"]
    assert [answer for answer in answers if not isinstance(answer, BaseException)] == [[Ack("k", len(TEXT))]] * 11
    assert db.query("SELECT count(*) FROM samples.vmstat_linux") == [(11 * 9,)]


async def test_requests_of_one_host_follow_each_other(db: Database, batches: list[list[str]]) -> None:
    queue = IngestQueue(db.engine)
    cut = TEXT.index(b"\n", 700) + 1
    jobs = [job_of("alpha", stream(TEXT[:cut])), job_of("alpha", stream(TEXT[cut:], offset=cut)), job_of("beta", stream(TEXT))]
    assert await take_all(queue, jobs) == [[Ack("k", cut)], [Ack("k", len(TEXT))], [Ack("k", len(TEXT))]]
    assert all(len(set(hosts)) == len(hosts) for hosts in batches)
    assert db.query("SELECT count(*), count(DISTINCT time) FROM samples.vmstat_linux") == [(18, 9)]


async def test_whose_turn_does_not_come_is_sent_away(engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = IngestQueue(engine)
    monkeypatch.setattr(batching, "BATCHES_AT_ONCE", 0)
    with pytest.raises(TimeoutError):
        await queue.submit(job_of("alpha", stream(TEXT)), longest_wait_s=0.01)
    monkeypatch.setattr(batching, "BATCHES_AT_ONCE", 1)
    # It is not taken later either: its agent was told so, and sends it again.
    assert await queue.submit(job_of("alpha", stream(TEXT[:700])), longest_wait_s=WAIT_S) == [
        Ack("k", TEXT.rindex(b"\n", 0, 700) + 1)
    ]


async def test_tables_that_are_gone_are_made_again(db: Database) -> None:
    queue = IngestQueue(db.engine)
    await queue.submit(job_of("alpha", stream(TEXT)), longest_wait_s=WAIT_S)
    with psycopg.connect(db.url) as connection:
        # As if an older state of the database had been put back.
        connection.execute("DROP TABLE samples.vmstat_linux CASCADE")
        connection.execute("TRUNCATE hosts, stats CASCADE")
    assert await queue.submit(job_of("alpha", stream(TEXT)), longest_wait_s=WAIT_S) == [Ack("k", len(TEXT))]
    assert db.query("SELECT count(*) FROM stat.vmstat_linux") == [(9,)]


async def test_a_table_that_another_process_has_made_is_found(db: Database) -> None:
    """A process remembers that a stat has no table, until it needs one."""
    head = b"Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n"
    disks = head + b"sda               1.00         2.00         3.00          4          5\n\n"
    cpu = b"avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.00    0.00    2.00    0.00    0.00   97.00\n\n"
    begin, later = (b"2026-11-21T12:00:0%d+0000\n" % second for second in (1, 2))

    async def send(queue: IngestQueue, host: str, text: bytes, offset: int = 0) -> None:
        frame = stream(text, "iostat_linux", offset=offset, command="iostat -y -t 1")
        assert await queue.submit(job_of(host, frame), longest_wait_s=WAIT_S) == [Ack("k", offset + len(text))]

    own, other_engine = IngestQueue(db.engine), make_engine(db.url, pool_size=2)
    try:
        await send(own, "alpha", begin + disks)
        await send(IngestQueue(other_engine), "beta", begin + cpu + disks)
        await send(own, "alpha", later + cpu + disks, offset=len(begin + disks))
    finally:
        await other_engine.dispose()
    assert db.query("SELECT count(*) FROM samples.iostat_linux") == [(3,)]
    assert db.query("SELECT count(*) FROM samples.iostat_linux_cpu") == [(2,)]


@pytest.mark.usefixtures("instances_are_written_at_once")
async def test_instances_are_written_now_and_then_and_when_they_end(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance_cache, "LAST_STEP_US", 300 * 1_000_000)
    queue = IngestQueue(db.engine)
    two, one = mpstat_text(10, 2), mpstat_text(10, 1, start=START.replace(minute=1))
    rows = one[one.index(b"\n\n") :]

    async def lasts() -> dict[object, object]:
        found = db.query("SELECT name, extract(epoch FROM last_sample_at - '2026-11-21 12:00Z')::int FROM instances")
        return dict(found)

    async def send(text: bytes, offset: int) -> None:
        frame = stream(text, "mpstat_linux", offset=offset, command="mpstat -P ALL 1")
        await queue.submit(job_of("alpha", frame), longest_wait_s=WAIT_S)

    cut = two.index(b"\n\n", len(two) // 2) + 1
    await send(two[:cut], 0)
    early = await lasts()
    await send(two[cut:], cut)
    assert await lasts() == early, "rows were written for a few seconds"
    # CPU 1 is not printed any more: its row gets the last second that it had.
    await send(rows, len(two))
    assert (await lasts())["1"] == 10
    assert {name: at for name, at in (await lasts()).items() if name != "1"} == {name: early[name] for name in ("all", "0")}
    late = mpstat_text(3, 1, start=START.replace(minute=9))
    await send(late[late.index(b"\n\n") :], len(two) + len(rows))
    assert (await lasts())["0"] == 9 * 60 + 3


async def test_ids_are_not_remembered_beyond_their_epoch(db: Database) -> None:
    queue = IngestQueue(db.engine)
    later = vmstat_text(vmstat_times(10, START.replace(hour=13)))
    await queue.submit(job_of("alpha", stream(TEXT)), longest_wait_s=WAIT_S)
    with psycopg.connect(db.url) as connection:
        # What a reparse or retention does, with the host locked.
        connection.execute("DELETE FROM instances")
        connection.execute("UPDATE hosts SET instance_epoch = instance_epoch + 1")
    more = later[later.index(b"\n", 300) + 1 :]
    await queue.submit(job_of("alpha", stream(more, offset=len(TEXT))), longest_wait_s=WAIT_S)
    orphans = (
        "SELECT count(*) FROM samples.vmstat_linux"
        " WHERE time > '2026-11-21 13:00Z' AND instance_id NOT IN (SELECT id FROM instances)"
    )
    assert db.query(orphans) == [(0,)]
    assert db.query("SELECT count(*) > 0 FROM stat.vmstat_linux") == [(True,)]


async def test_a_locked_host_holds_up_itself_alone(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "BATCH_LOCK_TIMEOUT_S", 1)
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT_S", 1)
    queue = IngestQueue(db.engine)
    await take_all(queue, [job_of(host, stream(TEXT[:700])) for host in ("alpha", "beta", "gamma")])
    offset = TEXT.rindex(b"\n", 0, 700) + 1
    with psycopg.connect(db.url) as connection:
        connection.execute("SELECT FROM hosts WHERE name = 'beta' FOR UPDATE")
        jobs = [job_of(host, stream(TEXT[offset:], offset=offset)) for host in ("alpha", "beta", "gamma")]
        alpha, beta, gamma = await take_all(queue, jobs)
    assert alpha == gamma == [Ack("k", len(TEXT))]
    assert isinstance(beta, DatabaseAway)
    assert await queue.submit(job_of("beta", stream(TEXT[offset:], offset=offset)), longest_wait_s=WAIT_S) == [Ack("k", len(TEXT))]
    assert db.query("SELECT count(*) FROM samples.vmstat_linux") == [(27,)]
