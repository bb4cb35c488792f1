"""Webhooks: changes arrive signed, at least once, in their order; nothing arrives of a change that did not happen."""

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from normstat.alerts.outbox_worker import DOUBT
from normstat.alerts.webhook_delivery import WebhookDeliverer
from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.db.session import open_write_session
from normstat.records.webhook_rows import Topic, take_delivery, tell_webhooks
from tests.alerts.receivers import Answer, HttpReceiver, Received
from tests.alerts.stored import add_host
from tests.api.people import People, body_of, run_sql

API = "/api/v1"
SECRET_PATH = "s3cr3t-path"


async def add(admin: httpx.AsyncClient, http: HttpReceiver, *topics: str) -> dict[str, Any]:
    body = {"name": "hook", "url": f"{http.url}/{SECRET_PATH}", "topics": list(topics)}
    return body_of(await admin.post(f"{API}/webhooks", json=body), 201)


async def note(admin: httpx.AsyncClient, words: str) -> None:
    body_of(await admin.post(f"{API}/events", json={"text": words, "kind": "note"}), 201)


async def deliver(state: AppState) -> None:
    """Send all that waits, pauses over."""
    await run_sql(state, "UPDATE webhook_deliveries SET next_try_at = now() - interval '1 s' WHERE state = 'queued'")
    await run_sql(state, "UPDATE webhooks SET held_until = NULL")
    await WebhookDeliverer(state.sessions).deliver_all()


def is_signed(request: Received, key: str) -> bool:
    """As docs/alerts.md tells receivers to check it."""
    parts = dict(part.split("=", 1) for part in request.headers["X-Normstat-Signature"].split(","))
    body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode()
    expected = hmac.new(key.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, parts["v1"]) and abs(datetime.now(UTC).timestamp() - int(parts["t"])) < 300


async def test_changes_arrive_signed_and_in_their_order(admin: httpx.AsyncClient, state: AppState, http: HttpReceiver) -> None:
    hook = await add(admin, http, "event.created", "event.deleted", "experiment_run.stored")
    note = {"text": "release 7, größer", "kind": "deployment", "tags": ["prod"]}
    event = body_of(await admin.post(f"{API}/events", json=note), 201)
    body_of(await admin.put(f"{API}/events/{event['id']}", json=note | {"text": "release 8", "at": event["at"]}))
    body_of(await admin.delete(f"{API}/events/{event['id']}"))
    await deliver(state)
    first, second = http.received
    assert first.path == second.path == f"/{SECRET_PATH}"
    assert (first.body["version"], first.body["topic"], second.body["topic"]) == (1, "event.created", "event.deleted")
    assert first.body["data"]["text"] == "release 7, größer"
    assert second.body["data"]["id"] == event["id"]
    assert first.headers["Idempotency-Key"] == first.body["id"] != second.body["id"]
    assert is_signed(first, hook["signing_key"])
    assert not is_signed(first, "another key")
    listed = body_of(await admin.get(f"{API}/webhooks/{hook['id']}/deliveries"))
    assert [each["state"] for each in listed["deliveries"]] == ["sent", "sent"]


async def test_secrets_are_told_once_and_a_new_receiver_has_a_new_key(
    admin: httpx.AsyncClient, people: People, http: HttpReceiver
) -> None:
    hook = await add(admin, http, "baseline.created")
    viewer = await people.enter(Role.VIEWER, "eve")
    listed = body_of(await viewer.get(f"{API}/webhooks"))
    assert SECRET_PATH not in json.dumps(listed)
    assert listed["webhooks"][0]["signing_key"] is None
    assert listed["webhooks"][0]["endpoint"] == http.url
    same = {"name": "hook 2", "topics": ["baseline.created"]}
    assert body_of(await admin.put(f"{API}/webhooks/{hook['id']}", json=same))["signing_key"] is None
    moved = body_of(await admin.put(f"{API}/webhooks/{hook['id']}", json=same | {"url": f"{http.url}/else"}))
    assert moved["signing_key"] not in {None, hook["signing_key"]}
    test = body_of(await admin.post(f"{API}/webhooks/{hook['id']}/test"))
    assert test["is_sent"]
    assert is_signed(http.received[0], moved["signing_key"])


async def test_a_url_that_cannot_be_one_is_refused(admin: httpx.AsyncClient) -> None:
    for url in ("ftp://x/", "http://user:pw@host/", "http://", "http://h/\u00e4"):
        answer = await admin.post(f"{API}/webhooks", json={"name": "x", "url": url, "topics": ["event.created"]})
        assert answer.status_code == 422, answer.text


async def test_what_was_rolled_back_is_not_told(admin: httpx.AsyncClient, state: AppState, http: HttpReceiver) -> None:
    await add(admin, http, "event.created")
    answer = await admin.post(f"{API}/events", json={"text": "x", "kind": "note", "hosts": ["nobody"]})
    assert answer.status_code == 404
    async with state.sessions() as session:
        await tell_webhooks(session, Topic.EVENT_CREATED, {"text": "never committed"})
        await session.rollback()
    await deliver(state)
    assert not http.received


async def test_a_receiver_that_fails_is_told_in_order_and_again_on_request(
    admin: httpx.AsyncClient, state: AppState, http: HttpReceiver
) -> None:
    hook = await add(admin, http, "event.created")
    http.answer = lambda _: Answer(status=503 if len(http.received) < 2 else 200)
    for number in range(2):
        await note(admin, f"e{number}")
    for _ in range(2):
        await WebhookDeliverer(state.sessions).deliver_all()
    # The second waits for the first, and that one for the end of its pause.
    assert [each.body["data"]["text"] for each in http.received] == ["e0"]
    assert await run_sql(state, "SELECT count(*) FROM webhook_deliveries WHERE next_try_at > now()") == [(1,)]
    await deliver(state)
    assert [each.body["data"]["text"] for each in http.received] == ["e0", "e0", "e1"]
    http.answer = lambda _: Answer(status=410, body="gone")
    await note(admin, "e2")
    await deliver(state)
    [failed, *_] = body_of(await admin.get(f"{API}/webhooks/{hook['id']}/deliveries"))["deliveries"]
    assert (failed["state"], failed["answer"]) == ("failed", "410 Gone: gone")
    http.answer = lambda _: Answer()
    body_of(await admin.post(f"{API}/webhook-deliveries/{failed['id']}/retry"))
    await deliver(state)
    assert http.received[-1].body["id"] == failed["key"]
    assert (await admin.post(f"{API}/webhook-deliveries/{failed['id']}/retry")).status_code == 409


async def test_a_delivery_in_doubt_is_sent_again_under_its_key(
    admin: httpx.AsyncClient, state: AppState, http: HttpReceiver
) -> None:
    hook = await add(admin, http, "event.created")
    await note(admin, "x")
    # A process took it and was killed before it noted how the try ended.
    async with open_write_session(state.sessions) as session:
        taken = await take_delivery(session, hook["id"], datetime.now(UTC), doubt=DOUBT)
    assert taken is not None
    await WebhookDeliverer(state.sessions).deliver_all()
    assert not http.received
    await WebhookDeliverer(state.sessions, doubt=timedelta(0)).deliver_all()
    assert [each.body["id"] for each in http.received] == [taken.key]


async def test_baselines_and_a_disabled_webhook(admin: httpx.AsyncClient, state: AppState, http: HttpReceiver) -> None:
    await add_host(state.sessions, "sun1")
    hook = await add(admin, http, "baseline.created", "baseline.deleted")
    window = {"start": "2026-11-21T09:00:00Z", "end": "2026-11-21T10:00:00Z"}
    made = body_of(await admin.post(f"{API}/baselines", json={"name": "quiet", "hosts": ["sun1"], "windows": [window]}), 201)
    body_of(await admin.delete(f"{API}/baselines/{made['id']}"))
    await deliver(state)
    assert [each.body["data"]["name"] for each in http.received] == ["quiet", "quiet"]
    off = {"name": "hook", "topics": ["baseline.created"], "is_enabled": False}
    body_of(await admin.put(f"{API}/webhooks/{hook['id']}", json=off))
    body_of(await admin.post(f"{API}/baselines", json={"name": "q2", "hosts": ["sun1"], "windows": [window]}), 201)
    await deliver(state)
    assert len(http.received) == 2
