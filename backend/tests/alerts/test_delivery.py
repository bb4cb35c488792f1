"""What arrives at receivers, also when the delivering process is killed, and when receivers are slow, broken or gone."""

import asyncio
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from normstat.alerts.alert_delivery import Deliverer
from normstat.alerts.alert_outbox import retry_message, take_message
from normstat.alerts.alert_router import AlertRouter
from normstat.alerts.outbox_worker import GIVE_UP_AFTER
from normstat.db.session import open_write_session
from tests.alerts.receivers import Answer, HttpReceiver, MailReceiver, refused_port
from tests.alerts.stored import URL, add_channel, add_episode, add_host, add_route, change_episode, email, read_messages, webhook
from tests.databases import Sessions, on_either_database
from tests.fork_server import ForkedProcess, start_forked

pytestmark = on_either_database


def now() -> datetime:
    return datetime.now(UTC)


async def fire(sessions: Sessions, channels: list[int], n: int = 1, **changed: Any) -> list[int]:
    """Fire an alert for each of so many hosts; return the episodes."""
    await add_route(sessions, "all", channels, **changed)
    found = [await add_episode(sessions, await add_host(sessions, f"sun{each}"), now()) for each in range(n)]
    await AlertRouter(sessions, URL).run()
    return found


async def route_and_deliver(sessions: Sessions) -> None:
    await AlertRouter(sessions, URL).run()
    await Deliverer(sessions, URL).deliver_all()


async def make_due(sessions: Sessions) -> None:
    """Let all pauses be over."""
    async with sessions() as session, session.begin():
        await session.execute(text("UPDATE alert_messages SET next_try_at = now() - interval '1 s'"))
        await session.execute(text("UPDATE alert_channels SET held_until = NULL"))


async def states(sessions: Sessions) -> list[tuple[str, str, int]]:
    return [(each.kind, each.state, each.n_tries) for each in await read_messages(sessions)]


async def test_a_mail_says_what_who_and_since_when(sessions: Sessions, mail: MailReceiver) -> None:
    channel = await add_channel(sessions, "mail", email(mail, recipients=["a@example.org", "b@example.org"]))
    [number] = await fire(sessions, [channel])
    await Deliverer(sessions, URL).deliver_all()
    await change_episode(sessions, number, ended_at=now(), ended_by="fine")
    await route_and_deliver(sessions)
    first, second = mail.mails
    assert first["Subject"] == "[CRITICAL] sun0: Kernel mutexes (CPU 1)"
    assert first["To"] == "a@example.org, b@example.org"
    assert first["Auto-Submitted"] == "auto-generated"
    assert str(first["Message-ID"]).endswith("@normstat.example.org>")
    assert (second["In-Reply-To"], second["References"]) == (first["Message-ID"], first["Message-ID"])
    assert second["Message-ID"] != first["Message-ID"]
    plain, html = first.get_body(("plain",)), first.get_body(("html",))
    assert plain is not None
    assert html is not None
    words = plain.get_content()
    assert "The CPU spins." in words
    assert "smtx 900 /s" in words
    assert f"{URL}/hosts/sun0?v=1&from=" in words
    assert f"{URL}/silence#token=" in words
    assert "UTC" in words
    assert "Find the lock: lockstat." in html.get_content()
    over = second.get_body(("plain",))
    assert over is not None
    # There is nothing to silence any more.
    assert "silence#token" not in over.get_content()
    assert mail.envelopes[0][1] == ["rcpt TO:<a@example.org>", "rcpt TO:<b@example.org>"]
    assert await states(sessions) == [("fired", "sent", 1), ("resolved", "sent", 1)]


async def test_hosts_and_instances_cannot_add_headers_or_markup(sessions: Sessions, mail: MailReceiver) -> None:
    await add_route(sessions, "all", [await add_channel(sessions, "mail", email(mail))])
    host = await add_host(sessions, "<b>x</b>")
    await add_episode(sessions, host, now(), title="A\r\nBcc: all@example.org", instance="<script>\nalert(1)</script>")
    await route_and_deliver(sessions)
    [message] = mail.mails
    assert message["Bcc"] is None
    html = message.get_body(("html",))
    assert html is not None
    assert "<script>" not in html.get_content()
    assert "<b>x" not in html.get_content()


async def test_a_webhook_gets_the_whole_message_under_a_key_that_stays(sessions: Sessions, http: HttpReceiver) -> None:
    secret = {"authorization": "Bearer s3cret"}
    await fire(sessions, [await add_channel(sessions, "hook", webhook(http, **secret))])
    answers = iter([Answer(503), Answer(200)])
    http.answer = lambda _: next(answers)
    deliverer = Deliverer(sessions, URL)
    await deliverer.deliver_all()
    assert await states(sessions) == [("fired", "queued", 1)]
    await make_due(sessions)
    await deliverer.deliver_all()
    first, second = http.received
    assert first.body == second.body
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"] == first.body["key"]
    assert first.headers["Authorization"] == "Bearer s3cret"
    assert (first.path, first.body["state"], first.body["parts"][0]["source"]) == ("/hook", "firing", "mutex")
    [message] = await read_messages(sessions)
    assert (message.state, message.answer) == ("sent", "200 OK: ok")
    assert message.sent_at is not None


async def test_templates_and_chats_have_forms_of_their_own(sessions: Sessions, http: HttpReceiver) -> None:
    template = '{"event": {"n": "{alert_id}", "text": "{colour} on {host}: {sentence}"}, "list": ["{kind}", 1, null]}'
    channels = {"hook": webhook(http, template=template)}
    channels |= {name: {"kind": "chat", "url": f"{http.url}/{name}", "format": name} for name in ("slack", "mattermost", "teams")}
    await fire(sessions, [await add_channel(sessions, name, settings) for name, settings in channels.items()])
    await Deliverer(sessions, URL).deliver_all()
    bodies = {request.path.removeprefix("/"): request.body for request in http.received}
    assert isinstance(bodies["hook"]["event"]["n"], int)
    assert bodies["hook"]["event"]["text"] == "red on sun0: The CPU spins."
    assert bodies["hook"]["list"] == ["fired", 1, None]
    for name, word in (("slack", "*[CRITICAL] sun0"), ("mattermost", "**\\[CRITICAL\\] sun0")):
        assert set(bodies[name]) == {"text"}
        assert bodies[name]["text"].startswith(word)
        assert f"{URL}/silence#token=" in bodies[name]["text"]
    [attachment] = bodies["teams"]["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert [action["type"] for action in attachment["content"]["actions"]] == ["Action.OpenUrl"] * 3


async def test_an_alertmanager_recognises_an_alert_by_its_labels(sessions: Sessions, http: HttpReceiver) -> None:
    settings = {"kind": "alertmanager", "url": f"{http.url}/am/", "authorization": None, "labels": {"team": "db"}}
    await add_route(sessions, "all", [await add_channel(sessions, "am", settings)])
    number = await add_episode(sessions, await add_host(sessions, "sun0"), now(), colour="amber")
    await route_and_deliver(sessions)
    await change_episode(sessions, number, colour="red")
    await route_and_deliver(sessions)
    await change_episode(sessions, number, ended_at=now(), ended_by="fine")
    await route_and_deliver(sessions)
    assert {request.path for request in http.received} == {"/am/api/v2/alerts"}
    for request in http.received:
        assert_postable_alerts(request.body)
    assert http.received[0].body[0]["labels"]["team"] == "db"
    # What an Alertmanager would believe after each request: the severities that fire.
    ends: dict[str, datetime] = {}
    firing = []
    for request in http.received:
        for alert in request.body:
            ends[alert["labels"]["severity"]] = datetime.fromisoformat(alert["endsAt"])
        firing.append(sorted(severity for severity, end in ends.items() if end > now()))
    assert firing == [["warning"], ["critical"], []]


def assert_postable_alerts(body: Any) -> None:
    """What the published OpenAPI document of the API v2 says of `postableAlerts`, and what servers check beyond it."""
    assert isinstance(body, list)
    for alert in body:
        assert set(alert) <= {"labels", "annotations", "startsAt", "endsAt", "generatorURL"}
        for names in (alert["labels"], alert["annotations"]):
            assert all(isinstance(name, str) and name.isidentifier() and isinstance(value, str) for name, value in names.items())
        assert alert["labels"]["alertname"]
        start, end = (datetime.fromisoformat(alert[name]) for name in ("startsAt", "endsAt"))
        assert start.tzinfo is not None
        assert start <= end
        assert alert["generatorURL"].startswith("https://")


async def test_what_will_never_arrive_is_given_up_at_once_and_can_be_sent_again(sessions: Sessions, http: HttpReceiver) -> None:
    http.answer = lambda _: Answer(404, "no such hook")
    [number] = await fire(sessions, [await add_channel(sessions, "hook", webhook(http))])
    deliverer = Deliverer(sessions, URL)
    await deliverer.deliver_all()
    [message] = await read_messages(sessions)
    assert (message.state, message.answer) == ("failed", "404 Not Found: no such hook")
    # Nobody is told that something is over that nobody was told of.
    await change_episode(sessions, number, ended_at=now(), ended_by="fine")
    await route_and_deliver(sessions)
    assert [state for _, state, _ in await states(sessions)] == ["failed", "dropped"]
    http.answer = lambda _: Answer()
    async with open_write_session(sessions) as session:
        await retry_message(session, message.id)
    await deliverer.deliver_all()
    assert [state for _, state, _ in await states(sessions)] == ["sent", "dropped"]


async def test_a_receiver_that_asks_for_a_pause_gets_it_for_all_its_messages(sessions: Sessions, http: HttpReceiver) -> None:
    http.answer = lambda _: Answer(429, "slow down", {"Retry-After": "600"})
    await fire(sessions, [await add_channel(sessions, "hook", webhook(http))], 3)
    began = now()
    deliverer = Deliverer(sessions, URL)
    await deliverer.deliver_all()
    assert len(http.received) == 1
    async with sessions() as session:
        held = (await session.execute(text("SELECT held_until FROM alert_channels"))).scalar_one()
    assert timedelta(seconds=590) < held - began < timedelta(seconds=700)
    http.answer = lambda _: Answer()
    await make_due(sessions)
    await deliverer.deliver_all()
    assert Counter(state for _, state, _ in await states(sessions)) == {"sent": 3}


async def test_pauses_grow_and_end_after_a_day(sessions: Sessions) -> None:
    with refused_port() as port:
        settings = {"kind": "webhook", "url": f"http://127.0.0.1:{port}/", "authorization": None, "template": ""}
        await fire(sessions, [await add_channel(sessions, "hook", settings)])
        deliverer = Deliverer(sessions, URL)
        pauses = []
        for _ in range(4):
            await deliverer.deliver_all()
            [message] = await read_messages(sessions)
            assert (message.state, message.answer) == ("queued", "Connection refused")
            assert message.tried_at is not None
            pauses.append(round((message.next_try_at - message.tried_at).total_seconds(), -1))
            await make_due(sessions)
        assert pauses == [10, 20, 40, 80]
        async with sessions() as session, session.begin():
            old = {"at": now() - GIVE_UP_AFTER}
            await session.execute(text("UPDATE alert_messages SET created_at = :at"), old)
        await deliverer.deliver_all()
        assert await states(sessions) == [("fired", "failed", 5)]


async def test_a_slow_channel_stops_no_other(sessions: Sessions, http: HttpReceiver, mail: MailReceiver) -> None:
    hold = threading.Event()
    http.answer = lambda _: Answer(hold=hold)
    slow, quick = await add_channel(sessions, "slow", webhook(http)), await add_channel(sessions, "quick", email(mail))
    await fire(sessions, [slow, quick], 3)
    deliverer = Deliverer(sessions, URL)
    try:
        await deliverer.run_due()
        await asyncio.to_thread(mail.wait_for, 3)
        assert len(http.received) <= 1
    finally:
        hold.set()
    await deliverer.deliver_all()
    assert Counter(state for _, state, _ in await states(sessions)) == {"sent": 6}
    assert len(http.received) == 3


async def test_a_server_that_is_stopped_lets_what_is_on_its_way_arrive(sessions: Sessions, http: HttpReceiver) -> None:
    hold = threading.Event()
    http.answer = lambda _: Answer(hold=hold)
    await fire(sessions, [await add_channel(sessions, "hook", webhook(http))], 2)
    deliverer = Deliverer(sessions, URL)
    await deliverer.run_due()
    await asyncio.to_thread(http.wait_for, 1)
    stopping = asyncio.create_task(deliverer.stop())
    await asyncio.sleep(0)
    hold.set()
    await stopping
    assert sorted(await states(sessions)) == [("fired", "queued", 0), ("fired", "sent", 1)]


async def test_messages_of_an_alert_arrive_in_their_order(sessions: Sessions, http: HttpReceiver) -> None:
    http.answer = lambda _: Answer(500)
    [number] = await fire(sessions, [await add_channel(sessions, "hook", webhook(http))])
    deliverer = Deliverer(sessions, URL)
    await deliverer.deliver_all()
    await change_episode(sessions, number, colour="black")
    await AlertRouter(sessions, URL).run()
    http.answer = lambda _: Answer()
    # The first one waits for its next try, and the second one for the first.
    await deliverer.deliver_all()
    assert len(http.received) == 1
    await make_due(sessions)
    await deliverer.deliver_all()
    assert [request.body["kind"] for request in http.received[1:]] == ["fired", "worse"]


async def test_a_mail_server_that_hangs_up_after_accepting_is_no_reason_to_send_again(
    sessions: Sessions, mail: MailReceiver
) -> None:
    mail.refuse["QUIT"] = "421 going down"
    await fire(sessions, [await add_channel(sessions, "mail", email(mail))])
    await Deliverer(sessions, URL).deliver_all()
    assert await states(sessions) == [("fired", "sent", 1)]


async def test_a_channel_that_is_deleted_in_between_stops_no_other(
    sessions: Sessions, http: HttpReceiver, mail: MailReceiver
) -> None:
    gone, there = await add_channel(sessions, "gone", webhook(http)), await add_channel(sessions, "there", email(mail))
    await fire(sessions, [gone, there])
    deliverer = Deliverer(sessions, URL)
    async with open_write_session(sessions) as session:
        taken = await take_message(session, gone, now(), doubt=timedelta(seconds=60))
        await session.execute(text("DELETE FROM alert_channels WHERE name = 'gone'"))
    assert taken is not None
    await deliverer._deliver(taken)
    await deliverer.deliver_all()
    assert [message.state for message in await read_messages(sessions)] == ["queued", "sent"]
    assert http.received == []


async def test_a_name_that_no_host_can_have_is_given_up(sessions: Sessions) -> None:
    settings = {"kind": "webhook", "url": f"http://{'a' * 70}.example/", "authorization": None, "template": ""}
    await fire(sessions, [await add_channel(sessions, "hook", settings)])
    await Deliverer(sessions, URL).deliver_all()
    [message] = await read_messages(sessions)
    assert (message.state, "label" in message.answer) == ("failed", True)


class TestKilled:
    """The delivering process is killed outright, at the moments that matter."""

    @contextmanager
    def delivering(self, url: str, log_path: Path) -> Iterator[ForkedProcess]:
        with log_path.open("ab") as log:
            process = start_forked([url], os.environ, log, module="tests.alerts.deliver")
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()

    async def wait_until_sent(self, sessions: Sessions, n: int) -> None:
        async with asyncio.timeout(60):
            # Another process writes it.
            while Counter(state for _, state, _ in await states(sessions))["sent"] < n:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def kill_while_held(
        self, url: str, log_path: Path, hold: Callable[[threading.Event], None], wait: Callable[[], None]
    ) -> None:
        """Kill a process whose message has arrived and was not answered yet."""
        held = threading.Event()
        hold(held)
        with self.delivering(url, log_path):
            await asyncio.to_thread(wait)
        held.set()

    async def test_while_a_webhook_has_not_answered_the_same_message_comes_again(
        self, sessions: Sessions, database_url: str, http: HttpReceiver, tmp_path: Path
    ) -> None:
        await fire(sessions, [await add_channel(sessions, "hook", webhook(http))], 2)

        def hold(held: threading.Event) -> None:
            http.answer = lambda _: Answer(hold=held)

        await self.kill_while_held(database_url, tmp_path / "log", hold, lambda: http.wait_for(1))
        http.answer = lambda _: Answer()
        with self.delivering(database_url, tmp_path / "log"):
            await self.wait_until_sent(sessions, 2)
        keys = Counter(request.headers["Idempotency-Key"] for request in http.received)
        # One was in doubt and came twice, the same both times; no other did.
        assert sorted(keys.values()) == [1, 2]
        doubtful = [request for request in http.received if keys[request.headers["Idempotency-Key"]] == 2]
        assert doubtful[0].body == doubtful[1].body

    @pytest.mark.matrix
    async def test_while_a_mail_server_has_not_answered_the_same_mail_comes_again(
        self, sessions: Sessions, database_url: str, mail: MailReceiver, tmp_path: Path
    ) -> None:
        await fire(sessions, [await add_channel(sessions, "mail", email(mail))], 2)

        def hold(held: threading.Event) -> None:
            mail.hold_after_data = held

        await self.kill_while_held(database_url, tmp_path / "log", hold, lambda: mail.wait_for(1))
        mail.hold_after_data = None
        with self.delivering(database_url, tmp_path / "log"):
            await self.wait_until_sent(sessions, 2)
        ids = Counter(str(message["Message-ID"]) for message in mail.mails)
        assert sorted(ids.values()) == [1, 2]

    @pytest.mark.matrix
    async def test_killed_again_and_again_every_message_arrives_and_none_is_doubled_that_was_answered(
        self, sessions: Sessions, database_url: str, http: HttpReceiver, mail: MailReceiver, tmp_path: Path
    ) -> None:
        channels = [await add_channel(sessions, "hook", webhook(http)), await add_channel(sessions, "mail", email(mail))]
        n_hosts = 12
        await fire(sessions, channels, n_hosts)
        for n in range(1, 5):
            with self.delivering(database_url, tmp_path / "log"):
                await asyncio.to_thread(http.wait_for, min(n_hosts, 2 * n))
        with self.delivering(database_url, tmp_path / "log"):
            await self.wait_until_sent(sessions, 2 * n_hosts)
        posts = Counter(request.headers["Idempotency-Key"] for request in http.received)
        mails = Counter(str(message["Message-ID"]) for message in mail.mails)
        assert (len(posts), len(mails)) == (n_hosts, n_hosts)
        # At most one of a channel was on its way at each death.
        assert sum(posts.values()) - n_hosts <= 4
        assert sum(mails.values()) - n_hosts <= 4
        assert {each.state for each in await read_messages(sessions)} == {"sent"}

    async def test_two_processes_beside_each_other_send_nothing_twice(
        self, sessions: Sessions, database_url: str, http: HttpReceiver, tmp_path: Path
    ) -> None:
        await fire(sessions, [await add_channel(sessions, "hook", webhook(http))], 10)
        with self.delivering(database_url, tmp_path / "one"), self.delivering(database_url, tmp_path / "two"):
            await self.wait_until_sent(sessions, 10)
        assert len(http.received) == 10
