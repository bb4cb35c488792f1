"""Accounts and tokens, and the rules that hold for them."""

import asyncio
from typing import Any

import httpx
import pytest

from normstat.api.http.state import AppState
from normstat.auth.accounts import UserUpdate, change_account
from normstat.auth.roles import Role
from normstat.db.session import open_write_session
from normstat.errors import Conflict
from tests.api.people import ROOT, People, body_of, run_sql
from tests.api.test_access import assert_envelope

NEW = {"name": "bob", "role": "viewer", "password": "seven yellow trams"}


async def test_make_change_list_and_remove_accounts(admin: httpx.AsyncClient) -> None:
    made = await admin.post("/api/v1/users", json=NEW)
    assert made.status_code == 201
    assert made.json().items() >= {"name": "bob", "role": "viewer", "has_password": True, "is_disabled": False}.items()
    assert_envelope(await admin.post("/api/v1/users", json=NEW), 409, "conflict")
    assert [user["name"] for user in (await admin.get("/api/v1/users")).json()["users"]] == ["administrator", "bob"]
    changed = await admin.patch("/api/v1/users/bob", json={"role": "operator"})
    assert changed.json()["role"] == "operator"
    assert changed.json()["is_disabled"] is False
    assert (await admin.delete("/api/v1/users/bob")).json() == {}
    assert_envelope(await admin.patch("/api/v1/users/bob", json={}), 404, "not_found")
    assert_envelope(await admin.delete("/api/v1/users/bob"), 404, "not_found")


async def test_accounts_of_the_wrong_shape(admin: httpx.AsyncClient) -> None:
    for wrong in ({"name": ""}, {"name": "a\0b"}, {"role": "root"}, {"password": "short"}, {"nickname": "b"}):
        response = await admin.post("/api/v1/users", json=NEW | wrong)
        assert_envelope(response, 422, "invalid_request")
        assert "seven yellow trams" not in response.text
        assert "short" not in response.text.replace("string_too_short", "")


@pytest.mark.parametrize("change", [{"is_disabled": True}, {"password": "another good password"}])
async def test_disabling_and_a_new_password_end_sessions(
    admin: httpx.AsyncClient, operator: httpx.AsyncClient, change: dict[str, object]
) -> None:
    assert (await operator.get("/api/v1/auth/me")).status_code == 200
    assert (await admin.patch("/api/v1/users/operator", json=change)).status_code == 200
    assert_envelope(await operator.get("/api/v1/auth/me"), 401, "not_authenticated")


async def test_a_changed_role_holds_at_once(people: People, admin: httpx.AsyncClient) -> None:
    async with await people.enter(Role.ADMINISTRATOR, "second") as second:
        assert (await second.get("/api/v1/users")).status_code == 200
        await admin.patch("/api/v1/users/second", json={"role": "viewer"})
        assert_envelope(await second.get("/api/v1/users"), 403, "not_allowed")


@pytest.mark.parametrize("change", [{"is_disabled": True}, {"role": "operator"}, None])
async def test_the_last_administrator_stays(people: People, admin: httpx.AsyncClient, change: dict[str, object] | None) -> None:
    async with await people.enter(Role.ADMINISTRATOR, "second"):
        assert (await admin.patch("/api/v1/users/second", json={"is_disabled": True})).status_code == 200
        path = "/api/v1/users/administrator"
        response = await admin.delete(path) if change is None else await admin.patch(path, json=change)
        assert_envelope(response, 409, "conflict")
        assert (await admin.get("/api/v1/users")).status_code == 200


async def test_two_administrators_cannot_remove_each_other_at_once(people: People, state: AppState) -> None:
    async with await people.enter(Role.ADMINISTRATOR, "one"), await people.enter(Role.ADMINISTRATOR, "two"):
        pass

    async def demote(name: str) -> None:
        async with open_write_session(state.sessions) as session:
            await change_account(session, ROOT, name, UserUpdate(role=Role.VIEWER))

    async def n_waiting() -> int:
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return int((await run_sql(state, query))[0][0])

    async with open_write_session(state.sessions) as session:
        await change_account(session, ROOT, "one", UserUpdate(role=Role.VIEWER))
        other = asyncio.create_task(demote("two"))
        # Either it waits for us, or it has wrongly not looked.
        while not other.done() and not await n_waiting():  # noqa: ASYNC110 - only the database knows
            await asyncio.sleep(0.01)
    with pytest.raises(Conflict):
        await other


async def script_of(client: httpx.AsyncClient, people: People, role: Role) -> httpx.AsyncClient:
    made = body_of(await client.post("/api/v1/api-tokens", json={"name": "script", "role": role}), 201)
    assert made["info"].items() >= {"name": "script", "role": role, "host": None, "revoked_at": None}.items()
    return people.client(authorization=f"Bearer {made['token']}")


async def test_api_tokens_reach_as_far_as_their_role_and_account(people: People, admin: httpx.AsyncClient) -> None:
    async with await people.enter(Role.ADMINISTRATOR, "ann") as ann:
        low, high = await script_of(ann, people, Role.VIEWER), await script_of(ann, people, Role.ADMINISTRATOR)
        assert (await low.get("/api/v1/auth/me")).json().items() >= {"name": "ann", "role": "viewer", "has_password": False}.items()
        assert_envelope(await low.get("/api/v1/users"), 403, "not_allowed")
        # No header against other sites' pages: a browser does not send this token by itself.
        assert (await high.post("/api/v1/users", json=NEW)).status_code == 201
        assert_envelope(await high.post("/api/v1/api-tokens", json={"name": "x", "role": "viewer"}), 403, "not_allowed")
        assert_envelope(await high.put("/api/v1/auth/password", json={"new_password": "another good one"}), 403, "not_allowed")
        await admin.patch("/api/v1/users/ann", json={"role": "operator"})
        assert_envelope(await high.get("/api/v1/users"), 403, "not_allowed")
        await admin.patch("/api/v1/users/ann", json={"is_disabled": True})
        assert_envelope(await low.get("/api/v1/auth/me"), 401, "not_authenticated")


async def test_api_tokens_die_with_their_account(people: People, admin: httpx.AsyncClient) -> None:
    async with await people.enter(Role.OPERATOR, "ann") as ann:
        script = await script_of(ann, people, Role.VIEWER)
        await admin.delete("/api/v1/users/ann")
        await admin.post("/api/v1/users", json=NEW | {"name": "ann"})
        assert_envelope(await script.get("/api/v1/auth/me"), 401, "not_authenticated")


async def test_who_sees_and_revokes_api_tokens(
    people: People, admin: httpx.AsyncClient, viewer: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    assert_envelope(await viewer.post("/api/v1/api-tokens", json={"name": "x", "role": "operator"}), 403, "not_allowed")
    script = await script_of(viewer, people, Role.VIEWER)
    tokens = (await viewer.get("/api/v1/api-tokens")).json()["tokens"]
    assert [token["name"] for token in tokens] == ["script"]
    assert (await operator.get("/api/v1/api-tokens")).json()["tokens"] == []
    assert len((await admin.get("/api/v1/api-tokens")).json()["tokens"]) == 1
    path = f"/api/v1/api-tokens/{tokens[0]['id']}"
    assert_envelope(await operator.delete(path), 404, "not_found")
    assert (await viewer.delete(path)).json() == {}
    assert_envelope(await script.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert (await viewer.get("/api/v1/api-tokens")).json()["tokens"][0]["revoked_at"] is not None


async def test_agent_tokens(people: People, admin: httpx.AsyncClient, state: AppState) -> None:
    made = (await admin.post("/api/v1/agent-tokens", json={"name": "rack 4", "host": "web1"})).json()
    assert made["info"].items() >= {"name": "rack 4", "host": "web1", "role": None, "last_used_at": None}.items()
    assert made["command"] == (
        "curl -fsS http://normstat.test/api/v1/agent/install.sh"
        f" | NORMSTAT_TOKEN={made['token']} sh -s -- --server http://normstat.test --host web1"
    )
    anywhere = (await admin.post("/api/v1/agent-tokens", json={"name": "any"})).json()
    assert anywhere["info"]["host"] is None
    assert "--host" not in anywhere["command"]
    assert_envelope(await admin.post("/api/v1/agent-tokens", json={"name": "x", "host": "a b"}), 400, "bad_request")
    listed = (await admin.get("/api/v1/agent-tokens")).json()["tokens"]
    assert [(token["name"], token["host"]) for token in listed] == [("any", None), ("rack 4", "web1")]
    assert await run_sql(state, "SELECT name FROM hosts") == [("web1",)]
    assert await run_sql(state, "SELECT length(token_hash) FROM agent_tokens") == [(32,), (32,)]
    assert_envelope(await admin.delete("/api/v1/agent-tokens/99"), 404, "not_found")
    agent = people.client(authorization=f"Bearer {made['token']}")
    assert (await agent.post("/api/v1/ingest")).status_code != 401
    assert (await admin.delete(f"/api/v1/agent-tokens/{made['info']['id']}")).json() == {}
    assert_envelope(await agent.post("/api/v1/ingest"), 401, "not_authenticated")


async def test_last_use_is_noted_once_a_minute(people: People, viewer: httpx.AsyncClient, state: AppState) -> None:
    script = await script_of(viewer, people, Role.VIEWER)

    async def used_at() -> list[Any]:
        await script.get("/api/v1/auth/me")
        return await run_sql(state, "SELECT last_used_at FROM api_tokens")

    async def set_used_at(ago: str) -> list[Any]:
        return await run_sql(state, f"UPDATE api_tokens SET last_used_at = now() - interval '{ago}' RETURNING last_used_at")

    assert await used_at() != [(None,)]
    # So that a slow machine does not make a minute of it: a little while ago is in the future.
    recent = await set_used_at("-1 hour")
    assert await used_at() == recent
    old = await set_used_at("61 seconds")
    assert await used_at() != old


async def test_an_api_token_neither_makes_nor_changes_administrators(people: People, admin: httpx.AsyncClient) -> None:
    async with await people.enter(Role.OPERATOR, "bob"):
        script = await script_of(admin, people, Role.ADMINISTRATOR)
        assert_envelope(await script.post("/api/v1/users", json=NEW | {"role": "administrator"}), 403, "not_allowed")
        assert_envelope(await script.patch("/api/v1/users/bob", json={"role": "administrator"}), 403, "not_allowed")
        for change in ({"password": "another good password"}, {"role": "viewer"}, {"is_disabled": True}, {}):
            assert_envelope(await script.patch("/api/v1/users/administrator", json=change), 403, "not_allowed")
        assert_envelope(await script.delete("/api/v1/users/administrator"), 403, "not_allowed")
        # What is below an administrator it may do.
        assert (await script.patch("/api/v1/users/bob", json={"role": "viewer"})).status_code == 200
        assert (await script.delete("/api/v1/users/bob")).status_code == 200
        assert [user["role"] for user in (await admin.get("/api/v1/users")).json()["users"]] == ["administrator"]
        # And an administrator with a session may do it all.
        assert (await admin.post("/api/v1/users", json=NEW | {"role": "administrator"})).status_code == 201


async def test_an_error_names_the_member_of_the_body(people: People, admin: httpx.AsyncClient) -> None:
    """A form shows it at the field."""

    async def refused(method: str, path: str, body: dict[str, object]) -> dict[str, object]:
        answer = await admin.request(method, f"/api/v1{path}", json=body)
        details: dict[str, object] = body_of(answer, answer.status_code)["error"]["details"]
        return details

    assert (await admin.post("/api/v1/users", json=NEW)).status_code == 201
    assert await refused("POST", "/users", NEW) == {"name": "bob"}
    assert await refused("POST", "/users", NEW | {"name": "ann", "password": "password123"}) == {"password": None}
    assert await refused("PATCH", "/users/bob", {"host_groups": ["none"]}) == {"host_groups": "none"}
    assert await refused("PATCH", "/users/administrator", {"host_groups": []}) == {"host_groups": None}
    assert await refused("POST", "/agent-tokens", {"name": "x", "host": "a b"}) == {"host": "a b"}
    async with await people.enter(Role.VIEWER, "vera") as vera:
        answer = await vera.post("/api/v1/api-tokens", json={"name": "x", "role": "operator"})
        assert body_of(answer, 403)["error"]["details"] == {"role": "operator"}


async def test_weak_passwords_of_accounts_are_refused(people: People, admin: httpx.AsyncClient) -> None:
    """Which they are: tests/auth/test_passwords.py."""
    password = "bobbobbobbob"
    async with await people.enter(Role.OPERATOR, "carl"):
        assert_envelope(await admin.post("/api/v1/users", json=NEW | {"password": password}), 400, "weak_password")
        assert_envelope(await admin.patch("/api/v1/users/carl", json={"password": password}), 400, "weak_password")
        assert [user["name"] for user in (await admin.get("/api/v1/users")).json()["users"]] == ["administrator", "carl"]


@pytest.mark.parametrize("is_kept", [False, True])
async def test_a_password_set_by_an_administrator_revokes_api_tokens_unless_told_otherwise(
    people: People, admin: httpx.AsyncClient, is_kept: bool
) -> None:
    async with await people.enter(Role.OPERATOR, "carl") as carl:
        script = await script_of(carl, people, Role.VIEWER)
        change: dict[str, object] = {"password": "another good password"} | ({"revoke_api_tokens": False} if is_kept else {})
        await admin.patch("/api/v1/users/carl", json={"role": "viewer"})
        assert (await script.get("/api/v1/auth/me")).status_code == 200
        assert (await admin.patch("/api/v1/users/carl", json=change)).status_code == 200
        assert (await script.get("/api/v1/auth/me")).status_code == (200 if is_kept else 401)
