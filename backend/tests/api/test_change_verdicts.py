"""Changes are judged once, by whichever server comes first: an event, a change of facts, what the API, webhooks and lists say."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import text

from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.background_workers import compare_unasked
from normstat.comparison.service import ComparisonRequest, WholeComparison
from normstat.errors import Overloaded
from normstat.incidents.incident_worker import IncidentSettings, IncidentWorker
from normstat.window import to_us
from tests.alerts.receivers import HttpReceiver
from tests.api.people import People, body_of, run_sql
from tests.api.test_circumstances import send_frames
from tests.api.test_incidents import episode
from tests.api.test_webhooks import add, deliver
from tests.databases import Sessions
from tests.query.filling import fill_values

API = "/api/v1"
# As the setting has it without being set.
AFTER = timedelta(minutes=15)
STEP_S = 10
FIELDS = ("usr_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct")


def ago(minutes: float) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=minutes)


async def fill(sessions: Sessions, host: str, start: datetime, hot_at: datetime | None, *, usr: float = 70.0) -> None:
    """Samples of CPU time until now, quiet at first; without `hot_at` throughout."""
    n = int((datetime.now(UTC) - start).total_seconds() // STEP_S)
    rng = np.random.default_rng(1)
    seconds = STEP_S * np.arange(n)
    is_hot = np.zeros(n, np.bool_) if hot_at is None else seconds >= (hot_at - start).total_seconds()
    values = {field: 10.0 + np.round(rng.uniform(-1, 1, n), 2) for field in FIELDS}
    noise = np.round(rng.uniform(-1, 1, n), 2)
    values |= {"usr_pct": np.where(is_hot, usr, 10.0) + noise, "idle_pct": np.where(is_hot, 90 - usr, 80.0) - noise}
    time_us = to_us(start) + seconds * 1_000_000
    await fill_values(sessions, host, "mpstat_linux", time_us=time_us, instances=("all",) * n, values=values)


def worker_of(state: AppState) -> IncidentWorker:
    return IncidentWorker(state.sessions, partial(compare_unasked, state), IncidentSettings(AFTER))


async def work(state: AppState, worker: IncidentWorker | None = None) -> bool:
    return await (worker or worker_of(state)).work(state.settings.database_url)


async def note(operator: httpx.AsyncClient, at: datetime, *hosts: str, kind: str = "deployment") -> dict[str, Any]:
    body = {"text": "web 1.4", "kind": kind, "at": at.isoformat(), "hosts": list(hosts) or None}
    return body_of(await operator.post(f"{API}/events", json=body), 201)


async def verdict_of(client: httpx.AsyncClient, event: dict[str, Any]) -> dict[str, Any]:
    return body_of(await client.get(f"{API}/events/{event['id']}/verdict"))


@pytest.fixture
async def operator(people: People) -> httpx.AsyncClient:
    return await people.enter(Role.OPERATOR, "kim")


async def test_a_deployment_that_makes_it_worse(
    operator: httpx.AsyncClient, people: People, state: AppState, sessions: Sessions, http: HttpReceiver
) -> None:
    at = ago(17)
    await fill(sessions, "web1", ago(120), at)
    await fill(sessions, "web2", ago(120), None)
    await add(await people.enter(Role.ADMINISTRATOR), http, "event.judged")
    event = await note(operator, at, "web1", "web2")
    waiting = await verdict_of(operator, event)
    assert (waiting["verdict"], waiting["hosts"]) == (None, [])
    assert datetime.fromisoformat(waiting["due_at"]) == at + AFTER
    # Two servers at once, and again: one verdict.
    others = worker_of(state)
    done = await asyncio.gather(work(state), work(state, others))
    assert any(done)
    assert await work(state)
    found = await verdict_of(operator, event)
    assert found["verdict"]["verdict"] == "worse"
    assert [(one["host"], one["verdict"]) for one in found["hosts"]] == [("web1", "worse"), ("web2", "same")]
    [web1, _] = found["hosts"]
    assert (web1["changes"][0]["is_worse"], web1["baseline"]) == (True, None)
    assert "CPUs were busy 70 %" in found["verdict"]["sentence"]
    assert await run_sql(state, "SELECT count(*), max(n_tries) FROM change_verdicts") == [(2, 1)]
    listed = body_of(await operator.get(f"{API}/events"))["events"]
    assert listed[0]["verdict"]["verdict"] == "worse"
    incidents = body_of(await operator.get(f"{API}/incidents"))["incidents"]
    assert incidents[0]["event"]["verdict"]["verdict"] == "worse"
    await deliver(state)
    [message] = http.received
    assert (message.body["topic"], message.body["data"]["verdict"]["verdict"]) == ("event.judged", "worse")
    assert message.body["data"]["event"]["id"] == event["id"]


async def test_without_work_no_connection_is_opened(state: AppState) -> None:
    assert await worker_of(state).work("postgresql://nobody@/nothing?host=/nonexistent")


async def test_a_changed_event_is_judged_again(operator: httpx.AsyncClient, state: AppState, sessions: Sessions) -> None:
    await fill(sessions, "web1", ago(120), ago(17))
    event = await note(operator, ago(17), "web1")
    assert await work(state)
    assert (await verdict_of(operator, event))["verdict"]["verdict"] == "worse"
    change = {"text": "web 1.4", "kind": "deployment", "at": ago(60).isoformat(), "hosts": ["web1"], "tags": []}
    body_of(await operator.put(f"{API}/events/{event['id']}", json=change))
    assert (await verdict_of(operator, event))["verdict"] is None
    assert await work(state)
    assert (await verdict_of(operator, event))["verdict"]["verdict"] == "same"


async def test_what_is_not_judged(operator: httpx.AsyncClient, state: AppState, sessions: Sessions) -> None:
    await fill(sessions, "web1", ago(30), None)
    plain = await note(operator, ago(17), "web1", kind="note")
    early, old = await note(operator, ago(5)), await note(operator, ago(1500))
    gone = await note(operator, ago(17), "web1")
    body_of(await operator.delete(f"{API}/events/{gone['id']}"))
    assert await work(state)
    assert await run_sql(state, "SELECT count(*) FROM change_verdicts") == [(0,)]
    refused = await operator.get(f"{API}/events/{plain['id']}/verdict")
    assert (refused.status_code, "deployment, setting and reboot" in refused.text) == (400, True)
    assert (await verdict_of(operator, early))["verdict"] is (await verdict_of(operator, old))["verdict"] is None
    assert (await operator.get(f"{API}/events/{gone['id']}/verdict")).status_code == 404


async def test_too_little_data_says_what_is_missing(operator: httpx.AsyncClient, state: AppState, sessions: Sessions) -> None:
    await fill(sessions, "web1", ago(19), None)
    event = await note(operator, ago(17))
    assert await work(state)
    told = (await verdict_of(operator, event))["verdict"]
    assert (told["verdict"], told["sentence"]) == ("too_little_data", "Only 2 min before it have samples; a verdict needs 5 min.")
    # Before the first sample of the host.
    earlier = await note(operator, ago(40), "web1")
    assert await work(state)
    told = (await verdict_of(operator, earlier))["verdict"]
    assert (told["verdict"], "has no samples" in told["sentence"]) == ("too_little_data", True)


async def test_what_is_within_the_baseline_is_the_same(operator: httpx.AsyncClient, state: AppState, sessions: Sessions) -> None:
    # Busy until two and a half hours ago, which a person marked as normal, and again after the deployment.
    start, quiet, at = ago(400), ago(150), ago(17)
    n = int((datetime.now(UTC) - start).total_seconds() // STEP_S)
    seconds = STEP_S * np.arange(n)
    is_hot = (seconds < (quiet - start).total_seconds()) | (seconds >= (at - start).total_seconds())
    rng = np.random.default_rng(1)
    values = {"idle_pct": np.where(is_hot, 30.0, 90.0) + np.round(rng.uniform(-1, 1, n), 2)}
    await fill_values(
        sessions, "web1", "mpstat_linux", time_us=to_us(start) + seconds * 1_000_000, instances=("all",) * n, values=values
    )
    windows = [{"start": start.isoformat(), "end": (quiet - timedelta(minutes=1)).isoformat()}]
    body = {"name": "busy", "hosts": ["web1"], "windows": windows}
    baseline = body_of(await operator.post(f"{API}/baselines", json=body), 201)
    event = await note(operator, at, "web1")
    assert await work(state)
    [host] = (await verdict_of(operator, event))["hosts"]
    assert (host["verdict"], host["baseline"]) == ("same", baseline["id"])
    assert "all within what is normal here" in host["sentence"]


async def test_a_change_of_facts_is_judged(
    operator: httpx.AsyncClient, people: People, state: AppState, sessions: Sessions
) -> None:
    at = ago(18)
    await fill(sessions, "web1", ago(180), at)

    def facts(moment: datetime, governor: str) -> bytes:
        return f"{int(moment.timestamp())}\nos\tLinux\ncpu_governor\t{governor}\nagent\t1\n".encode()

    await send_frames(people, "host_facts", "facts", facts(at - timedelta(minutes=2), "performance"), facts(at, "powersave"))
    worker = worker_of(state)
    assert await work(state, worker)
    # A change that is too fresh is planned, and judged when it is time.
    await send_frames(people, "host_facts", "later", facts(ago(2), "performance"))
    assert await work(state, worker)
    assert await run_sql(state, "SELECT judged_at IS NULL FROM change_verdicts ORDER BY at") == [(False,), (True,)]
    assert await work(state, worker_of(state))
    fresh, event = body_of(await operator.get(f"{API}/events", params={"host": "web1"}))["events"]
    assert (event["source"], event["id"], event["verdict"]["verdict"]) == ("facts", None, "worse")
    assert fresh["verdict"] is None
    assert await run_sql(state, "SELECT count(*) FROM change_verdicts WHERE event_id IS NULL") == [(2,)]


async def test_a_server_that_dies_over_a_verdict_is_not_tried_for_ever(
    operator: httpx.AsyncClient, state: AppState, sessions: Sessions
) -> None:
    await fill(sessions, "web1", ago(120), ago(17))
    event = await note(operator, ago(17), "web1")

    async def refuse(request: ComparisonRequest) -> WholeComparison:
        raise Overloaded("no memory")

    worker = IncidentWorker(state.sessions, refuse, IncidentSettings(AFTER))
    for _ in range(3):
        await work(state, worker)
        assert (await verdict_of(operator, event))["verdict"] is None
    await work(state, worker)
    told = (await verdict_of(operator, event))["verdict"]
    assert (told["verdict"], "3 tries" in told["sentence"]) == ("too_little_data", True)


async def test_episodes_and_exclusions_are_remembered_once(
    operator: httpx.AsyncClient, state: AppState, sessions: Sessions
) -> None:
    await fill(sessions, "web1", ago(120), ago(36))
    [(host_id,)] = await run_sql(state, "SELECT id FROM hosts WHERE name = 'web1'")
    async with sessions() as session, session.begin():
        # The second of one rule within the hour is the same again; one that lasts is not over.
        session.add_all([episode(host_id, "disk", ago(minutes)) for minutes in (36, 30)])
        session.add(episode(host_id, "busy", ago(20), is_open=True))
    window = {"start": ago(36).isoformat(), "end": ago(30).isoformat()}
    body_of(await operator.post(f"{API}/exclusions", json={"name": "batch", "host": "web1", **window}), 201)
    assert await work(state)
    assert await work(state)
    past = body_of(await operator.get(f"{API}/past-incidents", params={"named": False}))["incidents"]
    assert sorted(one["title"] for one in past) == ["batch", "sda was busy."]
    assert all("programs" in one["sentence"] for one in past)
    # What it was made of is gone, and so is what is remembered of it, but for a pattern.
    batch = next(one for one in past if one["title"] == "batch")
    body_of(await operator.patch(f"{API}/past-incidents/{batch['id']}", json={"cause": "a batch job"}))
    async with sessions() as session, session.begin():
        await session.execute(text("DELETE FROM episodes"))
        await session.execute(text("DELETE FROM exclusions"))
    assert await work(state)
    past = body_of(await operator.get(f"{API}/past-incidents", params={"named": False}))["incidents"]
    assert [one["title"] for one in past] == ["batch"]
