"""How a try ends at receivers of all kinds: scripts, TLS, what takes too long."""

import asyncio
import json
import ssl
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog

from normstat.alerts.channel_book import build_test_message
from normstat.alerts.channel_settings import AlertmanagerSettings, join_secrets, split_secrets
from normstat.alerts.senders.channel_sender import ChannelSender, SentMessage, to_alertmanager, to_json
from normstat.alerts.senders.dialling import is_refused
from normstat.alerts.senders.http_post import judge_answer
from normstat.alerts.senders.script import find_problem, list_scripts, run_script
from normstat.alerts.webhook_template import WORDS, check_template, fill_template
from tests.alerts.receivers import HttpReceiver, MailReceiver
from tests.alerts.stored import URL, email, to_settings, webhook
from tests.certificates import make_self_signed
from tests.vanishing import is_running


def message() -> SentMessage:
    built = build_test_message("test", URL, datetime(2026, 11, 23, 3, 0, tzinfo=UTC))
    return SentMessage(built, "key", "key", None, URL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scripts = tmp_path / "scripts"
    scripts.mkdir(mode=0o755)
    return scripts


def write_script(folder: Path, text: str, name: str = "page.sh", mode: int = 0o755) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


class TestScripts:
    """A script gets the message on its standard input, and nothing of the server's own."""

    async def test_it_gets_the_message_and_says_how_it_went(self, folder: Path, tmp_path: Path) -> None:
        write_script(folder, f"cat > {tmp_path}/got; env > {tmp_path}/env; echo paged anna")
        outcome = await run_script(folder, "page.sh", to_json(message()))
        assert (outcome.is_sent, outcome.answer) == (True, "paged anna")
        assert json.loads((tmp_path / "got").read_text())["subject"] == "[TEST] normstat can reach this channel"
        names = {line.partition("=")[0] for line in (tmp_path / "env").read_text().splitlines()}
        assert names <= {"PATH", "LC_ALL", "TZ", "PWD", "SHLVL", "_", "OLDPWD"}

    async def test_one_that_fails_is_tried_again(self, folder: Path) -> None:
        write_script(folder, "echo no network >&2; exit 7")
        outcome = await run_script(folder, "page.sh", {})
        assert (outcome.is_sent, outcome.is_final, outcome.answer) == (False, False, "exit 7: no network")

    async def test_one_that_reads_nothing_and_writes_much_ends(self, folder: Path) -> None:
        write_script(folder, "head -c 3000000 /dev/zero | tr '\\0' x")
        outcome = await run_script(folder, "page.sh", {"text": "y" * 1_000_000})
        assert (outcome.is_sent, len(outcome.answer)) == (True, 500)

    async def test_one_that_takes_too_long_is_ended_with_its_children(self, folder: Path, tmp_path: Path) -> None:
        write_script(folder, f"sleep 1000 & echo $! > {tmp_path}/pid; wait")
        outcome = await run_script(folder, "page.sh", {}, limit_s=1.0)
        assert "took longer than 1 s" in outcome.answer
        pid = int((tmp_path / "pid").read_text())
        async with asyncio.timeout(60):
            while is_running(pid):  # noqa: ASYNC110 (another process)
                await asyncio.sleep(0.02)

    def test_only_executable_files_of_the_folder_count(self, folder: Path, tmp_path: Path) -> None:
        write_script(folder, "true")
        write_script(folder, "true", "plain.sh", 0o644)
        write_script(folder, "true", "open.sh", 0o757)
        (folder / "shell").symlink_to("/bin/sh")
        (folder / "sub").mkdir()
        assert list_scripts(folder) == ["page.sh"]
        assert "out of the folder" in str(find_problem(folder, "shell"))
        assert "not executable" in str(find_problem(folder, "plain.sh"))
        assert "chmod o-w" in str(find_problem(folder, "open.sh"))
        for name in ("", "..", "../page.sh", "/bin/sh", "sub"):
            assert find_problem(folder, name) is not None
        assert "NORMSTAT_ALERT_SCRIPTS_DIR" in str(find_problem(None, "page.sh"))
        folder.chmod(0o777)
        assert list_scripts(folder) == []


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for localhost, and its key."""
    path, key = tmp_path / "server.pem", tmp_path / "server.key"
    make_self_signed(path, key, "localhost")
    path.write_bytes(path.read_bytes() + key.read_bytes())
    return path


class TestTls:
    """A certificate is always checked, and a password never sent before."""

    def with_tls(self, receiver: HttpReceiver | MailReceiver, certificate: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        receiver.use_tls(context)

    @pytest.mark.parametrize("is_trusted", [True, False])
    async def test_webhooks(
        self, http: HttpReceiver, certificate: Path, monkeypatch: pytest.MonkeyPatch, *, is_trusted: bool
    ) -> None:
        self.with_tls(http, certificate)
        if is_trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        url = http.url.replace("http://127.0.0.1", "https://localhost")
        outcome = await ChannelSender(None).send(message(), to_settings(webhook(http, url=url)))
        assert (outcome.is_sent, len(http.received)) == (is_trusted, int(is_trusted))
        assert is_trusted or "certificate is not trusted" in outcome.answer

    @pytest.mark.parametrize("is_trusted", [True, False])
    async def test_mail_with_a_password(
        self, mail: MailReceiver, certificate: Path, monkeypatch: pytest.MonkeyPatch, *, is_trusted: bool
    ) -> None:
        self.with_tls(mail, certificate)
        if is_trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        settings = email(mail, server="localhost", security="tls", username="me", password="s3cret")
        outcome = await ChannelSender(None).send(message(), to_settings(settings))
        assert (outcome.is_sent, len(mail.mails), len(mail.logins)) == (is_trusted, int(is_trusted), int(is_trusted))

    async def test_a_server_without_starttls_gets_no_mail(self, mail: MailReceiver) -> None:
        settings = email(mail, security="starttls", username="me", password="s3cret")
        outcome = await ChannelSender(None).send(message(), to_settings(settings))
        assert (outcome.is_sent, outcome.is_final, mail.logins, mail.mails) == (False, True, [], [])

    def test_a_password_without_tls_is_refused(self, mail: MailReceiver) -> None:
        with pytest.raises(ValueError, match="TLS only"):
            to_settings(email(mail, username="me", password="s3cret"))


async def test_what_a_mail_server_says_decides_whether_it_is_tried_again(mail: MailReceiver) -> None:
    for command, answer, is_final in (
        ("MAIL", "450 try later", False),
        ("MAIL", "550 not you", True),
        ("RCPT", "550 nobody here", True),
        ("RCPT", "451 greylisted", False),
        ("DATA", "554 spam", True),
        ("DATA", "452 disk full", False),
    ):
        mail.refuse = {command: answer}
        outcome = await ChannelSender(None).send(message(), to_settings(email(mail)))
        assert (outcome.is_sent, outcome.is_final, answer[4:] in outcome.answer) == (False, is_final, True), outcome
    assert mail.mails == []


@pytest.mark.parametrize(
    ("status", "retry_after", "is_final", "pause_s"),
    [
        (400, None, True, None), (401, "5", True, None), (404, None, True, None), (301, None, True, None), (408, None, False, None),
        (429, "7", False, 7.0), (429, "999999", False, 3600.0), (429, "soon", False, None), (429, "-5", False, None),
        (500, None, False, None), (503, "0", False, 0.0),
    ],
)  # fmt: skip
def test_what_an_answer_means(status: int, retry_after: str | None, is_final: bool, pause_s: float | None) -> None:
    outcome = judge_answer(status, "Reason", "", retry_after)
    assert (outcome.is_sent, outcome.is_final, outcome.retry_after_s) == (False, is_final, pause_s)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("169.254.169.254", True), ("fe80::1%eth0", True), ("::ffff:169.254.169.254", True), ("0.0.0.0", True), ("224.0.0.1", True),
        # As NAT64 has it, with the prefixes of RFC 6052; as IPv4-compatible, IPv4-translated, 6to4, Teredo and ISATAP have it.
        ("64:ff9b::a9fe:a9fe", True), ("64:ff9b:1::169.254.169.254", True), ("64:ff9b:1:a9fe:a9:fe00::", True),
        ("64:ff9b:1:a9:fe:a9fe::", True), ("64:ff9b:1:0:a9:fea9:fe00:0", True), ("::169.254.169.254", True),
        ("::ffff:0:169.254.169.254", True), ("2002:a9fe:a9fe::1", True), ("2001:0:5306:1::5601:5601", True),
        ("2001:0:a9fe:a9fe::f5ff:fffe", True), ("2001:db8::5efe:169.254.169.254", True), ("2002:6464:64c8::", True),
        ("fd00:ec2::254", True), ("fd00:ec2::23", True), ("fd20:ce::254", True), ("fd00:42::42", True),
        ("100.100.100.200", True), ("168.63.129.16", True), ("192.0.0.192", True),
        ("127.0.0.1", False), ("10.1.2.3", False), ("::1", False), ("2001:db8::1", False), ("64:ff9b::192.0.2.1", False),
        ("64:ff9b:1::10.1.2.3", False), ("2002:c000:201::1", False), ("fd00:ec3::254", False), ("100.100.100.201", False),
    ],
)  # fmt: skip
def test_some_addresses_are_never_asked(address: str, expected: bool) -> None:
    assert is_refused(address) is expected


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "webhook", "url": "https://a.example/s3cret", "authorization": "Bearer s3cret", "template": ""},
        {"kind": "chat", "url": "https://a.example/s3cret", "format": "slack"},
        {"kind": "alertmanager", "url": "https://a.example", "authorization": "Basic s3cret", "labels": {}},
        {
            "kind": "service", "service": "ntfy", "url": "https://a.example", "target": "a",
            "key": f"tk_{'s3cret':0<29}",
        },
        {
            "kind": "email", "server": "a.example", "port": 587, "security": "starttls", "username": "me", "password": "s3cret",
            "sender": "a@a.example", "recipients": ["b@a.example"],
        },
    ],
)  # fmt: skip
def test_secrets_are_stored_apart_and_have_no_repr(settings: dict[str, Any]) -> None:
    wanted = to_settings(settings)
    public, secrets = split_secrets(wanted)
    assert "s3cret" not in json.dumps(public)
    assert all("s3cret" in str(value) for value in secrets.values())
    assert join_secrets(public, secrets) == wanted
    assert "s3cret" not in repr(wanted) + str(wanted) + wanted.model_dump_json() + wanted.endpoint


async def test_neither_secrets_nor_answers_are_logged(http: HttpReceiver) -> None:
    with structlog.testing.capture_logs() as logs:
        await ChannelSender(None).send(message(), to_settings(webhook(http, authorization="Bearer s3cret")))
    assert "s3cret" not in json.dumps(logs)


def test_a_template_has_all_words_of_a_message() -> None:
    template = json.dumps({word: f"{{{word}}}" for word in WORDS} | {"all": " ".join(f"{{{word}}}" for word in sorted(WORDS))})
    assert check_template(template) == template
    values = dict.fromkeys(WORDS, 1) | {"silence_link": None}
    filled = fill_template(template, values)
    assert isinstance(filled, dict)
    assert filled["alert_id"] == 1
    assert filled["silence_link"] is None
    assert "None" not in str(filled["all"])


def test_a_test_message_is_over_for_an_alertmanager() -> None:
    settings = AlertmanagerSettings(kind="alertmanager", url="http://127.0.0.1:9093", authorization=None, labels={"team": "db"})  # type: ignore[arg-type]
    for alert in to_alertmanager(message(), settings.labels):
        assert datetime.fromisoformat(str(alert["endsAt"])) <= datetime.now(UTC)


async def test_a_receiver_that_drips_is_cut_off_and_its_thread_ends(http: HttpReceiver) -> None:
    """Each byte in time, and never an end: a limit of each read would not help."""
    server = await asyncio.start_server(_drip, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = to_settings(webhook(http, url=f"http://127.0.0.1:{port}/"))
    outcome = await ChannelSender(None, limit_s=0.5).send(message(), settings)
    assert (outcome.is_sent, outcome.answer) == (False, "no answer within 0.5 s")
    async with asyncio.timeout(60):
        while any(name.startswith("alert_sender") for name in _thread_names()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    server.close()


async def _drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(10_000):
            writer.write(b"X: y\r\n"[:1])
            await writer.drain()
            await asyncio.sleep(0.05)
    except OSError:
        return


def _thread_names() -> list[str]:
    return [thread.name for thread in threading.enumerate()]
