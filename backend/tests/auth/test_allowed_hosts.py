"""Which names are ours."""

import socket

import pytest

from normstat.auth.allowed_hosts import AllowedHosts


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> AllowedHosts:
    monkeypatch.setattr(socket, "gethostname", lambda: "Box7")
    monkeypatch.setattr(socket, "getfqdn", lambda: "box7.lab.example")
    hosts = AllowedHosts("https://Stats.example.org/below", ["added", "*.wide.example", "[2001:db8::1]:80"])
    hosts.add_full_name()
    return hosts


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "localhost:8080", "LOCALHOST.", "page.localhost", "stats.example.org:443", "stats.example.org.", "box7",
        "box7.local:8080", "box7.lab.example", "added:1", "a.wide.example", "a.b.wide.example",
        "127.0.0.1", "192.0.2.7:8080", "[::1]:8080", "[2001:db8::7]", "[fe80::1%25eth0]:8080", "",
    ],
)  # fmt: skip
def test_ours(hosts: AllowedHosts, host: str) -> None:
    assert hosts.allows(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "stats.example.org.evil.example",
        "notwide.example", "wide.example", "127.0.0.1@evil.example", "evil.example#localhost", "box7.evil", "0x7f.1.evil",
        "[evil.example]", "a b", "\N{FULLWIDTH DIGIT ONE}.evil",
    ],
)  # fmt: skip
def test_not_ours(hosts: AllowedHosts, host: str) -> None:
    assert not hosts.allows(host)


def test_everything_is_ours_where_the_setting_says_so() -> None:
    assert AllowedHosts("http://127.0.0.1:8080", ["*"]).allows("evil.example")
