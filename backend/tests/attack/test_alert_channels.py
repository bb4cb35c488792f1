"""Channels of alerts must not make the server reach what only it can reach, nor hand its secrets to somebody else."""

import socket
from typing import Any

import pytest

from normstat.alerts.alert_message import AlertMessage
from normstat.alerts.channel_book import build_test_message
from normstat.alerts.senders.channel_sender import ChannelSender, SentMessage
from normstat.window import EPOCH
from tests.alerts.receivers import Answer, HttpReceiver
from tests.alerts.stored import URL, email, to_settings, webhook

Addresses = list[tuple[Any, ...]]


@pytest.fixture
def sent() -> SentMessage:
    built: AlertMessage = build_test_message("test", URL, EPOCH)
    return SentMessage(built, "key", "key", None, URL)


def answer_names(monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[str]]) -> list[str]:
    """Let names have other addresses each time they are looked up; return the list of what was looked up."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *rest: Any, **more: Any) -> Addresses:
        asked.append(host)
        if host not in answers:
            return list(real(host, port, *rest, **more))
        address = answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


async def test_a_name_that_turns_into_the_metadata_service_is_refused(sent: SentMessage, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_names(monkeypatch, {"harmless.example": ["169.254.169.254"]})
    settings = {"kind": "webhook", "url": "http://harmless.example/", "authorization": None, "template": ""}
    outcome = await ChannelSender(None).send(sent, to_settings(settings))
    assert "never sent there" in outcome.answer


async def test_a_name_is_looked_up_once(sent: SentMessage, monkeypatch: pytest.MonkeyPatch, http: HttpReceiver) -> None:
    """DNS rebinding: what was checked is what is connected to."""
    asked = answer_names(monkeypatch, {"harmless.example": ["127.0.0.1", "169.254.169.254"]})
    url = http.url.replace("127.0.0.1", "harmless.example")
    assert (await ChannelSender(None).send(sent, to_settings(webhook(http, url=url)))).is_sent
    assert asked == ["harmless.example"]


async def test_mail_servers_are_looked_up_once_and_checked_too(sent: SentMessage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answer_names(monkeypatch, {"mail.example": ["169.254.169.254"]})

    class Nowhere:
        port = 25

    settings = email(Nowhere(), server="mail.example")  # type: ignore[arg-type]
    outcome = await ChannelSender(None).send(sent, to_settings(settings))
    assert "never sent there" in outcome.answer
    assert asked == ["mail.example"]


async def test_a_redirect_takes_no_secret_elsewhere(sent: SentMessage, http: HttpReceiver) -> None:
    other = HttpReceiver()
    http.answer = lambda _: Answer(307, "", {"Location": f"{other.url}/steal"})
    outcome = await ChannelSender(None).send(sent, to_settings(webhook(http, authorization="Bearer s3cret")))
    other.close()
    assert (outcome.is_sent, outcome.is_final, other.received) == (False, True, [])


async def test_a_proxy_of_the_environment_gets_nothing(
    sent: SentMessage, http: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = HttpReceiver()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    outcome = await ChannelSender(None).send(sent, to_settings(webhook(http)))
    proxy.close()
    assert (outcome.is_sent, proxy.received) == (True, [])


async def test_an_endless_answer_is_read_to_its_beginning_only(sent: SentMessage, http: HttpReceiver) -> None:
    http.answer = lambda _: Answer(200, "x" * 50_000_000)
    outcome = await ChannelSender(None).send(sent, to_settings(webhook(http)))
    assert outcome.is_sent
    assert len(outcome.answer) == 500
