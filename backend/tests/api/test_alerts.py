"""Alerts through the API: channels keep their secrets, routes are tried before they wake anybody, links silence once."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from normstat.alerts.alert_delivery import Deliverer
from normstat.alerts.alert_router import AlertRouter
from normstat.alerts.silence_link import sign_token
from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from tests.alerts.receivers import Answer, HttpReceiver
from tests.alerts.stored import add_episode, add_host, change_episode, read_alerts
from tests.alerts.story import settings_of
from tests.api.people import People, body_of
from tests.api.test_access import assert_envelope

API = "/api/v1"
SECRET = "s3cr3t-t0ken"


def hook(http: HttpReceiver, name: str = "hook", **changed: Any) -> dict[str, Any]:
    usual = {"kind": "webhook", "url": f"{http.url}/{SECRET}", "authorization": f"Bearer {SECRET}", "template": ""}
    return {"name": name, "settings": usual | changed}


async def add_all(admin: httpx.AsyncClient, http: HttpReceiver, **changed: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Create a channel, and a route for everything that does not wait."""
    channel = body_of(await admin.post(f"{API}/alert-channels", json=hook(http)), 201)
    usual: dict[str, Any] = {"wait_s": 0, "resolve_wait_s": 0, "channels": [channel["id"]]}
    settings = json.loads(json.dumps(settings_of(**(usual | changed))))
    route = body_of(await admin.post(f"{API}/alert-routes", json={"name": "all", "settings": settings}), 201)
    return channel, route


async def test_secrets_go_in_and_never_come_out(admin: httpx.AsyncClient, people: People, http: HttpReceiver) -> None:
    answer = await admin.post(f"{API}/alert-channels", json=hook(http))
    channel = body_of(answer, 201)
    assert (channel["endpoint"], channel["secrets"], channel["routes"]) == (http.url, ["authorization", "url"], [])
    assert (channel["settings"]["url"], channel["settings"]["authorization"]) == (None, None)
    changed = await admin.put(f"{API}/alert-channels/{channel['id']}", json=hook(http, "other", url=None, authorization=None))
    listed = await (await people.enter(Role.VIEWER, "viewer")).get(f"{API}/alert-channels")
    assert listed.json()["channels"] == [changed.json()]
    assert SECRET not in answer.text + changed.text + listed.text
    # It still has them.
    result = body_of(await admin.post(f"{API}/alert-channels/{channel['id']}/test"))
    assert (result["is_sent"], result["answer"]) == (True, "200 OK: ok")
    [request] = http.received
    assert (request.path, request.headers["Authorization"]) == (f"/{SECRET}", f"Bearer {SECRET}")
    assert request.body["subject"] == "[TEST] normstat can reach this channel"
    # One that is empty is removed.
    body_of(await admin.put(f"{API}/alert-channels/{channel['id']}", json=hook(http, url=None, authorization="")))
    body_of(await admin.post(f"{API}/alert-channels/{channel['id']}/test"))
    assert "Authorization" not in http.received[1].headers


async def test_a_secret_does_not_go_to_another_receiver(admin: httpx.AsyncClient, http: HttpReceiver) -> None:
    channel = body_of(await admin.post(f"{API}/alert-channels", json=hook(http)), 201)
    elsewhere = hook(http, url="https://example.org/x", authorization=None)
    answer = await admin.put(f"{API}/alert-channels/{channel['id']}", json=elsewhere)
    assert_envelope(answer, 400, "bad_request")
    assert "enter authorization again" in answer.json()["error"]["message"]


async def test_settings_that_cannot_work_are_refused(admin: httpx.AsyncClient, http: HttpReceiver) -> None:
    for changed, why in (
        ({"kind": "pigeon"}, "pigeon"),
        ({"url": "file:///etc/passwd"}, "http:// or https://"),
        ({"url": "http://user:pass@example.org/"}, "authorization"),
        ({"url": "http://a b/"}, "no blanks"),
        ({"authorization": "a\r\nX: y"}, "visible ASCII"),
        ({"template": "{"}, "not JSON"),
        ({"template": '{"a": "{secret}"}'}, "unknown word {secret}"),
    ):
        answer = await admin.post(f"{API}/alert-channels", json=hook(http, **changed))
        assert_envelope(answer, 422, "invalid_request")
        assert why in answer.text
        assert SECRET not in answer.text


async def test_scripts_are_those_of_the_servers_administrator(admin: httpx.AsyncClient) -> None:
    for name in ("page.sh", "../../bin/sh"):
        body = {"name": "script", "settings": {"kind": "script", "script": name}}
        answer = await admin.post(f"{API}/alert-channels", json=body)
        assert answer.status_code in (400, 422)
    assert body_of(await admin.get(f"{API}/alert-channels"))["scripts"] == []


async def test_a_channel_in_use_stays(admin: httpx.AsyncClient, http: HttpReceiver) -> None:
    channel, route = await add_all(admin, http)
    answer = await admin.delete(f"{API}/alert-channels/{channel['id']}")
    assert_envelope(answer, 409, "conflict")
    assert_envelope(await admin.post(f"{API}/alert-channels", json=hook(http)), 409, "conflict")
    body_of(await admin.delete(f"{API}/alert-routes/{route['id']}"))
    body_of(await admin.delete(f"{API}/alert-channels/{channel['id']}"))
    assert body_of(await admin.get(f"{API}/alert-channels"))["channels"] == []


async def test_a_route_needs_its_channels(admin: httpx.AsyncClient) -> None:
    body = {"name": "all", "settings": json.loads(json.dumps(settings_of(channels=[4711])))}
    answer = await admin.post(f"{API}/alert-routes", json=body)
    assert_envelope(answer, 400, "bad_request")
    assert "no alert channel 4711" in answer.text


async def test_routes_have_an_order(admin: httpx.AsyncClient, http: HttpReceiver) -> None:
    _, first = await add_all(admin, http)
    second = body_of(await admin.post(f"{API}/alert-routes", json={"name": "second", "settings": first["settings"]}), 201)
    listed = body_of(await admin.put(f"{API}/alert-routes/order", json={"ids": [second["id"], first["id"]]}))
    assert [each["name"] for each in listed["routes"]] == ["second", "all"]
    assert_envelope(await admin.put(f"{API}/alert-routes/order", json={"ids": [first["id"]]}), 400, "bad_request")
    assert body_of(await admin.get(f"{API}/alert-routes"))["routes"] == listed["routes"]


async def test_a_route_is_tried_on_the_past(admin: httpx.AsyncClient, state: AppState, http: HttpReceiver) -> None:
    channel = body_of(await admin.post(f"{API}/alert-channels", json=hook(http)), 201)
    start = datetime(2026, 11, 1, 3, 0, tzinfo=UTC)
    host = await add_host(state.sessions, "sun1")
    ended = {"ended_at": start + timedelta(hours=1), "ended_by": "fine"}
    ids = [await add_episode(state.sessions, host, start, instance=str(cpu), **ended) for cpu in range(3)]
    settings = json.loads(json.dumps(settings_of(channels=[channel["id"]])))
    body = {"settings": settings, "start": "2026-11-01T00:00:00Z", "end": "2026-11-08T00:00:00Z"}
    tried = body_of(await admin.post(f"{API}/alert-routes/try", json=body))
    assert (tried["n_alerts"], tried["n_messages"], tried["n_a_week"]) == (1, 2, 2.0)
    assert [(each["at"], each["kind"], each["channels"]) for each in tried["messages"]] == [
        ("2026-11-01T03:00:30Z", "fired", ["hook"]),
        ("2026-11-01T04:01:00Z", "resolved", ["hook"]),
    ]
    assert [each["id"] for each in tried["episodes"]] == ids
    assert http.received == []
    assert body_of(await admin.get(f"{API}/alerts"))["n_total"] == 0
    assert_envelope(await admin.post(f"{API}/alert-routes/try", json=body | {"end": "2028-01-01T00:00:00Z"}), 400, "bad_request")


async def fire(state: AppState, host: str = "sun1", **changed: Any) -> int:
    number = await add_episode(state.sessions, await add_host(state.sessions, host), datetime.now(UTC), **changed)
    await AlertRouter(state.sessions, state.settings.public_url).run()
    return number


async def test_an_alert_is_listed_with_its_messages_and_acknowledged(
    admin: httpx.AsyncClient, anna: httpx.AsyncClient, state: AppState, http: HttpReceiver
) -> None:
    _, route = await add_all(admin, http)
    number = await fire(state)
    [alert] = body_of(await admin.get(f"{API}/alerts"))["alerts"]
    assert (alert["state"], alert["hosts"], alert["route"], alert["n_episodes"]) == ("firing", ["sun1"], "all", 1)
    [message] = alert["messages"]
    assert (message["kind"], message["state"], message["channel"], message["sent_at"]) == ("fired", "queued", "hook", None)
    assert body_of(await admin.get(f"{API}/alert-channels"))["n_waiting"] == 1
    await Deliverer(state.sessions, state.settings.public_url).deliver_all()
    seen = body_of(await anna.post(f"{API}/alerts/{alert['id']}/acknowledge", json={"note": "I look"}))
    assert (seen["acknowledged_by"], seen["note"], seen["messages"][0]["state"]) == ("anna", "I look", "sent")
    episode = body_of(await anna.get(f"{API}/episodes/{number}"))
    assert (episode["acknowledged_by"], episode["note"]) == ("anna", "I look")
    assert body_of(await admin.get(f"{API}/alert-routes"))["routes"][0]["n_open"] == 1
    back = body_of(await anna.delete(f"{API}/alerts/{alert['id']}/acknowledge"))
    assert (back["acknowledged_at"], back["acknowledged_by"], back["episodes"][0]["acknowledged_at"]) == (None, "", None)
    counts = {"is_open=true": 1, "is_open=false": 0, "host=sun1": 1, "host=x": 0, "route=all": 1, "has_failed=true": 0}
    assert {query: body_of(await admin.get(f"{API}/alerts?{query}"))["n_total"] for query in counts} == counts
    # The route may go; the alert stays.
    body_of(await admin.delete(f"{API}/alert-routes/{route['id']}"))
    assert body_of(await admin.get(f"{API}/alerts/{alert['id']}"))["route_id"] is None


async def test_a_message_that_was_given_up_is_sent_again_on_request(
    admin: httpx.AsyncClient, state: AppState, http: HttpReceiver
) -> None:
    await add_all(admin, http)
    http.answer = lambda _: Answer(410, "gone")
    await fire(state)
    await Deliverer(state.sessions, state.settings.public_url).deliver_all()
    [alert] = body_of(await admin.get(f"{API}/alerts?has_failed=true"))["alerts"]
    [message] = alert["messages"]
    assert (message["state"], message["answer"]) == ("failed", "410 Gone: gone")
    again = body_of(await admin.post(f"{API}/alert-messages/{message['id']}/retry"))
    assert again["messages"][0]["state"] == "queued"
    assert_envelope(await admin.post(f"{API}/alert-messages/{message['id']}/retry"), 409, "conflict")


async def test_a_link_silences_once_and_opening_it_changes_nothing(
    admin: httpx.AsyncClient, client: httpx.AsyncClient, state: AppState, http: HttpReceiver
) -> None:
    await add_all(admin, http)
    number = await fire(state)
    await Deliverer(state.sessions, state.settings.public_url).deliver_all()
    link = http.received[0].body["silence_link"]
    assert link.startswith("http://normstat.test/silence#token=")
    token = link.partition("#token=")[2]
    # Nobody is logged in here: whoever got the message may silence it.
    for _ in range(2):
        offer = body_of(await client.post(f"{API}/alert-silences/check", json={"token": token}))
        assert (offer["places"], offer["is_used"], offer["route"]) == ([{"host": "sun1", "source": "mutex"}], False, "all")
    assert body_of(await admin.get(f"{API}/watch/mutes"))["mutes"] == []
    for wrong in ("x", "1.x", f"{token}x", token.replace(token[-6:], "AAAAAA"), "9999.AAAA", "1.\u00e9"):
        for path in ("alert-silences/check", "alert-silences"):
            assert_envelope(await client.post(f"{API}/{path}", json={"token": wrong}), 404, "not_found")
    used = body_of(await client.post(f"{API}/alert-silences", json={"token": token, "minutes": 30, "reason": "I know"}))
    [mute] = used["mutes"]
    assert (mute["host"], mute["source"], mute["reason"]) == ("sun1", "mutex", "I know")
    assert mute["created_by"] == f"silence link of alert {offer['alert_id']}"
    assert body_of(await client.post(f"{API}/alert-silences/check", json={"token": token}))["is_used"]
    assert_envelope(await client.post(f"{API}/alert-silences", json={"token": token}), 409, "conflict")
    # Silenced: the end is told to nobody.
    await change_episode(state.sessions, number, ended_at=datetime.now(UTC), ended_by="fine")
    assert await AlertRouter(state.sessions, state.settings.public_url).run() == 0


async def test_a_link_of_an_alert_that_is_long_over_is_not_valid(
    admin: httpx.AsyncClient, client: httpx.AsyncClient, state: AppState, http: HttpReceiver
) -> None:
    await add_all(admin, http)
    number = await add_episode(state.sessions, await add_host(state.sessions, "sun1"), datetime.now(UTC))
    router = AlertRouter(state.sessions, state.settings.public_url)
    then = datetime.now(UTC) - timedelta(days=3)
    await router.run(then)
    # What is that old is not sent any more.
    await Deliverer(state.sessions, state.settings.public_url).deliver_all()
    assert http.received == []
    [alert] = await read_alerts(state.sessions)
    token = sign_token(alert.id, alert.silence_key)
    body_of(await client.post(f"{API}/alert-silences/check", json={"token": token}))
    await change_episode(state.sessions, number, ended_at=then, ended_by="fine")
    await router.run(then + timedelta(seconds=10))
    answer = await client.post(f"{API}/alert-silences", json={"token": token})
    assert_envelope(answer, 404, "not_found")
    assert "expired" in answer.text


async def test_a_disabled_channel_drops_what_waits(admin: httpx.AsyncClient, state: AppState, http: HttpReceiver) -> None:
    channel, _ = await add_all(admin, http)
    await fire(state)
    off = hook(http, url=None, authorization=None) | {"is_enabled": False}
    body_of(await admin.put(f"{API}/alert-channels/{channel['id']}", json=off))
    await Deliverer(state.sessions, state.settings.public_url).deliver_all()
    assert http.received == []
    [alert] = body_of(await admin.get(f"{API}/alerts"))["alerts"]
    [message] = alert["messages"]
    assert (message["state"], message["answer"]) == ("dropped", "the channel was disabled by administrator")
