"""The queue: one worker for each job, failures wait longer and longer, stopped is stopped; workers are woken while work is due."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import null, select, text, update

from normstat.alerts.alert_outbox import select_unsent
from normstat.alerts.alert_rows import select_routing
from normstat.db.schema.job_models import Job, JobKind, JobState
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import retry_wait_s
from normstat.errors import Conflict, NotFound
from normstat.ingest.import_rows import select_open_imports
from normstat.jobs import job_list
from normstat.jobs.claims import BACKTESTS, IMPORTS, REMOVALS, REPARSES, Claim, Claims, JobStopped, open_claims, select_due
from normstat.jobs.due_work import MESSAGES_S, DueWork
from normstat.jobs.job_list import JobFilter
from normstat.jobs.periodic import recorded
from tests.auth.test_throttle import Clock
from tests.databases import Sessions, on_either_database
from tests.e2e.product import wait_until
from tests.fork_server import start_forked

pytestmark = on_either_database

ADD_ROUTE = """
    INSERT INTO alert_routes (name, position, is_enabled, settings, created_by, updated_by)
    VALUES ('all', 1, true, '{}', 'anna', 'anna')
"""
ADD_MESSAGE = """
    WITH channel AS (
        INSERT INTO alert_channels (name, kind, settings, secrets, is_enabled, created_by, updated_by)
        VALUES ('mail', 'mail', '{}', '{}', true, 'test', 'test') RETURNING id
    ), alert AS (
        INSERT INTO alerts (route, state, opened_at, start_at, due_at, silence_key)
        VALUES ('all', 'firing', now(), now(), now(), '') RETURNING id
    )
    INSERT INTO alert_messages (alert_id, channel_id, channel, kind, number, key, content, state, next_try_at)
    SELECT alert.id, channel.id, 'mail', 'firing', 1, 'k', '{}', %s, now() + %s * interval '1 second' FROM alert, channel
"""
ADD = "INSERT INTO jobs (kind, state, next_try_at) VALUES (%s, %s, now() + %s * interval '1 second')"


async def add(sessions: Sessions, kind: JobKind = JobKind.DELETION, **values: object) -> int:
    async with open_write_session(sessions) as session:
        job = Job(kind=kind, **values)
        session.add(job)
        await session.flush()
        return job.id


async def state_of(sessions: Sessions, job_id: int) -> JobState:
    async with open_read_session(sessions) as session:
        return (await job_list.read_job(session, job_id)).state


@pytest.fixture
async def removals(database_url: str) -> AsyncIterator[Claims]:
    async with open_claims(database_url, REMOVALS) as claims:
        assert claims is not None
        yield claims


async def claim_next(claims: Claims) -> Claim:
    claim = await claims.next()
    assert claim is not None
    return claim


async def test_jobs_are_claimed_in_their_order_and_each_once(sessions: Sessions, removals: Claims) -> None:
    first, second = await add(sessions), await add(sessions, JobKind.RETENTION)
    claim = await claim_next(removals)
    assert (claim.id, claim.n_tries) == (first, 1)
    async with open_write_session(sessions) as session:
        assert await claim.finish(session)
        assert not await claim.finish(session), "it has ended"
    assert (await claim_next(removals)).id == second
    assert await state_of(sessions, first) is JobState.DONE


async def test_an_exclusive_lane_has_one_worker(database_url: str, sessions: Sessions, removals: Claims) -> None:
    await add(sessions)
    async with open_claims(database_url, REMOVALS) as others:
        assert others is None
    assert await removals.next() is not None


async def test_two_workers_of_a_shared_lane_run_two_jobs(database_url: str, sessions: Sessions) -> None:
    ids = [await add(sessions, JobKind.IMPORT) for _ in range(2)]
    async with open_claims(database_url, IMPORTS) as first, open_claims(database_url, IMPORTS) as second:
        assert first is not None
        assert second is not None
        claims = [await first.next(), await second.next()]
        assert [claim.id for claim in claims if claim is not None] == ids
        assert await second.next() is None
    # Both workers are gone, and both jobs still say `running`: each is claimed again at once.
    async with open_claims(database_url, IMPORTS) as third:
        assert third is not None
        again = await claim_next(third)
    assert (again.id, again.n_tries) == (ids[0], 2)


@pytest.mark.slow
async def test_the_job_of_a_killed_worker_is_claimed_at_once(database_url: str, sessions: Sessions, tmp_path: Path) -> None:
    job_id = await add(sessions, JobKind.IMPORT)
    said = tmp_path / "out"
    with said.open("wb") as out:
        worker = start_forked([database_url], os.environ, out, module="tests.jobs.hold")
    try:
        wait_until(lambda: said.read_text() == f"{job_id}\n", "the worker has the job")
        async with open_claims(database_url, IMPORTS) as claims:
            assert claims is not None
            assert await claims.next() is None, "somebody works on it"
            worker.kill()
            worker.wait(60)
            claim = None
            while claim is None:
                # The database sees the end of the connection a moment later.
                claim = await claims.next()
            async with open_write_session(sessions) as session:
                assert await claim.finish(session)
    finally:
        worker.kill()


async def test_a_worker_that_lost_its_job_changes_nothing(sessions: Sessions, removals: Claims) -> None:
    job_id = await add(sessions)
    old = await claim_next(removals)
    new = await claim_next(removals)
    assert old.id == new.id == job_id
    async with open_write_session(sessions) as session:
        with pytest.raises(JobStopped):
            await old.report(session, n_done=5)
        assert not await old.fail(session, "late")
        await new.report(session, n_done=7, n_total=9)
    async with open_read_session(sessions) as session:
        record = await job_list.read_job(session, job_id)
    assert (record.state, record.n_done, record.n_total, record.message) == (JobState.RUNNING, 7, 9, "")


async def test_a_failure_is_retried_later_and_later(sessions: Sessions, removals: Claims) -> None:
    job_id = await add(sessions)
    for n_tries in range(1, 4):
        claim = await claim_next(removals)
        async with open_write_session(sessions) as session:
            assert await claim.fail(session, f"failure {n_tries}")
        assert await removals.next() is None
        async with open_write_session(sessions) as session:
            job = await session.get_one(Job, job_id)
            assert (job.state, job.message, job.n_tries) == (JobState.FAILED, f"failure {n_tries}", n_tries)
            assert job.next_try_at is not None
            assert job.finished_at is not None
            assert abs(job.next_try_at - job.finished_at - timedelta(seconds=retry_wait_s(n_tries))) < timedelta(seconds=1)
            await session.execute(update(Job).values(next_try_at=text("now()")))
    assert [retry_wait_s(n) for n in (1, 3, 50, 5000)] == [60, 240, 3600, 3600]


async def test_retention_that_failed_waits_for_somebody(sessions: Sessions, removals: Claims) -> None:
    job_id = await add(sessions, JobKind.RETENTION)
    claim = await claim_next(removals)
    async with open_write_session(sessions) as session:
        await claim.fail(session, "broken")
    assert (await state_of(sessions, job_id), await removals.next()) == (JobState.FAILED, None)
    async with open_write_session(sessions) as session:
        assert (await job_list.retry_job(session, job_id)).state is JobState.QUEUED
    assert (await claim_next(removals)).n_tries == 1


async def test_a_released_job_goes_behind_the_others(sessions: Sessions, removals: Claims) -> None:
    first, second = await add(sessions), await add(sessions)
    claim = await claim_next(removals)
    async with open_write_session(sessions) as session:
        await claim.release(session)
    assert [(await claim_next(removals)).id] == [second]
    async with open_write_session(sessions) as session:
        assert (await session.get_one(Job, first)).n_tries == 0


async def test_a_stopped_job_is_not_run(sessions: Sessions, removals: Claims) -> None:
    job_id = await add(sessions, JobKind.RETENTION)
    claim = await claim_next(removals)
    async with open_write_session(sessions) as session:
        stopped = await job_list.stop_job(session, job_id, message="stopped by anna")
    assert (stopped.state, stopped.message, stopped.next_try_at) == (JobState.STOPPED, "stopped by anna", None)
    async with open_write_session(sessions) as session:
        with pytest.raises(JobStopped):
            await claim.report(session)
        with pytest.raises(Conflict, match="is stopped already"):
            await job_list.stop_job(session, job_id, message="again")
    assert await removals.next() is None


async def test_what_cannot_be_stopped_or_retried_says_why(sessions: Sessions) -> None:
    deletion, file = await add(sessions), await add(sessions, JobKind.IMPORT, state=JobState.FAILED, next_try_at=null())
    async with open_write_session(sessions) as session:
        jobs = await job_list.list_jobs(session, JobFilter(), 10)
        found = {job.id: (job.is_stoppable, job.is_retriable, job.removes_data) for job in jobs}
        assert found[deletion] == (False, False, True)
        assert found[file] == (False, False, False)
        with pytest.raises(Conflict, match="cannot be stopped"):
            await job_list.stop_job(session, deletion, message="x")
        with pytest.raises(Conflict, match="only failed and stopped"):
            await job_list.retry_job(session, deletion)
        with pytest.raises(Conflict, match="upload it again"):
            await job_list.retry_job(session, file)
        with pytest.raises(NotFound):
            await job_list.stop_job(session, 999_999, message="x")


async def test_the_list_has_open_jobs_first_and_filters(sessions: Sessions) -> None:
    done = await add(sessions, JobKind.IMPORT, state=JobState.DONE, finished_at=text("now()"), next_try_at=None)
    queued = await add(sessions)
    async with open_read_session(sessions) as session:
        assert [job.id for job in await job_list.list_jobs(session, JobFilter(), 10)] == [queued, done]
        assert [job.id for job in await job_list.list_jobs(session, JobFilter(kind=JobKind.IMPORT), 10)] == [done]
        assert [job.id for job in await job_list.list_jobs(session, JobFilter(state=JobState.QUEUED), 10)] == [queued]
        assert await job_list.list_jobs(session, JobFilter(host="web1"), 10) == []
        counts = {(count.kind, count.state): count.n for count in await job_list.count_jobs(session)}
    assert counts == {(JobKind.IMPORT, JobState.DONE): 1, (JobKind.DELETION, JobState.QUEUED): 1}


async def test_what_runs_by_the_clock_keeps_one_row(sessions: Sessions) -> None:
    for n_hours in (3, 5):
        async with recorded(sessions, JobKind.ROLLUP, unit="hours") as outcome:
            outcome.n_done = n_hours
    with pytest.raises(ZeroDivisionError):
        async with recorded(sessions, JobKind.ROLLUP, unit="hours"):
            raise ZeroDivisionError("no hours")
    async with open_read_session(sessions) as session:
        (job,) = await session.scalars(select(Job))
    assert (job.state, job.message, job.n_done) == (JobState.FAILED, "no hours", 0)


async def test_old_runs_of_retention_are_forgotten(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_list, "MAX_ENDED_RUNS", 2)
    ids = [await add(sessions, JobKind.RETENTION, state=JobState.DONE, next_try_at=None) for _ in range(4)]
    async with open_write_session(sessions) as session:
        await job_list.forget_old_runs(session)
    async with open_read_session(sessions) as session:
        assert list(await session.scalars(select(Job.id).order_by(Job.id))) == ids[2:]


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Works in the background, and is stopped at the end."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def settle(due: DueWork, probe: asyncio.Event) -> None:
    """Wait for two whole looks: `probe` is set by each."""
    for _ in range(2):
        probe.clear()
        await asyncio.wait_for(probe.wait(), 120)


async def test_each_is_woken_for_its_own_work(database_url: str) -> None:
    due = DueWork(database_url, look_s=0.01)
    reparses = due.watch(select_due(REPARSES), every_s=0)
    removals = due.watch(select_due(REMOVALS), every_s=0)
    imports = due.watch(select_open_imports(), every_s=0)
    messages = due.watch(select_unsent(), every_s=0)
    # Last: it is set when all others are.
    probe = due.watch(select_due(BACKTESTS), every_s=0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADD, ["backtest", "queued", -1])
        async with running(due.run()):
            await settle(due, probe)
            assert [each.is_set() for each in (reparses, removals, imports, messages)] == [False] * 4
            connection.execute(ADD, ["retention", "queued", 3600])
            connection.execute(ADD, ["reparse", "failed", -1])
            await asyncio.wait_for(reparses.wait(), 120)
            await settle(due, probe)
            assert [each.is_set() for each in (removals, imports, messages)] == [False] * 3
            # A worker that was killed left it.
            connection.execute(ADD, ["deletion", "running", 3600])
            await asyncio.wait_for(removals.wait(), 120)
            connection.execute("DELETE FROM jobs WHERE kind <> 'backtest'")
            await settle(due, probe)
            reparses.clear()
            await settle(due, probe)
            assert not reparses.is_set()


async def test_what_is_followed_is_known_after_a_look_and_not_without_the_database(database_url: str) -> None:
    due = DueWork(database_url, look_s=0.01)
    may_route = due.follow(select_routing())
    probe = due.watch(select_due(BACKTESTS), every_s=0)
    assert may_route()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADD, ["backtest", "queued", -1])
        async with running(due.run()):
            await settle(due, probe)
            assert not may_route()
            connection.execute(ADD_ROUTE)
            await settle(due, probe)
            assert may_route()
            connection.execute("UPDATE alert_routes SET is_enabled = false")
            await settle(due, probe)
            assert not may_route()
    assert may_route()


async def test_a_message_that_is_to_be_sent_wakes_who_sends_it(database_url: str) -> None:
    due = DueWork(database_url, look_s=0.01)
    messages = due.watch(select_unsent(), every_s=0)
    probe = due.watch(select_due(BACKTESTS), every_s=0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADD, ["backtest", "queued", -1])
        connection.execute(ADD_MESSAGE, ["queued", 3600])
        async with running(due.run()):
            await settle(due, probe)
            assert not messages.is_set(), "its time has not come"
            connection.execute("UPDATE alert_messages SET next_try_at = now()")
            await asyncio.wait_for(messages.wait(), 120)
            connection.execute("UPDATE alert_messages SET state = 'sending', next_try_at = now() + interval '1 hour'")
            messages.clear()
            await asyncio.wait_for(messages.wait(), 120)
            connection.execute("UPDATE alert_messages SET state = 'sent'")
            await settle(due, probe)
            messages.clear()
            await settle(due, probe)
            assert not messages.is_set()


async def test_a_worker_is_woken_no_more_often_than_it_wants(database_url: str) -> None:
    clock = Clock()
    due = DueWork(database_url, look_s=0.01, clock=clock)
    seldom = due.watch(select_due(REMOVALS), every_s=MESSAGES_S)
    probe = due.watch(select_due(BACKTESTS), every_s=0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADD, ["backtest", "queued", -1])
        connection.execute(ADD, ["retention", "queued", -1])
        async with running(due.run()):
            await asyncio.wait_for(seldom.wait(), 120)
            seldom.clear()
            await settle(due, probe)
            assert not seldom.is_set()
            clock.now += MESSAGES_S
            await asyncio.wait_for(seldom.wait(), 120)
