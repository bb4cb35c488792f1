"""Whose address counts, behind proxies and without."""

import pytest

from normstat.auth.client_address import TrustedProxies, group_of, parse_networks
from normstat.errors import BadRequest

PROXIES = TrustedProxies(parse_networks(["127.0.0.1", "10.0.0.0/8", "2001:db8::/64"]))


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
