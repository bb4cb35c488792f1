"""What a request says of its sender: from another site's page, by which of our names, from whose address, with which browser."""

import re
import socket
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from normstat.auth.allowed_hosts import AllowedHosts
from normstat.auth.browser_words import browser_in_words
from normstat.auth.client_address import TrustedProxies, group_of, parse_networks
from normstat.auth.csrf import check_browser_request, check_origin
from normstat.errors import BadRequest, NotAllowed

PROXIES = TrustedProxies(parse_networks(["127.0.0.1", "10.0.0.0/8", "2001:db8::/64"]))

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


def refusal(check: Callable[[], None]) -> str | None:
    """Return the message of the refusal, None when the request is allowed."""
    try:
        check()
    except NotAllowed as error:
        return str(error)
    return None


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_needs_no_header(method: str) -> None:
    from_elsewhere = Headers({"origin": "https://evil.example", "host": "ours"})
    assert refusal(lambda: check_browser_request(method, from_elsewhere)) is None
    # The same headers are refused where something changes.
    assert refusal(lambda: check_browser_request("POST", from_elsewhere)) is not None


@pytest.mark.parametrize("value", [None, "", "0", "true"])
def test_changes_need_the_header(value: str | None) -> None:
    with pytest.raises(NotAllowed, match="X-Normstat-Request"):
        check_browser_request("POST", Headers({} if value is None else {"X-Normstat-Request": value}))


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://ours:8080", "ours:8080"),
        ("https://ours", "ours"),
        ("https://ours", "ours:443"),
        ("http://OURS", "ours"),
        ("http://[::1]:8080", "[::1]:8080"),
    ],
)
def test_our_own_pages_may(origin: str, host: str) -> None:
    ours = Headers({"X-Normstat-Request": "1", "Origin": origin, "Host": host})
    assert refusal(lambda: check_browser_request("DELETE", ours)) is None


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://ours.evil.example", "http://ours:9090", "http://x[y"]
)
def test_other_pages_may_not(origin: str) -> None:
    with pytest.raises(NotAllowed, match="comes from a page of"):
        check_origin(Headers({"Origin": origin, "Host": "ours:8080"}))


def test_without_origin_nothing_is_wrong() -> None:
    assert refusal(lambda: check_origin(Headers({"Host": "ours"}))) is None


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


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "192.0.2.1", ""])
def test_without_trusted_proxies_the_header_is_worth_nothing(peer: str) -> None:
    assert TrustedProxies().find_client(peer, ["198.51.100.1"]) == peer


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "client"),
    [
        ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"),
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        # What the client wrote itself stands to the left.
        ("127.0.0.1", ["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", ["1.1.1.1", "2.2.2.2,198.51.100.1 "], "198.51.100.1"),
        ("127.0.0.1", ["127.0.0.1, 198.51.100.1, 10.1.2.3"], "198.51.100.1"),
        ("127.0.0.1", ["198.51.100.1, 10.1.2.3, 2001:db8::5"], "198.51.100.1"),
        # A health check of a proxy itself.
        ("127.0.0.1", ["10.1.2.3"], "10.1.2.3"),
        ("127.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("127.0.0.1", ["[2001:DB8:1::1]:443"], "2001:db8:1::1"),
        ("127.0.0.1", ["2001:db8:1::1"], "2001:db8:1::1"),
        ("127.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        # Whoever lets the proxy write nonsense is counted as the proxy.
        ("127.0.0.1", ["198.51.100.1, unknown"], "127.0.0.1"),
        ("127.0.0.1", ["198.51.100.1, "], "127.0.0.1"),
        ("127.0.0.1", [",".join(["10.0.0.1"] * 20_000)], "10.0.0.1"),
    ],
)
def test_the_right_most_address_that_is_not_trusted(peer: str, forwarded_for: list[str], client: str) -> None:
    assert PROXIES.find_client(peer, forwarded_for) == client


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:7:1:2:3:4", "2001:db8:0:7::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("x" * 1000, "x" * 64),
    ],
)
def test_groups(address: str, group: str) -> None:
    assert group_of(address) == group


@pytest.mark.parametrize("text", ["localhost", "10.0.0.1/8", "10.0.0.0/33", "10.0.0"])
def test_what_is_no_network_is_named(text: str) -> None:
    with pytest.raises(BadRequest, match="NORMSTAT_TRUSTED_PROXIES"):
        parse_networks([text])


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/131.0.0.0 Safari/537.36", "Chrome 131 on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0", "Edge 131 on Windows"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} Chrome/131.0.0.0 Mobile Safari/537.36", "Chrome 131 on Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
         "Safari 18 on macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1",
         "Safari 18 on iOS"),
        ("Mozilla/5.0 (X11; SunOS i86pc; rv:102.0) Gecko/20100101 Firefox/102.0", "Firefox 102 on Solaris"),
        ("python-httpx/0.28.1", "python-httpx 0"),
        ("", ""),
    ],
)  # fmt: skip
def test_known_browsers(header: str, words: str) -> None:
    assert browser_in_words(header) == words


@given(st.builds(str.__add__, st.sampled_from(("", "Firefox/", "Chrome/", "curl/")), st.text()))
def test_the_words_are_ours(header: str) -> None:
    assert re.fullmatch(r"(?:[A-Za-z -]+ [0-9]{1,4})?(?: on )?(?:[A-Za-z]+)?", browser_in_words(header), re.ASCII)
