"""Jobs by the API and by `normstat jobs`: listed, stopped, tried again, by those who may."""

import httpx
import pytest
from sqlalchemy import text

from normstat.api.http.state import AppState
from normstat.db.schema.job_models import Job, JobKind, JobState
from normstat.db.session import open_write_session
from tests.api.people import body_of
from tests.api.test_access import assert_envelope
from tests.cli.commands import Commands

API = "/api/v1/jobs"


@pytest.fixture
async def ids(state: AppState) -> dict[JobKind, int]:
    """A queued job of each kind."""
    made = {}
    async with open_write_session(state.sessions) as session:
        await session.execute(text("DELETE FROM jobs"))
        for kind in (JobKind.REPARSE, JobKind.RETENTION, JobKind.DELETION, JobKind.IMPORT):
            job = Job(kind=kind, target=f"a {kind}", unit="bytes", n_total=8, asked_by="anna")
            session.add(job)
            await session.flush()
            made[kind] = job.id
    return made


async def test_jobs_are_listed_stopped_and_tried_again(
    operator: httpx.AsyncClient, viewer: httpx.AsyncClient, ids: dict[JobKind, int]
) -> None:
    """What can be stopped and tried again: tests/jobs/test_claims.py."""
    reparse = ids[JobKind.REPARSE]
    assert {job["id"] for job in body_of(await viewer.get(API))["jobs"]} == set(ids.values())
    [one] = body_of(await viewer.get(API, params={"kind": "reparse"}))["jobs"]
    assert one == body_of(await viewer.get(f"{API}/{reparse}"))
    assert (one["kind"], one["state"], one["n_total"], one["unit"], one["is_stoppable"]) == ("reparse", "queued", 8, "bytes", True)
    stopped = body_of(await operator.post(f"{API}/{reparse}/stop"))
    assert (stopped["state"], stopped["message"], stopped["is_retriable"]) == ("stopped", "stopped by operator", True)
    again = body_of(await operator.post(f"{API}/{reparse}/retry"))
    assert (again["state"], again["message"], again["finished_at"]) == ("queued", "", None)


async def test_only_administrators_stop_what_removes_data(
    admin: httpx.AsyncClient, operator: httpx.AsyncClient, ids: dict[JobKind, int]
) -> None:
    retention = ids[JobKind.RETENTION]
    assert_envelope(await operator.post(f"{API}/{retention}/stop"), 403, "not_allowed")
    assert (await admin.post(f"{API}/{retention}/stop")).json()["state"] == JobState.STOPPED
    assert_envelope(await admin.post(f"{API}/{ids[JobKind.DELETION]}/stop"), 409, "conflict")


async def test_the_command_lists_stops_and_retries(state: AppState, ids: dict[JobKind, int]) -> None:
    normstat = Commands(state.settings.database_url)
    reparse = ids[JobKind.REPARSE]
    said = await normstat.do("jobs", "list", "--kind", "reparse")
    assert said.splitlines()[1].split()[:3] == [str(reparse), "reparse", "a"]
    assert "0 of 8 bytes" in said
    assert await normstat.do("jobs", "stop", reparse) == f"job {reparse} is stopped\n"
    assert await normstat("jobs", "stop", reparse) == (1, "", f"normstat: Job {reparse} is stopped already\n")
    assert await normstat.do("jobs", "retry", reparse) == f"job {reparse} is queued\n"
    assert await normstat.do("jobs", "list", "--state", "failed") == "no jobs\n"
