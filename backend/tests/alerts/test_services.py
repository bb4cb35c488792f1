"""Messages to services, each held against a stand-in that refuses what the real one refuses."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from normstat.alerts import channel_book
from normstat.alerts.alert_delivery import Deliverer
from normstat.alerts.alert_router import AlertRouter
from normstat.alerts.channel_settings import keep_secrets
from normstat.alerts.message_kind import MessageKind
from normstat.alerts.senders.channel_sender import ChannelSender, SentMessage, to_words
from normstat.alerts.services import build_call, cut_bytes, load_services
from normstat.errors import BadRequest
from normstat.watch.rules.rule_file import Colour
from tests.alerts.receivers import Answer, HttpReceiver, Received
from tests.alerts.service_stubs import BOT_TOKEN, NTFY_TOKEN, STUBS, Opsgenie, PagerDuty, read_telegram
from tests.alerts.stored import URL, add_channel, add_episode, add_host, add_route, change_episode, read_messages, to_settings
from tests.databases import Sessions

NOW: Final = datetime(2026, 11, 23, 3, 0, tzinfo=UTC)
# What hosts and rules may be called, and what breaks texts that are put together.
HOSTILE: Final = '<b>web1</b> & "co" \'*_[`{key} \\ \U0001f525 é'


def service(name: str, url: str, **changed: Any) -> dict[str, Any]:
    """Return the settings of a channel."""
    key, target, _ = STUBS[name]
    return {"kind": "service", "service": name, "url": url, "key": key, "target": target} | changed


def message(text: str = "The CPU spins.", *, n_parts: int = 1, kind: MessageKind = MessageKind.FIRED) -> SentMessage:
    """Return a message whose texts from outside are all this text."""
    usual = channel_book.build_test_message("test", URL, NOW)
    part = replace(usual.parts[0], host=text, title=text, sentence=text, action=text, source=text, colour=Colour.RED)
    content = replace(
        usual, kind=kind, state="resolved" if kind is MessageKind.RESOLVED else "firing", colour=Colour.RED, route=text,
        subject=text[:200], sentence=text, host=text, parts=[part] * n_parts, questions=[text], link=f"{URL}/hosts/a?x=1&y=2",
    )  # fmt: skip
    return SentMessage(content, "key-2", "key-1", f"{URL}/silence#token=abc", URL)


@pytest.mark.parametrize("name", STUBS)
@pytest.mark.parametrize("kind", [MessageKind.FIRED, MessageKind.RESOLVED])
@pytest.mark.parametrize(("text", "n_parts"), [("The CPU spins.", 1), (HOSTILE, 3), (HOSTILE * 400, 20), ("\U0001f525" * 9000, 1)])
async def test_each_service_takes_each_message(http: HttpReceiver, name: str, kind: MessageKind, text: str, n_parts: int) -> None:
    http.answer = STUBS[name][2]()
    outcome = await ChannelSender(None).send(message(text, n_parts=n_parts, kind=kind), to_settings(service(name, http.url)))
    assert outcome.is_sent, outcome.answer


@given(text=st.text(min_size=1, max_size=300), n_parts=st.integers(1, 12))
def test_no_text_breaks_the_html_of_telegram(text: str, n_parts: int) -> None:
    key, target, _ = STUBS["telegram"]
    call = build_call(load_services()["telegram"], "https://t.example", key, target, to_words(message(text, n_parts=n_parts)))
    body: Any = call.body
    parsed = read_telegram(body["text"])
    assert (parsed.problems, parsed.open) == ([], [])
    assert [urlsplit(link).path for link in parsed.links] == ["/hosts/a", "/watch", "/silence"]


async def test_what_fires_and_ends_opens_and_closes_one_incident(sessions: Sessions, http: HttpReceiver) -> None:
    """Even on a route that sends no message when an alert ends: the service would page people again about an incident left open."""
    pager = PagerDuty()
    http.answer = pager.answer
    channel = await add_channel(sessions, "pager", service("pagerduty", http.url))
    await add_route(sessions, "all", [channel], sends_resolved=False)
    now = datetime.now(UTC)
    episode = await add_episode(sessions, await add_host(sessions, "sun1"), now)
    await AlertRouter(sessions, URL).run()
    await Deliverer(sessions, URL).deliver_all()
    [(key, event)] = pager.open.items()
    assert event["payload"] | {"custom_details": None, "timestamp": None} == {
        "summary": "[CRITICAL] sun1: Kernel mutexes (CPU 1)", "source": "sun1", "severity": "critical", "class": "mutex",
        "group": "all", "custom_details": None, "timestamp": None,
    }  # fmt: skip
    assert event["payload"]["custom_details"]["silence"].startswith(f"{URL}/silence#token=")
    await change_episode(sessions, episode, colour="black")
    await AlertRouter(sessions, URL).run()
    await Deliverer(sessions, URL).deliver_all()
    assert list(pager.open) == [key], "what gets worse stays one incident"
    await change_episode(sessions, episode, ended_at=datetime.now(UTC), ended_by="fine")
    await AlertRouter(sessions, URL).run()
    await Deliverer(sessions, URL).deliver_all()
    assert pager.open == {}
    assert [each.state for each in await read_messages(sessions)] == ["sent"] * 3


@pytest.mark.parametrize(("name", "base"), [("opsgenie", ""), ("jira_service_management", "/jsm/ops/integration")])
async def test_a_close_finds_the_alert_by_its_alias(http: HttpReceiver, name: str, base: str) -> None:
    stub = Opsgenie(base)
    http.answer = stub.answer
    settings = to_settings(service(name, http.url + base))
    assert (await ChannelSender(None).send(message(), settings)).is_sent
    assert list(stub.open) == ["key-1"]
    assert stub.open["key-1"]["priority"] == "P2"
    assert (await ChannelSender(None).send(message(kind=MessageKind.RESOLVED), settings)).is_sent
    assert stub.open == {}


async def test_a_test_of_a_channel_leaves_nothing_open(http: HttpReceiver) -> None:
    pager = PagerDuty()
    http.answer = pager.answer
    result = await channel_book.test_channel(
        to_settings(service("pagerduty", http.url)), name="pager", public_url=URL, scripts_dir=None
    )
    assert result.is_sent
    assert [each.body["event_action"] for each in http.received] == ["trigger", "resolve"]
    assert pager.open == {}


@pytest.mark.parametrize(
    ("answer", "pause_s"),
    [
        (Answer(429, "", {"Retry-After": "30"}), 30.0),
        (Answer(429, '{"ok": false, "error_code": 429, "parameters": {"retry_after": 8}}'), 8.0),
        (Answer(429, '{"ok": false, "parameters": ["retry_after"]}'), None),
        (Answer(429, "slow down"), None),
    ],
)
async def test_a_rate_limit_pauses_for_the_time_that_it_names(http: HttpReceiver, answer: Answer, pause_s: float | None) -> None:
    http.answer = lambda _: answer
    outcome = await ChannelSender(None).send(message(), to_settings(service("telegram", http.url)))
    assert (outcome.is_sent, outcome.is_final, outcome.retry_after_s) == (False, False, pause_s)


async def test_ntfy_without_a_token_sends_no_header(http: HttpReceiver) -> None:
    http.answer = STUBS["ntfy"][2]()
    assert (await ChannelSender(None).send(message(), to_settings(service("ntfy", http.url, key=None)))).is_sent
    assert "Authorization" not in http.received[0].headers


async def test_a_refusal_is_final_and_does_not_tell_the_key(http: HttpReceiver) -> None:
    http.answer = STUBS["telegram"][2]()
    other = service("telegram", http.url, key=BOT_TOKEN.replace("AAF", "BBB"))
    outcome = await ChannelSender(None).send(message(), to_settings(other))
    assert (outcome.is_sent, outcome.is_final) == (False, True)
    assert "BBB" not in outcome.answer


@pytest.mark.parametrize(
    ("name", "changed", "sentence", "member"),
    [
        ("pagerduty", {"key": "s3cret"}, "This is not a valid integration key. 32 letters and digits", "key"),
        ("pagerduty", {"target": "x"}, "PagerDuty has no target: leave it empty", "target"),
        ("opsgenie", {"key": "s3cret!"}, "This is not a valid API key.", "key"),
        ("ntfy", {"target": "on call"}, "This is not a valid topic.", "target"),
        ("ntfy", {"key": "s3cret"}, "This is not a valid access token.", "key"),
        ("telegram", {"key": "s3cret"}, "This is not a valid token of the bot.", "key"),
        ("telegram", {"target": ""}, "This is not a valid chat.", "target"),
    ],
)
def test_a_bad_key_or_target_says_what_is_expected(name: str, changed: dict[str, Any], sentence: str, member: str) -> None:
    with pytest.raises(BadRequest) as caught:
        keep_secrets(to_settings(service(name, "https://a.example") | changed), None)
    assert caught.value.message.startswith(sentence)
    assert caught.value.details == {member: None if member == "key" else changed["target"]}
    assert "s3cret" not in caught.value.message


@pytest.mark.parametrize(
    ("changed", "sentence"), [({"url": "ftp://a"}, "expected a URL"), ({"service": "pager"}, "expected one of pagerduty")]
)
def test_an_unknown_service_or_a_bad_url_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        to_settings(service("pagerduty", "https://a.example") | changed)


def test_a_key_is_needed_and_stays_with_its_receiver() -> None:
    known = to_settings(service("telegram", "https://a.example"))
    assert keep_secrets(to_settings(service("telegram", "https://a.example", key=None, target="@ops_room")), known).key  # type: ignore[union-attr]
    with pytest.raises(BadRequest, match="enter key again"):
        keep_secrets(to_settings(service("telegram", "https://b.example", key=None)), known)
    with pytest.raises(BadRequest, match="needs `key`"):
        keep_secrets(to_settings(service("telegram", "https://a.example", key=None)), None)
    assert keep_secrets(to_settings(service("ntfy", "https://a.example", key=None)), None).endpoint == "https://a.example"


def test_a_cut_word_ends_at_a_character() -> None:
    for n in range(3, 40):
        text = cut_bytes("größer als \U0001f525 erlaubt", n)
        assert len(text.encode()) <= n
        assert text.endswith("…") or n >= len("größer als \U0001f525 erlaubt".encode())


def test_the_stand_ins_refuse_what_is_wrong() -> None:
    """A stand-in that takes everything would prove nothing."""
    _, target, _ = STUBS["ntfy"]
    bodies: dict[str, list[tuple[str, Any]]] = {
        "pagerduty": [("/v2/enqueue", {"routing_key": "short", "event_action": "trigger", "dedup_key": "a"})],
        "opsgenie": [("/v2/alerts", {"message": "x" * 131, "alias": "a", "priority": "P1"})],
        "jira_service_management": [("/v2/alerts", {"message": "x", "alias": "a", "priority": "high"})],
        "ntfy": [("/", {"topic": target, "message": "x" * 4097, "priority": 3}), ("/topic", {})],
        "telegram": [
            (f"/bot{BOT_TOKEN}/sendMessage", {"chat_id": "1", "parse_mode": "HTML", "text": text})
            for text in ("a < b", "<b>open", "<p>no such tag</p>", "x" * 4097, "&nbsp;", "")
        ],
    }
    for name, wrong in bodies.items():
        headers = {"Authorization": f"Bearer {NTFY_TOKEN}" if name == "ntfy" else f"GenieKey {STUBS[name][0]}"}
        for path, body in wrong:
            answered = STUBS[name][2]()(Received(path, headers, body))
            assert answered.status in {400, 422}, f"{name} took {json.dumps(body)[:80]}"
