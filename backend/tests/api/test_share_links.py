"""Share links: one comparison or one report for whoever has the link, until it expires, and nothing else."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.db.session import open_write_session
from normstat.records import share_link_rows
from normstat.sharing import share_links
from tests.api.people import People, body_of, run_sql
from tests.api.test_access import assert_envelope
from tests.api.test_reports import add, start_report
from tests.api.test_reports import text as text_note
from tests.api.test_saved_comparisons import HOST, fill, save
from tests.databases import Sessions

LINKS = "/api/v1/share-links"


@pytest.fixture
async def operator(people: People) -> httpx.AsyncClient:
    return await people.enter(Role.OPERATOR, "kim")


@pytest.fixture
async def report(operator: httpx.AsyncClient) -> int:
    found = await start_report(operator, title="Web shop slow")
    await add(operator, found, text_note("The shared <script>alert(1)</script> words", "What happened"))
    other = await start_report(operator, title="Another team's secret")
    await add(operator, other, text_note("Not for strangers", "Secret"))
    return found


async def share(client: httpx.AsyncClient, **body: object) -> tuple[str, dict[str, Any]]:
    answer = body_of(await client.post(LINKS, json=body), 201)
    address, token = answer["address"].split("#token=")
    # Browsers send a fragment neither to the server nor as a referrer.
    assert address == "http://normstat.test/shared"
    return token, answer["info"]


async def open_link(client: httpx.AsyncClient, token: str) -> httpx.Response:
    return await client.post(f"{LINKS}/open", json={"token": token})


async def test_a_report_is_shown_without_a_login(
    people: People, operator: httpx.AsyncClient, report: int, client: httpx.AsyncClient, state: AppState
) -> None:
    token, info = await share(operator, report=report)
    shown = await open_link(client, token)
    assert shown.status_code == 200
    body = shown.json()
    assert (body["kind"], body["title"], body["shared_by"]) == ("report", "Web shop slow", "kim")
    assert body["expires_at"] == info["expires_at"]
    assert "The shared" in body["html"]
    assert "<script" not in body["html"]
    assert "secret" not in body["html"].lower()
    # It is no login, and no token for anything else.
    assert not client.cookies
    assert_envelope(await client.get(f"/api/v1/reports/{report}"), 401, "not_authenticated")
    bearer = people.client(authorization=f"Bearer {token}")
    assert_envelope(await bearer.get("/api/v1/hosts"), 401, "not_authenticated")
    assert_envelope(await bearer.post("/api/v1/ingest"), 401, "not_authenticated")
    [listed] = (await operator.get(LINKS, params={"report": report})).json()["links"]
    assert listed["n_opened"] == 1
    async with open_write_session(state.sessions) as session:
        stored = str((await session.execute(text("SELECT * FROM share_links"))).all())
        audited = (await session.execute(text("SELECT action, means, target::text FROM audit_entries ORDER BY id"))).all()
    assert token not in stored
    assert [row[:2] for row in audited[-2:]] == [("create_share_link", "session"), ("open_share_link", "link")]
    assert token not in str(audited)


async def test_a_comparison_is_shown_as_it_was_saved(people: People, sessions: Sessions, client: httpx.AsyncClient) -> None:
    await fill(sessions)
    operator = await people.enter(Role.OPERATOR, "kim")
    saved = await save(operator)
    token, _ = await share(operator, comparison=saved.id)
    # What somebody notes on the host later is not part of it.
    noted = {"at": "2026-11-21T10:00:00Z", "text": "password is hunter2"}
    await operator.post("/api/v1/events", json=noted)
    body = (await open_link(client, token)).json()
    assert (body["kind"], body["title"]) == ("comparison", "Burnt")
    assert "usr" in body["html"]
    assert "Ask Kim." in body["html"]
    assert "hunter2" not in body["html"]
    assert "<script" not in body["html"]
    assert "onerror=alert(2)>" not in body["html"]
    assert (await operator.delete(f"/api/v1/comparisons/{saved.id}")).status_code == 200
    assert_envelope(await open_link(client, token), 404, "not_found")


async def test_links_end(
    people: People, operator: httpx.AsyncClient, report: int, client: httpx.AsyncClient, state: AppState
) -> None:
    by_time, _ = await share(operator, report=report, lifetime_s=60)
    revoked, info = await share(operator, report=report)
    assert (await operator.delete(f"{LINKS}/{info['id']}")).status_code == 200
    await run_sql(state, "UPDATE share_links SET expires_at = now() WHERE revoked_at IS NULL")
    answers = [await open_link(client, token) for token in (by_time, revoked, "nss_guess")]
    # One message for all: a stranger learns nothing.
    assert {(answer.status_code, answer.json()["error"]["message"]) for answer in answers} == {
        (404, "This link is unknown, has expired or was revoked; ask the sender for a new one")
    }
    of_account, _ = await share(operator, report=report)
    of_report, _ = await share(await people.enter(Role.OPERATOR, "lee"), report=report)
    admin = await people.enter(Role.ADMINISTRATOR)
    assert (await admin.patch("/api/v1/users/kim", json={"is_disabled": True})).status_code == 200
    assert_envelope(await open_link(client, of_account), 404, "not_found")
    assert (await open_link(client, of_report)).status_code == 200
    assert (await admin.delete(f"/api/v1/reports/{report}")).status_code == 200
    assert_envelope(await open_link(client, of_report), 404, "not_found")
    async with open_write_session(state.sessions) as session:
        await session.execute(text("UPDATE share_links SET expires_at = now() - interval '40 days'"))
        await share_link_rows.delete_old(session, keep=timedelta(days=30))
    assert (await admin.get(LINKS)).json()["links"] == []


async def test_a_link_shows_no_more_than_its_maker_may_share(people: People, sessions: Sessions, client: httpx.AsyncClient) -> None:
    await fill(sessions)
    kim, admin = await people.enter(Role.OPERATOR, "kim"), await people.enter(Role.ADMINISTRATOR)
    tokens = [
        (await share(kim, comparison=(await save(kim)).id))[0],
        (await share(kim, report=await start_report(kim, title="Burnt", hosts=[HOST])))[0],
    ]
    body_of(await admin.post("/api/v1/host-groups", json={"name": "shop", "hosts": [HOST]}), 201)

    async def statuses() -> set[tuple[int, str]]:
        answers = [await open_link(client, token) for token in tokens]
        return {(answer.status_code, answer.json().get("error", {}).get("message", "")) for answer in answers}

    is_open, is_closed = {(200, "")}, {(404, share_links.CLOSED)}
    for change, expected in (
        ({"role": "viewer"}, is_closed),
        ({"role": "operator"}, is_open),
        ({"host_groups": ["shop"]}, is_open),
        ({"host_groups": []}, is_closed),
        ({"host_groups": None, "is_disabled": True}, is_closed),
        ({"is_disabled": False}, is_open),
    ):
        body_of(await admin.patch("/api/v1/users/kim", json=change))
        assert await statuses() == expected, change
    assert (await admin.delete("/api/v1/users/kim")).status_code == 200
    # A later account of the same name does not bring them back.
    await people.enter(Role.OPERATOR, "kim")
    assert await statuses() == is_closed


async def test_links_belong_to_whoever_made_them(people: People, operator: httpx.AsyncClient, report: int) -> None:
    _, info = await share(operator, report=report)
    other, admin = await people.enter(Role.OPERATOR, "lee"), await people.enter(Role.ADMINISTRATOR)
    assert (await other.get(LINKS)).json()["links"] == []
    assert_envelope(await other.delete(f"{LINKS}/{info['id']}"), 404, "not_found")
    assert [link["id"] for link in (await admin.get(LINKS)).json()["links"]] == [info["id"]]
    assert (await admin.delete(f"{LINKS}/{info['id']}")).status_code == 200


@pytest.mark.usefixtures("clock")
async def test_limits(operator: httpx.AsyncClient, report: int, app: FastAPI, state: AppState, people: People) -> None:
    for body, status in (
        ({"report": report, "lifetime_s": 31 * 86400}, 400),
        ({"report": report, "comparison": 1}, 400),
        ({}, 400),
        ({"report": 999_999}, 404),
        ({"comparison": 999_999}, 404),
    ):
        assert (await operator.post(LINKS, json=body)).status_code == status, body
    token, _ = await share(operator, report=report)
    # Both guesses and openings are slowed down; a guesser does not lock others out.
    guesser = people.client("10.9.9.9")
    assert [(await open_link(guesser, "nss_guess")).status_code for _ in range(52)][-1] == 429
    assert (await open_link(guesser, token)).status_code == 200
    app.state.normstat = replace(state, settings=state.settings.model_copy(update={"share_max_days": 0}))
    assert_envelope(await operator.post(LINKS, json={"report": report}), 403, "not_allowed")
    assert (await operator.get(LINKS)).json()["max_days"] == 0


async def test_pages_of_others_cannot_open_a_link(client: httpx.AsyncClient, operator: httpx.AsyncClient, report: int) -> None:
    token, _ = await share(operator, report=report)
    client.headers["Origin"] = "https://evil.example"
    assert_envelope(await open_link(client, token), 403, "not_allowed")


async def test_an_account_has_only_so_many_valid_links(
    people: People, operator: httpx.AsyncClient, report: int, app: FastAPI, state: AppState
) -> None:
    app.state.normstat = replace(state, settings=state.settings.model_copy(update={"max_share_links": 2}))
    for _ in range(2):
        _, info = await share(operator, report=report)
    assert_envelope(await operator.post(LINKS, json={"report": report}), 429, "too_many_requests")
    # Those of others do not count, nor do revoked ones.
    await share(await people.enter(Role.OPERATOR, "lee"), report=report)
    assert (await operator.delete(f"{LINKS}/{info['id']}")).is_success
    await share(operator, report=report)
