"""Jobs by the API and by `normstat jobs`: listed, stopped, tried again, by those who may."""

import asyncio

import httpx
import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from normstat.api.state import AppState
from normstat.cli import app
from normstat.settings import load_settings
from normstat.storage.schema.job_models import Job, JobKind, JobState
from normstat.storage.session import open_write_session
from tests.api.test_access import assert_envelope

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
    reparse = ids[JobKind.REPARSE]
    listed = (await viewer.get(API)).json()["jobs"]
    assert {job["id"] for job in listed} == set(ids.values())
    assert [job["id"] for job in (await viewer.get(API, params={"kind": "reparse"})).json()["jobs"]] == [reparse]
    one = (await viewer.get(f"{API}/{reparse}")).json()
    assert (one["kind"], one["state"], one["n_done"], one["n_total"], one["unit"]) == ("reparse", "queued", 0, 8, "bytes")
    assert_envelope(await viewer.post(f"{API}/{reparse}/stop"), 403, "not_allowed")
    assert_envelope(await operator.post(f"{API}/{reparse}/retry"), 409, "conflict")
    assert (one["is_stoppable"], one["is_retriable"]) == (True, False)
    stopped = (await operator.post(f"{API}/{reparse}/stop")).json()
    assert (stopped["is_stoppable"], stopped["is_retriable"]) == (False, True)
    assert (stopped["state"], stopped["message"]) == ("stopped", "stopped by operator")
    assert_envelope(await operator.post(f"{API}/{reparse}/stop"), 409, "conflict")
    again = (await operator.post(f"{API}/{reparse}/retry")).json()
    assert (again["state"], again["message"], again["finished_at"]) == ("queued", "", None)
    assert_envelope(await operator.get(f"{API}/999999"), 404, "not_found")


async def test_only_administrators_stop_what_removes_data(
    admin: httpx.AsyncClient, operator: httpx.AsyncClient, ids: dict[JobKind, int]
) -> None:
    retention = ids[JobKind.RETENTION]
    assert_envelope(await operator.post(f"{API}/{retention}/stop"), 403, "not_allowed")
    assert (await admin.post(f"{API}/{retention}/stop")).json()["state"] == JobState.STOPPED
    assert_envelope(await admin.post(f"{API}/{ids[JobKind.DELETION]}/stop"), 409, "conflict")


async def test_the_command_lists_stops_and_retries(
    state: AppState, ids: dict[JobKind, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(*words: str) -> tuple[int, str]:
        # The command has an event loop of its own.
        done = await asyncio.to_thread(CliRunner().invoke, app, ["jobs", *words])
        return done.exit_code, done.output

    monkeypatch.setenv("NORMSTAT_DATABASE_URL", state.settings.database_url)
    load_settings.cache_clear()
    reparse = ids[JobKind.REPARSE]
    status, said = await run("list", "--kind", "reparse")
    assert status == 0
    assert said.splitlines()[1].split()[:3] == [str(reparse), "reparse", "a"]
    assert "0 of 8 bytes" in said
    assert await run("stop", str(reparse)) == (0, f"job {reparse} is stopped\n")
    assert await run("stop", str(reparse)) == (1, f"normstat: Job {reparse} is stopped already\n")
    assert await run("retry", str(reparse)) == (0, f"job {reparse} is queued\n")
    assert await run("list", "--state", "failed") == (0, "no jobs\n")
    load_settings.cache_clear()
