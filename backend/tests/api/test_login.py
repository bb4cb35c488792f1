"""Ways into an account and out of it; the list of its sessions, and their end."""

from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import text

from normstat.api.http.cookies import SESSION_COOKIE
from normstat.api.http.state import AppState
from normstat.auth import account_rows, login, passwords
from normstat.auth.accounts import UserUpdate, change_account
from normstat.auth.login_expiry import delete_expired_logins
from normstat.auth.roles import Role
from normstat.auth.throttle import FREE_TRIES, FREE_TRIES_OF_ADDRESS, FREE_TRIES_OF_NAME, Throttle
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.errors import Conflict, NotFound
from tests.api.people import PASSWORD, ROOT, People, body_of, run_sql
from tests.api.test_access import assert_envelope
from tests.auth.test_throttle import Clock

CHANGE = {"X-Normstat-Request": "1"}

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
CHANGE_HEADER = {name.lower().replace("-", "_"): value for name, value in CHANGE.items()}
HOSTILE = "Firefox/128<script>alert(1)</script>" + "x" * 5000


async def link_token(state: AppState, name: str | None = None, *, must_forget_password: bool = False) -> str:
    async with open_write_session(state.sessions) as session:
        _, token = await login.make_link(session, name=name, must_forget_password=must_forget_password)
    return token


async def log_in(client: httpx.AsyncClient, name: str = "ann", password: str = PASSWORD) -> httpx.Response:
    return await client.post("/api/v1/auth/login", json={"name": name, "password": password})


async def test_password_login_sets_a_careful_cookie(client: httpx.AsyncClient, ann: str, state: AppState) -> None:
    response = await log_in(client)
    assert response.status_code == 200
    assert response.json().items() >= {"name": "ann", "role": "operator", "has_password": True}.items()
    cookie = response.headers["Set-Cookie"]
    for part in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=2592000"):
        assert part in cookie
    assert "Secure" not in cookie
    assert (await client.get("/api/v1/auth/me")).json()["name"] == "ann"
    token = client.cookies[SESSION_COOKIE]
    async with open_read_session(state.sessions) as session:
        stored = (await session.execute(text("SELECT token_hash FROM sessions"))).scalars().all()
        hashes = (await session.execute(text("SELECT password_hash FROM users"))).scalars().all()
    assert [len(value) for value in stored] == [32]
    assert token.encode() not in stored
    assert hashes[0].startswith("$argon2id$")


async def test_cookie_is_secure_where_the_setting_says_so(state: AppState, app: FastAPI, people: People, ann: str) -> None:
    app.state.normstat = replace(state, settings=state.settings.model_copy(update={"cookie_secure": True}))
    async with people.client() as client:
        answer = await log_in(client)
        assert answer.headers["Set-Cookie"].count("Secure") == 2
        session = client.cookies[f"__Host-{SESSION_COOKIE}"]
    async with people.client() as client:
        for name, status in ((f"__Host-{SESSION_COOKIE}", 200), (SESSION_COOKIE, 401)):
            assert (await client.get("/api/v1/auth/me", headers={"Cookie": f"{name}={session}"})).status_code == status


async def test_unknown_wrong_disabled_and_passwordless_get_the_same_answer(
    client: httpx.AsyncClient, people: People, ann: str, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_verified = 0
    verify = PasswordHasher.verify

    def count(self: PasswordHasher, password_hash: str, password: str) -> bool:
        nonlocal n_verified
        # A text that is no hash would be refused at once, and that time would tell.
        n_verified += password_hash.startswith("$argon2id$")
        return verify(self, password_hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", count)
    await people.enter(Role.VIEWER, "nopassword")
    answers = [await log_in(client, "nobody"), await log_in(client, "ann", "wrong"), await log_in(client, "nopassword")]
    async with open_write_session(state.sessions) as session:
        await change_account(session, ROOT, "ann", UserUpdate(is_disabled=True))
    answers.append(await log_in(client, "ann"))
    for answer in answers:
        assert_envelope(answer, 401, "not_authenticated")
        assert answer.json()["error"]["message"] == login.WRONG
    # The time is that of one argon2 verification in each case.
    assert n_verified == len(answers)


async def test_guessing_is_slowed_down(client: httpx.AsyncClient, ann: str, clock: Clock) -> None:
    for _ in range(FREE_TRIES):
        assert (await log_in(client, password="guess")).status_code == 401
    response = await log_in(client)
    assert_envelope(response, 429, "too_many_requests")
    assert response.headers["Retry-After"] == "1"
    clock.now += 1
    assert (await log_in(client)).status_code == 200


async def test_a_known_browser_is_let_in_while_others_guess(
    client: httpx.AsyncClient, people: People, ann: str, clock: Clock
) -> None:
    assert (await log_in(client)).status_code == 200
    cookie = client.cookies["normstat_browser"]
    await client.post("/api/v1/auth/logout", headers=CHANGE)
    async with people.client() as attacker:
        for _ in range(FREE_TRIES):
            await log_in(attacker, password="guess")
        assert (await log_in(attacker)).status_code == 429
        # A cookie of somebody's own making tells nothing, and neither does one of another account.
        attacker.cookies.set("normstat_browser", "made up")
        assert (await log_in(attacker)).status_code == 429
    again = await log_in(client)
    assert again.status_code == 200
    assert client.cookies["normstat_browser"] == cookie
    changed = {"old_password": PASSWORD, "new_password": "another good password"}
    async with people.client() as owner:
        clock.now += 3600
        assert (await log_in(owner)).status_code == 200
        assert (await owner.put("/api/v1/auth/password", json=changed, headers=CHANGE)).status_code == 200
    # The new password has made the browser a stranger: it waits like one.
    for _ in range(FREE_TRIES):
        assert (await log_in(client, password="guess")).status_code == 401
    async with people.client() as stranger:
        assert (await log_in(stranger, password="guess")).status_code == 429


async def test_a_planted_browser_cookie_is_not_adopted(people: People, ann: str) -> None:
    async with people.client() as client:
        client.cookies.set("normstat_browser", "planted", domain="normstat.test", path="/")
        assert (await log_in(client)).status_code == 200
        assert client.cookies["normstat_browser"] != "planted"


async def test_a_known_address_is_let_in_while_others_guess(app: FastAPI, people: People, ann: str, clock: Clock) -> None:
    async with people.client(address="192.0.2.1") as desk:
        assert (await log_in(desk)).status_code == 200
    for number in range(FREE_TRIES_OF_NAME):
        async with people.client(address=f"198.51.100.{number}") as attacker:
            assert (await log_in(attacker, password="guess")).status_code == 401
    async with people.client(address="203.0.113.1") as elsewhere, people.client(address="192.0.2.1") as desk:
        assert (await log_in(elsewhere)).status_code == 429
        assert (await log_in(desk)).status_code == 200


async def test_a_right_link_passes_a_flood(client: httpx.AsyncClient, state: AppState, ann: str, clock: Clock) -> None:
    for _ in range(FREE_TRIES_OF_ADDRESS):
        assert (await client.post("/api/v1/auth/link", json={"token": "x"})).status_code == 401
        await log_in(client, password="guess")
    assert (await client.post("/api/v1/auth/link", json={"token": "x"})).status_code == 429
    assert (await client.post("/api/v1/auth/link", json={"token": await link_token(state, "ann")})).status_code == 200


async def test_a_full_queue_sends_away_and_counts_nothing(
    client: httpx.AsyncClient, ann: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(passwords, "MAX_WAITING", -1)
        for _ in range(2 * FREE_TRIES):
            response = await log_in(client)
            assert_envelope(response, 503, "overloaded")
            assert int(response.headers["Retry-After"]) >= 1
    assert (await log_in(client)).status_code == 200


async def test_another_sites_page_cannot_log_in(client: httpx.AsyncClient, ann: str) -> None:
    body = {"name": "ann", "password": PASSWORD}
    response = await client.post("/api/v1/auth/login", json=body, headers={"Origin": "https://evil.example"})
    assert_envelope(response, 403, "not_allowed")
    # What a plain HTML form can send is not JSON.
    form = await client.post(
        "/api/v1/auth/login", content=f'{{"name":"ann","password":"{PASSWORD}"}}', headers={"Content-Type": "text/plain"}
    )
    assert_envelope(form, 422, "invalid_request")
    assert PASSWORD not in form.text


async def test_log_out_ends_this_session_alone(people: People) -> None:
    async with await people.enter(Role.VIEWER) as here, await people.enter(Role.VIEWER) as there:
        assert (await here.post("/api/v1/auth/logout")).json() == {"provider_logout_url": None}
        here.cookies.set(SESSION_COOKIE, here.cookies.get(SESSION_COOKIE) or "gone")
        assert_envelope(await here.get("/api/v1/auth/me"), 401, "not_authenticated")
        assert (await there.get("/api/v1/auth/me")).status_code == 200


async def test_session_ends_by_itself(app: FastAPI, state: AppState) -> None:
    people = People(app, state, timedelta(seconds=-1))
    async with await people.enter(Role.VIEWER) as client:
        assert_envelope(await client.get("/api/v1/auth/me"), 401, "not_authenticated")
    await delete_expired_logins(state.sessions)
    assert await run_sql(state, "SELECT count(*) FROM sessions") == [(0,)]


async def test_link_makes_the_first_administrator_and_works_once(client: httpx.AsyncClient, state: AppState) -> None:
    token = await link_token(state)
    response = await client.post("/api/v1/auth/link", json={"token": token})
    assert response.json().items() >= {"name": "admin", "role": "administrator", "has_password": False}.items()
    assert (await client.get("/api/v1/users")).status_code == 200
    again = await client.post("/api/v1/auth/link", json={"token": token})
    assert_envelope(again, 409, "conflict")
    assert again.json()["error"]["details"] == {"reason": "used"}
    assert_envelope(await client.post("/api/v1/auth/link", json={"token": "x"}), 401, "not_authenticated")
    # A second link opens the same account.
    assert (await client.post("/api/v1/auth/link", json={"token": await link_token(state)})).json()["name"] == "admin"


async def test_old_link_says_so(client: httpx.AsyncClient, state: AppState) -> None:
    token = await link_token(state)
    await run_sql(state, "UPDATE login_links SET expires_at = now()")
    response = await client.post("/api/v1/auth/link", json={"token": token})
    assert_envelope(response, 409, "conflict")
    assert response.json()["error"]["details"] == {"reason": "expired"}


async def test_link_of_a_named_account(state: AppState, client: httpx.AsyncClient, ann: str) -> None:
    response = await client.post("/api/v1/auth/link", json={"token": await link_token(state, "ann")})
    assert response.json().items() >= {"name": "ann", "role": "operator", "has_password": True}.items()
    with pytest.raises(NotFound):
        await link_token(state, "nobody")
    async with open_write_session(state.sessions) as session:
        await change_account(session, ROOT, "ann", UserUpdate(is_disabled=True))
    with pytest.raises(Conflict):
        await link_token(state, "ann")


async def test_forgotten_password(state: AppState, client: httpx.AsyncClient, people: People, ann: str) -> None:
    async with await people.enter(Role.OPERATOR, "ann") as elsewhere:
        token = await link_token(state, "ann", must_forget_password=True)
        assert_envelope(await elsewhere.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert (await client.post("/api/v1/auth/link", json={"token": token})).json()["has_password"] is False
    changed = await client.put("/api/v1/auth/password", json={"new_password": "another good password"}, headers=CHANGE)
    assert changed.json()["has_password"] is True
    assert (await log_in(people.client(), password="another good password")).status_code == 200


async def test_changing_the_password_ends_other_sessions(client: httpx.AsyncClient, people: People, ann: str) -> None:
    await log_in(client)
    async with await people.enter(Role.OPERATOR, "ann") as other:
        old = client.cookies[SESSION_COOKIE]
        wrong = await client.put(
            "/api/v1/auth/password", json={"old_password": "wrong", "new_password": "another good password"}, headers=CHANGE
        )
        assert_envelope(wrong, 403, "not_allowed")
        body = {"old_password": PASSWORD, "new_password": "another good password"}
        assert (await client.put("/api/v1/auth/password", json=body, headers=CHANGE)).status_code == 200
        assert client.cookies[SESSION_COOKIE] != old
        assert (await client.get("/api/v1/auth/me")).status_code == 200
        assert_envelope(await other.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert (await log_in(people.client())).status_code == 401
    assert (await log_in(people.client(), password="another good password")).status_code == 200


@pytest.mark.parametrize("is_kept", [False, True])
async def test_a_new_password_revokes_api_tokens_unless_told_otherwise(
    client: httpx.AsyncClient, people: People, ann: str, is_kept: bool
) -> None:
    await log_in(client)
    made = await client.post("/api/v1/api-tokens", json={"name": "script", "role": "viewer"}, headers=CHANGE)
    script = people.client(authorization=f"Bearer {made.json()['token']}")
    assert (await script.get("/api/v1/auth/me")).status_code == 200
    body: dict[str, object] = {"old_password": PASSWORD, "new_password": "another good password"}
    body |= {"revoke_api_tokens": False} if is_kept else {}
    assert (await client.put("/api/v1/auth/password", json=body, headers=CHANGE)).status_code == 200
    assert (await script.get("/api/v1/auth/me")).status_code == (200 if is_kept else 401)


async def test_a_forgotten_password_revokes_api_tokens(
    client: httpx.AsyncClient, people: People, state: AppState, ann: str
) -> None:
    await log_in(client)
    made = await client.post("/api/v1/api-tokens", json={"name": "script", "role": "viewer"}, headers=CHANGE)
    script = people.client(authorization=f"Bearer {made.json()['token']}")
    await link_token(state, "ann", must_forget_password=True)
    assert (await script.get("/api/v1/auth/me")).status_code == 401


async def test_weak_passwords_are_refused_and_slowed_down(client: httpx.AsyncClient, ann: str, clock: Clock) -> None:
    await log_in(client)
    body = {"old_password": PASSWORD, "new_password": "password123"}
    for _ in range(FREE_TRIES):
        weak = await client.put("/api/v1/auth/password", json=body, headers=CHANGE)
        assert_envelope(weak, 400, "weak_password")
        assert weak.json()["error"]["details"] == {"new_password": None}
    assert_envelope(await client.put("/api/v1/auth/password", json=body, headers=CHANGE), 429, "too_many_requests")


async def test_whoever_cannot_count_lets_nobody_in(app: FastAPI, client: httpx.AsyncClient, ann: str, state: AppState) -> None:
    away = make_engine("postgresql://normstat@127.0.0.1:1/none", pool_size=1)
    app.state.normstat = replace(state, throttle=Throttle(make_sessions(away)))
    assert_envelope(await log_in(client), 503, "database_away")
    assert SESSION_COOKIE not in client.cookies
    await away.dispose()


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
