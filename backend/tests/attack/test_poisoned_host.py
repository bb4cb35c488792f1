"""One host whose work fails, for whatever reason, stops none of the others, and is not tried again every minute."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
import structlog
from sqlalchemy import func, update
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.db.schema.job_models import Job, JobState
from normstat.db.schema.models import Chunk, Stream
from normstat.db.session import open_write_session
from normstat.db.turns import Turns
from normstat.ingest.reparse import reparse_worker
from normstat.ingest.reparse.reparse_stream import StreamReparse
from normstat.profiles import profile_job
from normstat.retention import chunk_removal, host_deletion, retention_rules, retention_run
from normstat.retention.deletion_worker import work_off_removals
from normstat.retention.retention_rules import RetentionRulePut
from normstat.samples.rollups import rollup_job
from normstat.samples.rollups.rollup_job import DELAY, roll_up
from normstat.window import Window
from tests.database_access import Database, query
from tests.databases import Sessions, on_either_database
from tests.generated import START, vmstat_text, vmstat_times
from tests.ingest.rereading import look, wish
from tests.ingest.sending import Agent
from tests.profiles.profiled import make
from tests.retention.test_retention import apply

pytestmark = on_either_database

HOSTS = ("alpha", "mallory", "zulu")
NOW = START + timedelta(hours=3)
LATE = START + timedelta(days=5)
Work = Callable[..., Awaitable[Any]]


class Poison(RuntimeError):
    """What nobody thought of."""


@pytest.fixture
async def ids(engine: AsyncEngine, database_url: str) -> dict[str, int]:
    """The ids of three hosts with the same samples; that of the poisoned one is the second."""
    for host in HOSTS:
        await Agent(engine, host).send_file(vmstat_text(vmstat_times(1200)))
    return {str(name): int(str(id_)) for name, id_ in query(database_url, "SELECT name, id FROM hosts")}


def poison(monkeypatch: pytest.MonkeyPatch, place: object, name: str, is_poisoned: Callable[..., bool]) -> list[int]:
    """Makes a function fail for some arguments; gives a list that grows by one with every failure."""
    work: Work = getattr(place, name)
    failures: list[int] = []

    async def fail(*arguments: Any, **others: Any) -> Any:
        if is_poisoned(*arguments, **others):
            failures.append(len(failures))
            raise Poison("poisoned")
        return await work(*arguments, **others)

    monkeypatch.setattr(place, name, fail)
    return failures


async def test_rollups_of_the_others_go_on_and_the_poisoned_host_waits(
    db: Database, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    turns: Turns[int] = Turns("rollup_failed", clock=lambda: now_s)
    failures = poison(monkeypatch, rollup_job, "pass_on", lambda _, host_id, __: host_id == ids["mallory"])
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            done = await roll_up(db.sessions, now=NOW + DELAY, budget_s=600, turns=turns)
            assert (done.is_all, done.n_failed) == (True, 1)
    assert [entry["host"] for entry in logs if entry["event"] == "rollup_failed"] == ["mallory"]
    assert len(failures) == 1
    assert db.query("SELECT name, rolled_until FROM hosts ORDER BY name") == [
        ("alpha", NOW), ("mallory", None), ("zulu", NOW)
    ]  # fmt: skip
    monkeypatch.undo()
    now_s = 61.0
    assert (await roll_up(db.sessions, now=NOW + DELAY, budget_s=600, turns=turns)).n_failed == 0
    assert db.query("SELECT DISTINCT rolled_until FROM hosts") == [(NOW,)]


async def test_hosts_made_later_have_their_turn_however_much_the_first_ones_have_to_do(
    sessions: Sessions, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With time for a single step each run: as when a round takes longer than the job may."""
    served: list[int] = []

    async def endless(_sessions: Sessions, host_id: int, _limit_us: int) -> int:
        served.append(host_id)
        return 1

    monkeypatch.setattr(rollup_job, "_step", endless)
    turns: Turns[int] = Turns("rollup_failed")
    for _ in range(6):
        await roll_up(sessions, now=NOW + DELAY, budget_s=0, turns=turns)
    assert served == [*ids.values(), *ids.values()]


async def test_profiles_of_the_others_are_made(db: Database, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_write_session(db.sessions) as session:
        window = Window(START, START + timedelta(hours=1))
        await create_baseline(session, BaselineDraft("normal", "", HOSTS, (window,), "ann"))
    failures = poison(monkeypatch, profile_job, "read_sketch", lambda _, host_id, *__: host_id == ids["mallory"])
    assert await make(db.sessions, LATE) == 2
    states = db.query("SELECT name, state, message FROM jobs JOIN hosts ON hosts.id = host_id ORDER BY name")
    assert states == [("alpha", "done", ""), ("mallory", "failed", "poisoned"), ("zulu", "done", "")]
    assert len(failures) == 1


async def test_a_profile_whose_samples_change_all_the_time_does_not_keep_the_others_waiting(
    sessions: Sessions, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that sends for the time of a baseline takes its pieces back, as often as it likes."""
    async with open_write_session(sessions) as session:
        window = Window(START, START + timedelta(hours=1))
        await create_baseline(session, BaselineDraft("normal", "", HOSTS, (window,), "ann"))
        await session.flush()
        early = {"queued_at": LATE - timedelta(days=30), "next_try_at": LATE - timedelta(days=30)}
        await session.execute(update(Job).where(Job.host_id == ids["mallory"]).values(early))
    served: list[int] = []

    async def never(self: Any) -> str | None:
        served.append(self._host_id)
        return None

    monkeypatch.setattr(profile_job._Making, "work", never)
    for _ in range(6):
        await profile_job.run_profiles(sessions, budget_s=0, now=LATE)
    assert served == 2 * [ids["mallory"], ids["alpha"], ids["zulu"]]


async def test_retention_goes_on_with_the_other_hosts_and_says_which_failed(
    db: Database, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    poison(monkeypatch, retention_run, "delete_samples", lambda _, __, host_id, **___: host_id == ids["mallory"])
    monkeypatch.setattr(retention_run, "drop_oldest_part", no_part)
    run = await apply(db.sessions, RetentionRulePut(stat="vmstat_linux", samples_days=1, chunks_days=None), now=LATE)
    assert run.state == JobState.FAILED
    assert run.message == f"vmstat_linux of host {ids['mallory']}: poisoned"
    assert db.query("SELECT DISTINCT host_id FROM samples.vmstat_linux") == [(ids["mallory"],)]
    # Its stream still says that it has samples, so that a backup has them.
    assert db.query(f"SELECT count(first_sample_at) FROM streams WHERE host_id = {ids['mallory']}") == [(1,)]
    monkeypatch.undo()
    run = await apply(db.sessions, RetentionRulePut(stat="vmstat_linux", samples_days=1, chunks_days=None), now=LATE)
    assert (run.state, db.query("SELECT count(*) FROM samples.vmstat_linux")) == (JobState.DONE, [(0,)])
    assert db.query("SELECT count(*) FROM streams WHERE first_sample_at IS NOT NULL") == [(0,)]


async def no_part(*_: object) -> None:
    """No chunk of a hypertable goes as a whole."""


async def test_retention_removes_the_raw_bytes_of_the_other_streams(
    db: Database, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    poison(monkeypatch, chunk_removal, "_remove_some", lambda _, __, ___, host_id, ____: host_id == ids["mallory"])
    run = await apply(db.sessions, RetentionRulePut(stat=None, samples_days=None, chunks_days=1), now=LATE + timedelta(days=36500))
    assert run.state == JobState.FAILED
    assert "poisoned" in run.message
    left = f"SELECT DISTINCT host_id FROM {Chunk.__tablename__} JOIN {Stream.__tablename__} ON id = stream_id"
    assert db.query(left) == [(ids["mallory"],)]


async def test_hosts_are_deleted_behind_one_that_cannot_be(
    db: Database, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_write_session(db.sessions) as session:
        for host in ("mallory", "alpha"):
            await host_deletion.request_deletion(session, host, requested_by="anna")
    failures = poison(monkeypatch, host_deletion, "delete_samples", lambda _, __, host_id, **___: host_id == ids["mallory"])
    for _ in range(3):
        assert await work_off_removals(db.url)
    assert len(failures) == 1
    assert db.query("SELECT id FROM hosts ORDER BY id") == [(ids["mallory"],), (ids["zulu"],)]
    failed = "SELECT state, message, next_try_at > now() FROM jobs WHERE target = 'mallory'"
    assert db.query(failed) == [("failed", "poisoned", True)]
    monkeypatch.undo()
    async with open_write_session(db.sessions) as session:
        await session.execute(update(Job).where(Job.target == "mallory").values(next_try_at=func.now()))
    assert await work_off_removals(db.url)
    assert db.query("SELECT id FROM hosts") == [(ids["zulu"],)]


async def test_a_run_of_retention_that_fails_as_a_whole_is_at_its_end(
    db: Database, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ids
    async with open_write_session(db.sessions) as session:
        await retention_rules.put_rules(
            session, [RetentionRulePut(stat="vmstat_linux", samples_days=1, chunks_days=None)], updated_by="anna"
        )
        await retention_rules.add_run(session, created_by="anna")
    poison(monkeypatch, retention_rules, "read_rules", lambda *_: True)
    assert await work_off_removals(db.url)
    assert db.query("SELECT state, message FROM jobs") == [("failed", "poisoned")]


async def test_streams_are_read_again_behind_one_that_cannot_be(
    db: Database, ids: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    poison(monkeypatch, StreamReparse, "run", lambda self: self._place.host_id == ids["mallory"])
    reparse_id = await wish(db.sessions)
    assert await reparse_worker.work_off(db.url)
    record = await look(db.sessions, reparse_id)
    assert (record.state, record.n_streams_done, record.n_streams) == ("failed", 2, 3)
    assert "poisoned" in record.message
