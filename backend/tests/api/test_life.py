"""The routes of an installation's life: hosts' tags, retention, deletions of hosts, storage, checks."""

from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.doctor.check_result import CheckStatus
from normstat.records.host_tag_rows import MAX_TAGS, read_tags
from normstat.retention.deletion_worker import work_off_removals
from tests.api.people import People, body_of
from tests.api.samples import VMSTAT, deliver, frames_of
from tests.api.test_access import assert_envelope
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.sending import Agent

TAGS = "/api/v1/host-tags"


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
    assert [part["part"] for part in body["parts"]] == ["samples", "sealed", "chunks", "artefacts", "rollups", "profiles", "other"]
    assert sum(part["bytes"] for part in body["parts"]) == body["database_bytes"]
    assert [host["host"] for host in body["hosts"]] == ["web1"]
    assert "vmstat_linux" in {stat["stat"] for stat in body["stats"]}
    assert (body["growth_bytes_per_day"], body["days_until_full"]) == (None, None)


async def report(people: People, host: str, **headers: str) -> None:
    """Send as the agent of the host does."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with await people.agent() as agent:
        await deliver(agent, frames_of(VMSTAT), **{"Normstat-Host": host} | named)


async def tags_of(browser: httpx.AsyncClient, host: str) -> tuple[list[str], list[str]]:
    own = next(each for each in (await browser.get("/api/v1/hosts")).json()["hosts"] if each["name"] == host)
    return own["tags"], own["agent_tags"]


async def change(browser: httpx.AsyncClient, hosts: list[str], **what: list[str]) -> list[dict[str, Any]]:
    answer = body_of(await browser.post(TAGS, json={"hosts": hosts, **what}))
    found: list[dict[str, Any]] = answer["hosts"]
    return found


async def test_people_and_agents_tag_hosts_and_neither_removes_the_others(people: People, anna: httpx.AsyncClient) -> None:
    await report(people, "web1", Normstat_Agent="1", Normstat_Tags="prod, web,a b")
    await report(people, "web2", Normstat_Agent="1")
    assert await tags_of(anna, "web1") == (["prod", "web"], ["prod", "web"])

    [web1, web2] = await change(anna, ["web2", "web1"], add=["prod", "rack-7"])
    assert (web1["name"], web1["tags"], web1["agent_tags"]) == ("web1", ["prod", "rack-7", "web"], ["prod", "web"])
    assert (web2["tags"], web2["agent_tags"]) == (["prod", "rack-7"], [])
    # What does not name its version is no agent that knows tags: an old one, or a person with curl.
    await report(people, "web1")
    assert (await tags_of(anna, "web1"))[1] == ["prod", "web"]
    # The agent's configuration has no tags any more: what people gave stays.
    await report(people, "web1", Normstat_Agent="1", Normstat_Tags="-")
    assert await tags_of(anna, "web1") == (["prod", "rack-7"], [])
    await report(people, "web1", Normstat_Agent="1", Normstat_Tags="web")
    [web1] = await change(anna, ["web1"], remove=["prod", "web"])
    assert web1["tags"] == ["rack-7", "web"], "a tag that the agent sets is removed only in its configuration"

    fleet = {host["name"]: host for host in (await anna.get("/api/v1/fleet")).json()["hosts"]}
    assert (fleet["web1"]["tags"], fleet["web1"]["agent_tags"]) == (["rack-7", "web"], ["web"])

    found = (await anna.get("/api/v1/search", params={"q": "RACK-7", "kind": "host"})).json()["hits"]
    assert [(hit["name"], hit["detail"]) for hit in found] == [("web1", "rack-7 · web"), ("web2", "prod · rack-7")]
    metrics = await anna.get("/api/v1/host-metrics", params={"tag": "rack-7", "host": "web2"})
    assert metrics.json()["hosts"] == ["web2", "web1"]
    assert_envelope(await anna.get("/api/v1/host-metrics", params={"tag": "nobody"}), 404, "not_found")


async def test_what_cannot_be_tagged_is_refused_as_a_whole(people: People, anna: httpx.AsyncClient) -> None:
    await report(people, "web1")
    unknown = await anna.post(TAGS, json={"hosts": ["web1", "web9"], "add": ["prod"]})
    assert_envelope(unknown, 404, "not_found")
    assert await tags_of(anna, "web1") == ([], [])
    await change(anna, ["web1"], add=[f"t{n}" for n in range(MAX_TAGS)])
    assert_envelope(await anna.post(TAGS, json={"hosts": ["web1"], "add": ["more"]}), 400, "bad_request")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("", []),
        ("-", []),
        ("b,a,b", ["a", "b"]),
        (" a , ,b c,", ["a"]),
        ("x" * 51 + ",-", ["-"]),
        ("web10,web9", ["web9", "web10"]),
    ],
)
def test_tags_of_an_agent(text: str, tags: list[str]) -> None:
    assert read_tags(text) == tags


async def test_an_administrator_sees_what_is_wrong(app: FastAPI, state: AppState, admin: httpx.AsyncClient) -> None:
    # Nothing listens there.
    settings = state.settings.model_copy(update={"public_url": "http://127.0.0.1:9"})
    app.state.normstat = replace(state, settings=settings)
    response = await admin.get("/api/v1/doctor")
    assert response.status_code == 200, response.text
    report = response.json()
    checks = {check["check"]: check for check in report["checks"]}
    assert checks["database"]["status"] == checks["migrations"]["status"] == "ok"
    assert checks["address"]["status"] == "error"
    assert "refused" in checks["address"]["found"]
    assert checks["address"]["advice"]
    assert checks["page"]["status"] == "error"
    counts = {status: sum(check["status"] == status for check in checks.values()) for status in CheckStatus}
    assert counts == {status: report[f"n_{status}"] for status in counts}
    assert not any(check["expected"] or check["advice"] for check in checks.values() if check["status"] == "ok")
