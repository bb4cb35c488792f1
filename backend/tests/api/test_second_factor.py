"""The second factor: set up, asked for, used once, throttled, reset, demanded by a setting."""

import asyncio
import base64
import time
from dataclasses import replace
from typing import Any

import httpx
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from normstat.api.http.cookies import SESSION_COOKIE
from normstat.api.http.state import AppState
from normstat.auth import second_factor, totp
from normstat.auth.roles import Role
from normstat.auth.throttle import FREE_TRIES
from normstat.db.session import open_write_session
from tests.api.people import PASSWORD, People, body_of, run_sql
from tests.api.test_access import assert_envelope
from tests.api.test_login import CHANGE, link_token
from tests.auth.test_throttle import Clock

PATH = "/api/v1/auth/second-factor"


def code_now(secret: bytes) -> str:
    return totp.code_of(secret, int(time.time() // totp.PERIOD_S))


async def log_in(client: httpx.AsyncClient, code: str | None = None, password: str = PASSWORD) -> httpx.Response:
    return await client.post("/api/v1/auth/login", json={"name": "ann", "password": password, "code": code}, headers=CHANGE)


async def set_up(client: httpx.AsyncClient, password: str | None = PASSWORD) -> tuple[bytes, list[str]]:
    """Log in, set a second factor up; return its secret and the recovery codes."""
    client.headers.update(CHANGE)
    begun = body_of(await client.post(PATH, json={"password": password}))
    secret = base64.b32decode(begun["secret"])
    confirmed = body_of(await client.post(f"{PATH}/confirmation", json={"code": code_now(secret)}))
    return secret, confirmed["recovery_codes"]


async def forget_steps(state: AppState) -> None:
    """As if the last code had been long ago."""
    await run_sql(state, "UPDATE second_factors SET last_step = 0")


async def test_the_way_through(people: People, state: AppState, ann: str) -> None:
    client, elsewhere = people.client(), people.client()
    assert (await log_in(client)).json()["has_second_factor"] is False
    await log_in(elsewhere)
    secret, codes = await set_up(client)
    # The others were opened without a code.
    assert_envelope(await elsewhere.get("/api/v1/auth/me"), 401, "not_authenticated")
    found = (await client.get(PATH)).json()
    assert (found["n_recovery_codes"], found["is_required"], found["confirmed_at"] is None) == (10, False, False)
    async with open_write_session(state.sessions) as session:
        stored = [bytes(row) for row in await session.scalars(text("SELECT code_hash FROM recovery_codes"))]
    assert {len(row) for row in stored} == {32}

    asked = await log_in(elsewhere)
    assert_envelope(asked, 401, "second_factor_needed")
    assert asked.json()["error"]["details"] == {"reason": "missing"}
    assert SESSION_COOKIE not in asked.headers.get("set-cookie", "")
    wrong = await log_in(elsewhere, "000000" if code_now(secret) != "000000" else "000001")
    assert wrong.json()["error"]["details"] == {"reason": "wrong"}
    await forget_steps(state)
    right = await log_in(elsewhere, code_now(secret))
    assert right.json()["has_second_factor"] is True
    # Without the password the code is worth nothing, and nothing is said of it.
    await forget_steps(state)
    assert_envelope(await log_in(people.client(), code_now(secret), password="another one"), 401, "not_authenticated")

    assert (await log_in(elsewhere, codes[0].upper())).status_code == 200
    assert (await log_in(elsewhere, codes[0])).json()["error"]["details"] == {"reason": "wrong"}
    renewed = await client.post(f"{PATH}/recovery-codes", json={"code": codes[1]})
    assert len(renewed.json()["recovery_codes"]) == 10
    assert (await log_in(elsewhere, codes[2])).json()["error"]["details"] == {"reason": "wrong"}
    assert_envelope(await client.post(f"{PATH}/removal", json={"code": "123"}), 401, "second_factor_needed")
    body_of(await client.post(f"{PATH}/removal", json={"code": renewed.json()["recovery_codes"][0]}))
    assert (await log_in(people.client())).json()["has_second_factor"] is False


async def test_a_code_opens_one_session_however_many_ask_at_once(
    people: People, client: httpx.AsyncClient, state: AppState, ann: str
) -> None:
    await log_in(client)
    secret, codes = await set_up(client)
    await forget_steps(state)
    for code in (code_now(secret), codes[0]):
        answers = await asyncio.gather(*(log_in(people.client(f"10.0.0.{n}"), code) for n in range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401]


async def test_codes_are_throttled_as_passwords_are(people: People, state: AppState, ann: str, clock: Clock) -> None:
    client, thief = people.client(), people.client("10.0.0.9")
    await log_in(client)
    secret, _ = await set_up(client)
    for _ in range(3 * FREE_TRIES):
        # To be asked for the code costs nothing.
        assert_envelope(await log_in(thief), 401, "second_factor_needed")
    for _ in range(FREE_TRIES):
        assert_envelope(await log_in(thief, "000000"), 401, "second_factor_needed")
        await forget_steps(state)
    assert_envelope(await log_in(thief, code_now(secret)), 429, "too_many_requests")
    # Not even by asking without a code in between.
    assert_envelope(await log_in(thief), 429, "too_many_requests")
    for _ in range(FREE_TRIES):
        assert_envelope(await client.post(f"{PATH}/removal", json={"code": "000000"}), 401, "second_factor_needed")
    assert_envelope(await client.post(f"{PATH}/removal", json={"code": code_now(secret)}), 429, "too_many_requests")


async def test_an_open_browser_or_a_token_sets_nothing_up(people: People, client: httpx.AsyncClient, ann: str) -> None:
    await log_in(client)
    client.headers.update(CHANGE)
    assert_envelope(await client.post(PATH, json={}), 403, "not_allowed")
    assert_envelope(await client.post(PATH, json={"password": "wrong"}), 403, "not_allowed")
    assert_envelope(await client.post(f"{PATH}/confirmation", json={"code": "000000"}), 409, "conflict")
    token = (await client.post("/api/v1/api-tokens", json={"name": "x", "role": "operator"})).json()["token"]
    script = people.client(authorization=f"Bearer {token}")
    for path, body in (("", {"password": PASSWORD}), ("/confirmation", {"code": "0"}), ("/removal", {"code": "0"})):
        assert_envelope(await script.post(f"{PATH}{path}", json=body), 403, "not_allowed")
    # A secret that no code confirmed asks nobody.
    assert (await client.post(PATH, json={"password": PASSWORD})).status_code == 200
    assert (await log_in(people.client())).status_code == 200
    secret, _ = await set_up(client)
    assert_envelope(await client.post(PATH, json={"password": PASSWORD}), 409, "conflict")
    assert_envelope(await client.post(f"{PATH}/confirmation", json={"code": code_now(secret)}), 409, "conflict")


async def test_an_administrator_and_the_command_line_reset_it(people: People, state: AppState, ann: str) -> None:
    client, admin = people.client(), await people.enter(Role.ADMINISTRATOR)
    await log_in(client)
    await set_up(client)
    token = (await admin.post("/api/v1/api-tokens", json={"name": "x", "role": "administrator"})).json()["token"]
    script = people.client(authorization=f"Bearer {token}")
    assert_envelope(await script.delete("/api/v1/users/administrator/second-factor"), 403, "not_allowed")
    assert (await admin.delete("/api/v1/users/ann/second-factor")).status_code == 200
    assert_envelope(await client.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert (await log_in(client)).status_code == 200
    await set_up(client)
    async with open_write_session(state.sessions) as session:
        assert await second_factor.reset_of(session, None, "ann")
    assert (await log_in(client)).status_code == 200
    log: list[dict[str, Any]] = (await admin.get("/api/v1/audit")).json()["entries"]
    assert "reset_second_factor" in [entry["action"] for entry in log]
    assert PASSWORD not in str(log)


async def test_a_link_replaces_the_code(people: People, client: httpx.AsyncClient, state: AppState, ann: str) -> None:
    await log_in(client)
    await set_up(client)
    linked = await people.client().post("/api/v1/auth/link", json={"token": await link_token(state, "ann")})
    assert linked.status_code == 200


async def test_a_setting_demands_it(people: People, app: FastAPI, state: AppState, ann: str) -> None:
    app.state.normstat = replace(state, settings=state.settings.model_copy(update={"second_factor_role": "operator"}))
    client, viewer = people.client(), await people.enter(Role.VIEWER)
    assert (await viewer.get("/api/v1/hosts")).status_code == 200
    assert (await log_in(client)).json()["must_set_second_factor"] is True
    refused = await client.get("/api/v1/hosts")
    assert_envelope(refused, 403, "not_allowed")
    assert refused.json()["error"]["details"] == {"reason": "second_factor_required"}
    assert_envelope(
        await client.post("/api/v1/api-tokens", json={"name": "x", "role": "viewer"}, headers=CHANGE), 403, "not_allowed"
    )
    assert (await client.get(PATH)).json()["is_required"] is True
    await set_up(client)
    assert (await client.get("/api/v1/hosts")).status_code == 200
    token = (await client.post("/api/v1/api-tokens", json={"name": "x", "role": "viewer"})).json()["token"]
    script = people.client(authorization=f"Bearer {token}")
    assert (await script.get("/api/v1/hosts")).status_code == 200
    async with open_write_session(state.sessions) as session:
        await second_factor.reset_of(session, None, "ann")
    # A token with less rights does not get around it.
    assert_envelope(await script.get("/api/v1/hosts"), 403, "not_allowed")


async def test_another_key_refuses_and_recovery_codes_still_work(
    people: People, client: httpx.AsyncClient, app: FastAPI, state: AppState, ann: str
) -> None:
    def with_key(key: str) -> AppState:
        update = {"secret_key": SecretStr(key)}
        return replace(state, settings=state.settings.model_copy(update=update))

    app.state.normstat = with_key("k" * 32)
    await log_in(client)
    secret, codes = await set_up(client)
    async with open_write_session(state.sessions) as session:
        stored = await session.scalar(text("SELECT secret FROM second_factors"))
    assert secret not in bytes(stored)
    app.state.normstat = with_key("x" * 32)
    assert_envelope(await log_in(people.client(), code_now(secret)), 500, "internal")
    assert (await log_in(people.client(), codes[0])).status_code == 200
