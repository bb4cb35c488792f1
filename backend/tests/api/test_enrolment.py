"""Join tokens, hosts that enrol with them, and agents that take a new token in place of theirs."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from normstat.api.http.state import AppState
from normstat.auth import access, join_token_rows
from normstat.auth.access import AgentTokenCache
from normstat.db.session import open_write_session
from tests.api.people import People, body_of, run_sql
from tests.api.test_access import assert_envelope

ENROL = "/api/v1/ingest/enrol"
NEW_TOKEN = "/api/v1/ingest/token"
FRAME = b"stream vmstat_linux k.%d 0 0 vmstat 1\n"


async def make(admin: httpx.AsyncClient, **body: object) -> str:
    answer = body_of(await admin.post("/api/v1/join-tokens", json={"name": "web servers", **body}), 201)
    assert answer["command"] == (
        "curl -fsS http://normstat.test/api/v1/agent/install.sh | "
        f"NORMSTAT_JOIN_TOKEN={answer['token']} sh -s -- --server http://normstat.test"
    )
    return str(answer["token"])


async def enrol(people: People, token: str, host: str, address: str = "127.0.0.1") -> httpx.Response:
    async with people.client(address, authorization=f"Bearer {token}") as client:
        return await client.post(ENROL, headers={"Normstat-Host": host})


async def send(people: People, token: str, host: str) -> httpx.Response:
    async with people.client(authorization=f"Bearer {token}") as client:
        return await client.post("/api/v1/ingest", content=FRAME % 1, headers={"Normstat-Host": host, "Normstat-Agent": "0.1.0"})


async def ask(people: People, token: str, host: str) -> httpx.Response:
    async with people.client(authorization=f"Bearer {token}") as client:
        return await client.post(NEW_TOKEN, headers={"Normstat-Host": host})


async def enrolled(people: People, token: str, host: str) -> str:
    answer = body_of(await enrol(people, token, host), 201)
    assert answer["host"] == host
    return str(answer["token"])


async def listed(admin: httpx.AsyncClient) -> dict[str, Any]:
    [token] = (await admin.get("/api/v1/join-tokens")).json()["tokens"]
    found: dict[str, Any] = token
    return found


async def test_a_host_gets_a_token_of_its_own(people: People, admin: httpx.AsyncClient, state: AppState) -> None:
    join = await make(admin, host_pattern="web*, db?", tags=["prod", "rack-7"], max_uses=3)
    own = await enrolled(people, join, "web1")
    assert (await send(people, own, "web1")).status_code == 200
    assert_envelope(await send(people, own, "web2"), 403, "not_allowed")
    # A join token sends nothing and an agent token enrols nobody.
    assert_envelope(await send(people, join, "web1"), 401, "not_authenticated")
    assert_envelope(await enrol(people, own, "web2"), 401, "not_authenticated")
    assert "not for mail1" in (await enrol(people, join, "mail1")).json()["error"]["message"]
    assert_envelope(await enrol(people, join, "web 1"), 400, "bad_request")
    assert_envelope(await enrol(people, join, ""), 400, "bad_request")
    found = await listed(admin)
    assert (found["n_uses"], found["max_uses"], found["host_pattern"]) == (1, 3, "web* db?")
    assert [(each["host"], each["is_active"]) for each in found["hosts"]] == [("web1", True)]
    [host] = (await admin.get("/api/v1/hosts")).json()["hosts"]
    assert host["tags"] == ["prod", "rack-7"]
    async with open_write_session(state.sessions) as session:
        stored = str((await session.execute(text("SELECT * FROM join_tokens, agent_tokens"))).all())
    assert join not in stored
    assert own not in stored
    entries = (await admin.get("/api/v1/audit")).json()["entries"]
    [entry] = [each for each in entries if each["action"] == "enrol_host"]
    assert (entry["means"], entry["address"], entry["target"]["host"]) == ("join_token", "127.0.0.1", "web1")
    assert join not in str(entries)
    assert own not in str(entries)


async def test_uses_are_exact_however_many_come_at_once(people: People, admin: httpx.AsyncClient) -> None:
    join = await make(admin, max_uses=5)
    answers = await asyncio.gather(*(enrol(people, join, f"web{n}") for n in range(12)))
    assert Counter(answer.status_code for answer in answers) == {201: 5, 401: 7}
    assert len({answer.json()["token"] for answer in answers if answer.status_code == 201}) == 5
    assert (await listed(admin))["n_uses"] == 5
    # What was refused has left no host behind.
    assert len((await admin.get("/api/v1/hosts")).json()["hosts"]) == 5


async def test_one_name_at_once_has_one_token(people: People, admin: httpx.AsyncClient) -> None:
    tokens = [await make(admin), await make(admin)]
    answers = await asyncio.gather(*(enrol(people, token, "web1") for token in tokens))
    assert sorted(answer.status_code for answer in answers) == [201, 409]


async def test_a_lost_answer_costs_no_use(people: People, admin: httpx.AsyncClient) -> None:
    join = await make(admin, max_uses=1)
    lost = await enrolled(people, join, "web1")
    own = await enrolled(people, join, "web1")
    assert_envelope(await send(people, lost, "web1"), 401, "not_authenticated")
    assert (await send(people, own, "web1")).status_code == 200
    assert (await listed(admin))["n_uses"] == 1
    # Once it is used, the name is taken for everybody else, and the token for one host is used up.
    assert_envelope(await enrol(people, join, "web1"), 409, "conflict")
    assert "as many as it may" in (await enrol(people, join, "web2")).json()["error"]["message"]


async def test_a_taken_name_needs_takeover(people: People, admin: httpx.AsyncClient) -> None:
    made = await admin.post("/api/v1/agent-tokens", json={"name": "by hand", "host": "web1"})
    old = made.json()["token"]
    assert (await send(people, old, "web1")).status_code == 200
    refused = await enrol(people, await make(admin), "web1")
    assert_envelope(refused, 409, "conflict")
    assert refused.json()["error"]["message"] == (
        "The host name web1 is taken: an agent sends for it with another token. Give this host another name (--host), or"
        " create a join token that allows takeover"
    )
    assert (await send(people, old, "web1")).status_code == 200
    own = await enrolled(people, await make(admin, allows_takeover=True), "web1")
    assert_envelope(await send(people, old, "web1"), 401, "not_authenticated")
    assert (await send(people, own, "web1")).status_code == 200


@pytest.mark.usefixtures("clock")
async def test_ended_join_tokens_and_guesses_are_refused(people: People, admin: httpx.AsyncClient, state: AppState) -> None:
    join = await make(admin)
    await run_sql(state, "UPDATE join_tokens SET expires_at = now()")
    assert "has expired" in (await enrol(people, join, "web1")).json()["error"]["message"]
    join = await make(admin)
    number = (await admin.get("/api/v1/join-tokens")).json()["tokens"][0]["id"]
    assert (await admin.delete(f"/api/v1/join-tokens/{number}")).status_code == 200
    assert "is revoked" in (await enrol(people, join, "web1")).json()["error"]["message"]
    assert_envelope(await admin.delete("/api/v1/join-tokens/999999"), 404, "not_found")
    statuses = [(await enrol(people, "nsj_guess", "web1", "10.9.9.9")).status_code for _ in range(52)]
    assert statuses[:50] == [401] * 50
    assert statuses[-1] == 429
    # Whoever has a right one is let in from the same address.
    assert (await enrol(people, await make(admin), "web1", "10.9.9.9")).status_code == 201
    async with open_write_session(state.sessions) as session:
        await session.execute(text("UPDATE join_tokens SET expires_at = now() - interval '40 days'"))
        await join_token_rows.delete_old(session, keep=timedelta(days=30))
    assert (await admin.get("/api/v1/join-tokens")).json()["tokens"] == []


async def test_a_pattern_has_no_sets_of_characters(admin: httpx.AsyncClient) -> None:
    assert_envelope(await admin.post("/api/v1/join-tokens", json={"name": "x", "host_pattern": "web[0-9]"}), 400, "bad_request")


async def test_hosts_have_a_limit(people: People, admin: httpx.AsyncClient, app: FastAPI, state: AppState) -> None:
    app.state.normstat = replace(state, settings=state.settings.model_copy(update={"ingest_max_hosts": 1}))
    join = await make(admin)
    await enrolled(people, join, "web1")
    assert_envelope(await enrol(people, join, "web2"), 429, "too_many_requests")
    assert (await listed(admin))["n_uses"] == 1


# --- rotation ---


async def bound(people: People, admin: httpx.AsyncClient) -> tuple[str, int]:
    """The token of web1 and its number."""
    own = await enrolled(people, await make(admin), "web1")
    assert (await send(people, own, "web1")).status_code == 200
    return own, (await admin.get("/api/v1/agent-tokens")).json()["tokens"][0]["id"]


async def test_a_token_is_rotated_without_a_gap(people: People, admin: httpx.AsyncClient) -> None:
    old, number = await bound(people, admin)
    assert "normstat-token" not in (await send(people, old, "web1")).headers
    assert_envelope(await ask(people, old, "web1"), 409, "conflict")
    assert (await admin.post(f"/api/v1/agent-tokens/{number}/rotation", json={})).status_code == 200
    said = await send(people, old, "web1")
    assert (said.status_code, said.headers["normstat-token"]) == (200, "rotate")
    assert_envelope(await ask(people, old, "web2"), 403, "not_allowed")
    # The answer is lost, twice: each time the agent asks again, with the token that it has.
    lost = [(await ask(people, old, "web1")).json()["token"] for _ in range(2)]
    new = (await ask(people, old, "web1")).json()["token"]
    for each in lost:
        assert_envelope(await send(people, each, "web1"), 401, "not_authenticated")
    assert (await send(people, old, "web1")).status_code == 200
    said = await send(people, new, "web1")
    assert said.status_code == 200
    assert "normstat-token" not in said.headers
    assert_envelope(await send(people, old, "web1"), 401, "not_authenticated")
    assert_envelope(await ask(people, old, "web1"), 401, "not_authenticated")
    first, second = (await admin.get("/api/v1/agent-tokens")).json()["tokens"]
    assert (first["host"], first["replaces_id"], first["revoked_at"], first["is_rotating"]) == ("web1", number, None, False)
    assert second["revoked_at"] is not None
    assert [each["host"] for each in (await listed(admin))["hosts"]] == ["web1"]


async def test_rotation_by_age_and_with_a_time_limit(
    people: People, admin: httpx.AsyncClient, app: FastAPI, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, number = await bound(people, admin)
    settings = state.settings.model_copy(update={"agent_token_days": 30})
    app.state.normstat = replace(state, settings=settings, agents=AgentTokenCache(max_age=settings.agent_token_max_age))
    assert "normstat-token" not in (await send(people, old, "web1")).headers
    await run_sql(state, "UPDATE agent_tokens SET created_at = now() - interval '31 days'")
    monkeypatch.setattr(access, "REMEMBERED_S", 0.0)
    app.state.normstat.agents.forget(number)
    assert (await send(people, old, "web1")).headers["normstat-token"] == "rotate"
    assert (await ask(people, old, "web1")).status_code == 201
    # Nobody takes it: with a time limit the old one ends, cached or not.
    assert (await admin.post(f"/api/v1/agent-tokens/{number}/rotation", json={"within_days": 1})).status_code == 200
    monkeypatch.setattr(access, "REMEMBERED_S", 60.0)
    assert (await send(people, old, "web1")).status_code == 200
    await run_sql(state, f"UPDATE agent_tokens SET expires_at = now() WHERE id = {number}")
    assert_envelope(await send(people, old, "web1"), 401, "not_authenticated")
    assert "expired" in (await send(people, old, "web1")).json()["error"]["message"]
    assert_envelope(await admin.post(f"/api/v1/agent-tokens/{number}/rotation", json={}), 409, "conflict")


async def test_only_tokens_of_one_host_rotate(people: People, admin: httpx.AsyncClient) -> None:
    made = (await admin.post("/api/v1/agent-tokens", json={"name": "any"})).json()
    refused = await admin.post(f"/api/v1/agent-tokens/{made['info']['id']}/rotation", json={})
    assert_envelope(refused, 409, "conflict")
    assert_envelope(await ask(people, made["token"], "web1"), 403, "not_allowed")
    assert_envelope(await admin.post("/api/v1/agent-tokens/999999/rotation", json={}), 404, "not_found")


async def test_whoever_revokes_a_token_revokes_what_was_made_in_its_place(people: People, admin: httpx.AsyncClient) -> None:
    old, number = await bound(people, admin)
    await admin.post(f"/api/v1/agent-tokens/{number}/rotation", json={})
    new = (await ask(people, old, "web1")).json()["token"]
    assert (await admin.delete(f"/api/v1/agent-tokens/{number}")).status_code == 200
    for token in (old, new):
        assert_envelope(await send(people, token, "web1"), 401, "not_authenticated")
