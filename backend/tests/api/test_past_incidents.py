"""Past incidents through the API: a comparison is remembered, its cause named, found again on another host, switched off."""

from datetime import timedelta
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import text

from normstat.auth.roles import Role
from normstat.window import to_us
from tests.api.people import People, body_of
from tests.api.samples import START
from tests.databases import Sessions
from tests.query.filling import fill_values

API = "/api/v1"
N_NORMAL, N_INCIDENT = 600, 60
FIELDS = ("usr_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct")


def at(seconds: int) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


async def fill(sessions: Sessions, host: str, seed: int, hot: dict[str, float]) -> None:
    """Ten quiet minutes, then one in which some fields are elsewhere."""
    rng = np.random.default_rng(seed)
    n = N_NORMAL + N_INCIDENT
    is_hot = np.arange(n) >= N_NORMAL
    values = {field: np.where(is_hot, hot.get(field, 5.0), 5.0) + np.round(rng.uniform(-1, 1, n), 2) for field in FIELDS}
    time_us = to_us(START) + np.arange(n) * 1_000_000
    await fill_values(sessions, host, "mpstat_linux", time_us=time_us, instances=("all",) * n, values=values)


def asked(host: str) -> dict[str, Any]:
    window = {"start": at(N_NORMAL), "end": at(N_NORMAL + N_INCIDENT), "baseline_start": at(0), "baseline_end": at(N_NORMAL)}
    return {"host": [host], **window}


@pytest.fixture
async def operator(people: People, sessions: Sessions) -> httpx.AsyncClient:
    """Two hosts with one fault, one with another, and a quiet one."""
    await fill(sessions, "web1", 1, {"usr_pct": 60, "sys_pct": 30})
    await fill(sessions, "db1", 2, {"usr_pct": 50, "sys_pct": 30})
    await fill(sessions, "db2", 3, {"iowait_pct": 70, "sys_pct": 2})
    await fill(sessions, "calm", 4, {})
    return await people.enter(Role.OPERATOR, "kim")


async def save(operator: httpx.AsyncClient, host: str = "web1") -> int:
    body = {"name": "Slow", "note": "Ask Kim.", "inputs": asked(host)}
    saved: int = body_of(await operator.post(f"{API}/comparisons", json=body), 201)["id"]
    return saved


async def recall(client: httpx.AsyncClient, host: str) -> dict[str, Any]:
    return body_of(await client.get(f"{API}/comparison/past", params=asked(host)))


async def test_a_named_cause_is_found_again_on_another_host(operator: httpx.AsyncClient) -> None:
    assert await recall(operator, "db1") == {"own": None, "alike": [], "n_looked_at": 0}
    comparison = await save(operator)
    own = body_of(await operator.get(f"{API}/comparisons/{comparison}/past"))["own"]
    assert (own["hosts"], own["title"], own["note"], own["cause"], own["comparison"]) == (
        ["web1"], "Slow", "Ask Kim.", "", comparison,
    )  # fmt: skip
    # No pattern yet, but remembered.
    assert body_of(await operator.get(f"{API}/past-incidents"))["n_total"] == 0
    assert body_of(await operator.get(f"{API}/past-incidents", params={"named": False, "host": "web1"}))["n_total"] == 1
    named = {"cause": "backup ran late", "remedy": "moved to 03:00"}
    told = body_of(await operator.patch(f"{API}/past-incidents/{own['id']}", json=named))
    assert (told["cause"], told["remedy"], told["named_by"], told["is_off"]) == (*named.values(), "kim", False)
    found = await recall(operator, "db1")
    [alike] = found["alike"]
    assert (found["own"], found["n_looked_at"], alike["incident"]["cause"]) == (None, 1, "backup ran late")
    assert alike["likeness"] > 0.9
    # Another fault is unknown, and a quiet window is like nothing.
    assert (await recall(operator, "db2"))["alike"] == []
    assert (await recall(operator, "calm")) == {"own": None, "alike": [], "n_looked_at": 0}
    # The incident is not like itself, saved or not: it is itself.
    itself = await recall(operator, "web1")
    assert (itself["own"]["id"], itself["alike"]) == (own["id"], [])


async def test_a_pattern_that_is_switched_off_is_not_found(operator: httpx.AsyncClient) -> None:
    comparison = await save(operator)
    own = body_of(await operator.get(f"{API}/comparisons/{comparison}/past"))["own"]
    address = f"{API}/past-incidents/{own['id']}"
    body_of(await operator.patch(address, json={"cause": "a leak"}))
    assert body_of(await operator.patch(address, json={"is_off": True}))["cause"] == "a leak"
    assert await recall(operator, "db1") == {"own": None, "alike": [], "n_looked_at": 0}
    [pattern] = body_of(await operator.get(f"{API}/past-incidents"))["incidents"]
    assert (pattern["cause"], pattern["is_off"], pattern["named_by"]) == ("a leak", True, "kim")
    body_of(await operator.patch(address, json={"is_off": False}))
    assert len((await recall(operator, "db1"))["alike"]) == 1
    # An empty cause takes it back.
    assert body_of(await operator.patch(address, json={"cause": ""}))["cause"] == ""
    assert body_of(await operator.get(f"{API}/past-incidents"))["n_total"] == 0


async def test_a_pattern_outlives_its_comparison(operator: httpx.AsyncClient) -> None:
    comparison = await save(operator)
    own = body_of(await operator.get(f"{API}/comparisons/{comparison}/past"))["own"]
    body_of(await operator.patch(f"{API}/past-incidents/{own['id']}", json={"cause": "a leak"}))
    body_of(await operator.delete(f"{API}/comparisons/{comparison}"))
    [alike] = (await recall(operator, "db1"))["alike"]
    assert (alike["incident"]["comparison"], alike["incident"]["cause"]) == (None, "a leak")


async def test_one_with_a_cause_is_always_among_those_shown(operator: httpx.AsyncClient, sessions: Sessions) -> None:
    first = await save(operator)
    own = body_of(await operator.get(f"{API}/comparisons/{first}/past"))["own"]
    body_of(await operator.patch(f"{API}/past-incidents/{own['id']}", json={"cause": "a leak"}))
    async with sessions() as session, session.begin():
        # Four like db1's own, nearer than the one that is named.
        for hour in range(1, 5):
            saved = await save(operator, "db1")
            shift = "UPDATE past_incidents SET start_at = start_at - :h * interval '1 h', end_at = end_at - :h * interval '1 h'"
            await session.execute(text(f"{shift} WHERE comparison_id = :id"), {"h": hour, "id": saved})
    found = await recall(operator, "db1")
    assert [one["incident"]["cause"] for one in found["alike"]] == ["", "", "a leak"]
    assert found["n_looked_at"] == 5


async def test_who_may_name_a_cause(operator: httpx.AsyncClient, people: People) -> None:
    comparison = await save(operator)
    viewer = await people.enter(Role.VIEWER, "vic")
    own = body_of(await viewer.get(f"{API}/comparisons/{comparison}/past"))["own"]
    assert (await viewer.patch(f"{API}/past-incidents/{own['id']}", json={"cause": "x"})).status_code == 403
    assert (await operator.patch(f"{API}/past-incidents/999", json={"cause": "x"})).status_code == 404
    assert (await operator.patch(f"{API}/past-incidents/{own['id']}", json={"cause": "x" * 501})).status_code == 422
    assert (await viewer.get(f"{API}/comparisons/999/past")).status_code == 404
