"""The list of sessions: one's own, those of others for administrators, and their end."""

import httpx
import pytest

from normstat.api.state import AppState
from normstat.auth.roles import Role
from normstat.storage import account_rows
from tests.api.people import People, body_of, run_sql
from tests.api.test_access import assert_envelope
from tests.api.test_login import CHANGE, log_in

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
CHANGE_HEADER = {name.lower().replace("-", "_"): value for name, value in CHANGE.items()}
HOSTILE = "Firefox/128<script>alert(1)</script>" + "x" * 5000


async def sessions_of(client: httpx.AsyncClient, path: str = "/api/v1/auth/sessions") -> list[dict[str, object]]:
    answer = body_of(await client.get(path))
    found: list[dict[str, object]] = answer["sessions"]
    return found


async def test_ones_own_sessions_are_listed_and_ended(people: People, ann: str) -> None:
    here, there = people.client(user_agent=FIREFOX, **CHANGE_HEADER), people.client("10.0.0.9", user_agent=HOSTILE, **CHANGE_HEADER)
    assert (await log_in(here)).status_code == (await log_in(there)).status_code == 200
    listed = await sessions_of(here)
    assert [(row["browser"], row["address"], row["means"], row["is_current"]) for row in listed] == [
        ("Firefox 128", "10.0.0.9", "password", False),
        ("Firefox 128 on Linux", "127.0.0.1", "password", True),
    ]
    assert set(listed[0]) == {"id", "created_at", "last_seen_at", "expires_at", "address", "browser", "means", "is_current"}
    assert (await here.delete(f"/api/v1/auth/sessions/{listed[0]['id']}")).status_code == 200
    assert_envelope(await there.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert_envelope(await here.delete(f"/api/v1/auth/sessions/{listed[0]['id']}"), 404, "not_found")
    assert (await log_in(there)).status_code == 200
    assert (await here.delete("/api/v1/auth/sessions")).json() == {"n_ended": 1}
    assert [row["is_current"] for row in await sessions_of(here)] == [True]


async def test_a_login_beyond_the_limit_ends_the_oldest_session(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_rows, "MAX_SESSIONS", 2)
    other = await people.enter(Role.VIEWER, "lee")
    clients = [await people.enter(Role.VIEWER, "kim") for _ in range(3)]
    assert [(await client.get("/api/v1/auth/me")).status_code for client in (*clients, other)] == [401, 200, 200, 200]


async def test_nobody_ends_or_sees_anothers_session(people: People, ann: str) -> None:
    victim, thief = people.client(**CHANGE_HEADER), await people.enter(Role.OPERATOR, "mallory")
    await log_in(victim)
    [mine] = await sessions_of(victim)
    assert mine["id"] not in [row["id"] for row in await sessions_of(thief)]
    assert_envelope(await thief.delete(f"/api/v1/auth/sessions/{mine['id']}"), 404, "not_found")
    assert_envelope(await thief.get("/api/v1/users/ann/sessions"), 403, "not_allowed")
    assert (await thief.delete("/api/v1/auth/sessions")).json() == {"n_ended": 0}
    assert (await victim.get("/api/v1/auth/me")).status_code == 200


async def test_an_administrator_ends_sessions_of_any_account(people: People, admin: httpx.AsyncClient, ann: str) -> None:
    first, second = people.client(**CHANGE_HEADER), people.client(**CHANGE_HEADER)
    await log_in(first)
    await log_in(second)
    listed = await sessions_of(admin, "/api/v1/users/ann/sessions")
    assert [row["is_current"] for row in listed] == [False, False]
    # The number belongs to the account that is named.
    assert_envelope(await admin.delete(f"/api/v1/users/administrator/sessions/{listed[1]['id']}"), 404, "not_found")
    assert (await admin.delete(f"/api/v1/users/ann/sessions/{listed[1]['id']}")).status_code == 200
    assert_envelope(await first.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert (await admin.delete("/api/v1/users/ann/sessions")).json() == {"n_ended": 1}
    assert_envelope(await second.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert_envelope(await admin.get("/api/v1/users/nobody/sessions"), 404, "not_found")
    log = (await admin.get("/api/v1/audit", params={"action": "end_user_sessions"})).json()["entries"]
    assert [entry["target"] for entry in log] == [{"name": "ann"}]


async def test_an_api_token_ends_no_session_of_its_account_or_of_an_administrator(
    people: People, admin: httpx.AsyncClient, ann: str
) -> None:
    made = await admin.post("/api/v1/api-tokens", json={"name": "leavers", "role": "administrator"})
    script = people.client(authorization=f"Bearer {made.json()['token']}")
    [current] = await sessions_of(script)
    assert current["is_current"] is False
    for path in ("/auth/sessions", f"/auth/sessions/{current['id']}", "/users/administrator/sessions"):
        assert_envelope(await script.delete(f"/api/v1{path}"), 403, "not_allowed")
    assert (await script.delete("/api/v1/users/ann/sessions")).json() == {"n_ended": 0}


async def test_a_session_is_noted_as_seen_once_a_minute(people: People, state: AppState, ann: str) -> None:
    client = people.client(**CHANGE_HEADER)
    await log_in(client)
    [before] = await sessions_of(client)
    [unchanged] = await sessions_of(client)
    assert unchanged["last_seen_at"] == before["last_seen_at"]
    await run_sql(state, "UPDATE sessions SET last_seen_at = now() - interval '2 minutes', address = 'old'")
    [seen] = await sessions_of(client)
    assert (seen["address"], seen["last_seen_at"] != before["last_seen_at"]) == ("127.0.0.1", True)
