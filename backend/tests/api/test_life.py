"""The routes of retention, deletions of hosts and storage."""

import httpx
from fastapi import FastAPI

from normstat.api.state import AppState
from normstat.auth.roles import Role
from normstat.retention.deletion_worker import work_off_removals
from tests.api.people import People, body_of
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.sending import Agent


async def test_rules_are_put_shown_and_applied(
    people: People, admin: httpx.AsyncClient, viewer: httpx.AsyncClient, state: AppState
) -> None:
    await Agent(state.engine, "web1").send_file(vmstat_text(vmstat_times(5)))
    await admin.put("/api/v1/retention", json={"rules": []})
    assert (await viewer.get("/api/v1/retention")).json()["rules"] == []
    rules: list[dict[str, str | int | None]] = [
        {"stat": None, "samples_days": None, "chunks_days": 90},
        {"stat": "vmstat_linux", "samples_days": 365, "chunks_days": 30},
    ]
    put = await admin.put("/api/v1/retention", json={"rules": rules})
    assert put.status_code == 200, put.text
    shown = (await viewer.get("/api/v1/retention")).json()
    assert [{key: rule[key] for key in rules[0]} for rule in shown["rules"]] == rules
    assert {rule["updated_by"] for rule in shown["rules"]} == {"administrator"}
    # Who changed a rule last stays with it when another one changes.
    rules[0]["chunks_days"] = 91
    async with await people.enter(Role.ADMINISTRATOR, "bert") as bert:
        changed = (await bert.put("/api/v1/retention", json={"rules": rules})).json()
    assert [rule["updated_by"] for rule in changed["rules"]] == ["bert", "administrator"]

    run = await admin.post("/api/v1/retention/runs")
    assert (run.status_code, run.json()["state"]) == (202, "queued")
    assert await work_off_removals(state.settings.database_url)
    ended = (await viewer.get("/api/v1/retention")).json()["runs"][0]
    assert (ended["id"], ended["state"], ended["n_samples"]) == (run.json()["id"], "done", 0)


async def test_a_rule_of_an_unknown_stat(admin: httpx.AsyncClient) -> None:
    rule = {"stat": "nothing_any", "samples_days": 1, "chunks_days": 1}
    assert (await admin.put("/api/v1/retention", json={"rules": [rule]})).status_code == 400


async def test_a_host_is_deleted(people: People, admin: httpx.AsyncClient, viewer: httpx.AsyncClient, state: AppState) -> None:
    async with await people.agent("web1") as agent:
        await Agent(state.engine, "web1").send_file(vmstat_text(vmstat_times(5)))
        deleted = body_of(await admin.delete("/api/v1/hosts/web1"), 202)
        assert (deleted["host"], deleted["state"]) == ("web1", "queued")
        assert (await viewer.get("/api/v1/hosts")).json()["hosts"] == []
        assert (await viewer.get("/api/v1/hosts/web1")).status_code == 404
        assert (await admin.delete("/api/v1/hosts/web1")).status_code == 404
        # Its token is revoked: the agent keeps what it has and says so.
        assert (await agent.post("/api/v1/ingest", headers={"Normstat-Host": "web1"})).status_code == 401
        assert await work_off_removals(state.settings.database_url)
        found = [d for d in (await viewer.get("/api/v1/host-deletions")).json()["deletions"] if d["host"] == "web1"]
        assert (found[0]["state"], found[0]["n_samples"]) == ("done", 4)


async def test_storage_is_shown(viewer: httpx.AsyncClient, state: AppState, app: FastAPI) -> None:
    await Agent(state.engine, "web1").send_file(vmstat_text(vmstat_times(500)))
    answer: httpx.Response = await viewer.get("/api/v1/storage")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["kind"] == "postgresql"
    assert [part["part"] for part in body["parts"]] == [
        "samples",
        "sealed",
        "chunks",
        "artefacts",
        "rollups",
        "profiles",
        "other",
    ]
    assert sum(part["bytes"] for part in body["parts"]) == body["database_bytes"]
    assert [host["host"] for host in body["hosts"]] == ["web1"]
    assert "vmstat_linux" in {stat["stat"] for stat in body["stats"]}
    assert (body["growth_bytes_per_day"], body["days_until_full"]) == (None, None)
