"""The log says who came in, who did not, and what was changed about accounts and tokens; and it holds no secret."""

from collections.abc import Iterator, MutableMapping
from typing import Any

import httpx
import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from normstat.api.state import AppState
from normstat.auth.accounts import revoke_agent_token
from normstat.auth.roles import Role
from normstat.auth.security_log import MAX_IN_FULL
from normstat.storage.account_rows import list_agent_tokens
from normstat.storage.session import open_write_session
from tests.api.people import PASSWORD, ROOT, People
from tests.api.samples import VMSTAT, frames_of, send
from tests.api.test_login import CHANGE, link_token, log_in

Lines = list[MutableMapping[str, Any]]
# A password typed into the wrong field.
SLIP = "my secret in the name field"


@pytest.fixture
def lines(ann: str) -> Iterator[Lines]:
    with capture_logs() as lines:
        yield lines
    assert PASSWORD not in repr(lines)
    assert SLIP not in repr(lines)


def events(lines: Lines, *keys: str) -> list[tuple[object, ...]]:
    return [tuple(line.get(key) for key in ("event", *keys)) for line in lines if line["event"] != "request_done"]


async def test_logins(client: httpx.AsyncClient, people: People, lines: Lines) -> None:
    await log_in(client, password="guess")
    await log_in(client, SLIP)
    await log_in(client)
    await log_in(client)
    await client.post("/api/v1/auth/logout", headers=CHANGE)
    async with await people.enter(Role.VIEWER, "linked"):
        await log_in(people.client(), "linked")
    assert events(lines, "account", "reason", "is_known_browser") == [
        ("login_failed", "'ann'", "wrong_password", None),
        ("login_failed", None, "unknown_account", None),
        ("login_succeeded", "'ann'", None, False),
        ("login_succeeded", "'ann'", None, True),
        ("logged_out", "'ann'", None, None),
        ("login_failed", "'linked'", "no_password_set", None),
    ]


async def test_links(client: httpx.AsyncClient, state: AppState, lines: Lines) -> None:
    token = await link_token(state, "ann", must_forget_password=True)
    for text in (token, token, "unknown"):
        await client.post("/api/v1/auth/link", json={"token": text})
    assert events(lines, "account", "reason") == [
        ("password_forgotten", "'ann'", None),
        ("login_link_made", "'ann'", None),
        ("login_link_used", "'ann'", None),
        ("login_link_refused", None, "used"),
        ("login_link_refused", None, "unknown"),
    ]
    assert token not in repr(lines)


async def test_passwords_and_accounts(client: httpx.AsyncClient, admin: httpx.AsyncClient, lines: Lines) -> None:
    await log_in(client)
    wrong = {"old_password": "wrong", "new_password": "another good password"}
    await client.put("/api/v1/auth/password", json=wrong, headers=CHANGE)
    await client.put("/api/v1/auth/password", json=wrong | {"old_password": PASSWORD}, headers=CHANGE)
    await admin.post("/api/v1/users", json={"name": "bob", "role": "viewer", "password": PASSWORD})
    await admin.post("/api/v1/users", json={"name": "bob", "role": "viewer", "password": PASSWORD})
    await admin.patch("/api/v1/users/bob", json={"role": "operator"})
    await admin.patch("/api/v1/users/bob", json={"is_disabled": True, "password": "another good password"})
    await admin.delete("/api/v1/users/bob")
    assert events(lines, "account", "by", "role", "is_disabled", "is_password_set")[1:] == [
        ("request_not_allowed", "'ann'", None, None, None, None),
        ("password_changed", "'ann'", None, None, None, None),
        ("account_created", "'bob'", "'administrator'", "viewer", None, None),
        ("account_changed", "'bob'", "'administrator'", "operator", None, False),
        ("account_changed", "'bob'", "'administrator'", None, True, True),
        ("account_deleted", "'bob'", "'administrator'", None, None, None),
    ]


async def test_tokens(people: People, admin: httpx.AsyncClient, lines: Lines) -> None:
    made = (await admin.post("/api/v1/api-tokens", json={"name": "script", "role": "viewer"})).json()
    agent = (await admin.post("/api/v1/agent-tokens", json={"name": "rack", "host": "web1"})).json()
    await admin.delete(f"/api/v1/api-tokens/{made['info']['id']}")
    await admin.delete(f"/api/v1/agent-tokens/{agent['info']['id']}")
    for token, path in ((made["token"], "/api/v1/hosts"), ("nst_unknown", "/api/v1/hosts")):
        await people.client(authorization=f"Bearer {token}").get(path)
    for token in (agent["token"], "nsa_unknown"):
        await people.client(authorization=f"Bearer {token}").post("/api/v1/ingest")
    assert events(lines, "kind", "reason") == [
        ("api_token_created", None, None),
        ("agent_token_created", None, None),
        ("api_token_revoked", None, None),
        ("agent_token_revoked", None, None),
        ("token_refused", "api", "revoked"),
        ("token_refused", "api", "unknown"),
        ("token_refused", "agent", "revoked"),
        ("token_refused", "agent", "unknown"),
    ]
    assert made["token"] not in repr(lines)
    assert agent["token"] not in repr(lines)


async def test_a_token_of_a_disabled_account(people: People, admin: httpx.AsyncClient, lines: Lines) -> None:
    async with await people.enter(Role.OPERATOR, "carl") as carl:
        token = (await carl.post("/api/v1/api-tokens", json={"name": "script", "role": "viewer"})).json()["token"]
        await admin.patch("/api/v1/users/carl", json={"is_disabled": True})
        await people.client(authorization=f"Bearer {token}").get("/api/v1/hosts")
    assert events(lines, "reason")[-1] == ("token_refused", "account_disabled")


async def test_a_token_revoked_in_another_process(agent: httpx.AsyncClient, state: AppState, lines: Lines) -> None:
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200
    async with open_write_session(state.sessions) as session:
        token, _ = (await list_agent_tokens(session))[0]
        await revoke_agent_token(session, ROOT, token.id)
    for _ in range(2):
        assert (await send(agent, frames_of(VMSTAT))).status_code == 401
    assert events(lines, "reason")[-2:] == [("token_refused", "revoked")] * 2


async def test_what_a_role_does_not_reach(viewer: httpx.AsyncClient, lines: Lines) -> None:
    for _ in range(20):
        assert (await viewer.get("/api/v1/users")).status_code == 403
    del viewer.headers["X-Normstat-Request"]
    assert (await viewer.post("/api/v1/auth/logout")).status_code == 403
    refused = events(lines, "account", "method", "path")
    assert refused[:MAX_IN_FULL] == [("request_not_allowed", "'viewer'", "GET", "'/api/v1/users'")] * MAX_IN_FULL
    # The one of another site's page comes from nobody yet.
    assert refused[MAX_IN_FULL:] == [("request_not_allowed", None, "POST", "'/api/v1/auth/logout'")]


async def test_lines_name_the_address_and_the_request(people: People, ann: str) -> None:
    with capture_logs(processors=[merge_contextvars]) as lines:
        answer = await log_in(people.client(address="192.0.2.7"), password="guess")
    assert lines[0]["event"] == "login_failed"
    assert lines[0]["address"] == "192.0.2.7"
    assert lines[0]["request_id"] == answer.headers["X-Request-Id"]
