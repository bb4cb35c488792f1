"""Which connection goes for a newcomer, and when clients are too slow. Time goes on by ticks that the tests give."""

import itertools

import pytest
from structlog.testing import capture_logs

from normstat.auth.client_address import TrustedProxies, group_of, parse_networks
from normstat.cli.connections import LINGER_S, MAX_LINGERING, Book, Client, Limits, Pace


class FakeClient(Client):
    def __init__(self, address: str, progress: int | None = None) -> None:
        self.address = address
        self.n_done = progress
        self.is_dropped = False
        self.looked_at: list[float] = []

    def look(self, now: float) -> None:
        self.looked_at.append(now)

    def progress(self) -> int | None:
        return self.n_done

    def drop(self) -> None:
        self.is_dropped = True


def make_book(n_connections: int = 4, n_per_address: int = 2) -> Book:
    return Book(Limits(n_connections, n_per_address, head_timeout_s=10, stall_timeout_s=20))


def admit(book: Book, address: str, *, busy: bool = False, progress: int | None = None) -> FakeClient:
    client = FakeClient(address, progress)
    assert book.admit(client)
    if busy:
        book.set_busy(client)
    return client


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_a_64_counts_as_one_address(address: str, group: str) -> None:
    assert group_of(address) == group


def test_an_address_at_its_limit_loses_the_connection_that_waited_longest() -> None:
    book = make_book()
    first, second = admit(book, "a"), admit(book, "a")
    # It gets a request and is idle again: now the other one has waited longer.
    book.set_busy(first)
    book.set_idle(first)
    third = admit(book, "a")
    assert [client.is_dropped for client in (first, second, third)] == [False, True, False]
    assert (len(book), book.count("a")) == (2, 2)


def test_a_trusted_proxy_may_have_more_connections_than_a_client() -> None:
    limits = Limits(
        n_connections=4,
        n_per_address=2,
        head_timeout_s=10,
        stall_timeout_s=20,
        trusted_proxies=TrustedProxies(parse_networks(["192.0.2.7"])),
    )
    book = Book(limits)
    clients = [admit(book, "192.0.2.7") for _ in range(3)]
    assert not any(client.is_dropped for client in clients)
    # The whole is bounded all the same.
    admit(book, "192.0.2.7")
    admit(book, "192.0.2.7")
    assert (len(book), clients[0].is_dropped) == (4, True)


def test_a_full_book_drops_from_the_address_with_the_most_connections() -> None:
    book = make_book(n_connections=4, n_per_address=3)
    modest = admit(book, "modest")
    greedy = [admit(book, "greedy") for _ in range(3)]
    admit(book, "newcomer")
    assert [client.is_dropped for client in greedy] == [True, False, False]
    assert not modest.is_dropped
    assert len(book) == 4


def test_nobody_makes_room_at_the_cost_of_an_address_with_fewer() -> None:
    book = make_book(n_connections=4, n_per_address=4)
    modest = admit(book, "modest")
    for _ in range(3):
        admit(book, "greedy", busy=True)
    assert not book.admit(FakeClient("greedy"))
    assert not modest.is_dropped


def test_where_all_have_requests_the_slowest_client_goes() -> None:
    book = make_book(n_connections=3, n_per_address=3)
    clients = [admit(book, "a", busy=True, progress=progress) for progress in (None, 500, 20)]
    admit(book, "b")
    assert [client.is_dropped for client in clients] == [False, False, True]


def test_requests_that_are_worked_on_are_never_dropped() -> None:
    book = make_book()
    busy = [admit(book, "a", busy=True) for _ in range(2)]
    assert not book.admit(FakeClient("a"))
    assert not any(client.is_dropped for client in busy)
    # It is looked at again after the next tick, not for each newcomer.
    busy[0].n_done = 0
    assert not book.admit(FakeClient("a"))
    book.tick(1)
    admit(book, "a")
    assert busy[0].is_dropped


def test_places_are_given_back() -> None:
    book = make_book()
    clients = [admit(book, "a", busy=True) for _ in range(2)]
    assert not book.admit(FakeClient("a"))
    for client in clients:
        book.remove(client)
        book.remove(client)
    assert (len(book), book.count("a")) == (0, 0)
    admit(book, "a")


def test_any_number_of_addresses_is_forgotten_again() -> None:
    book = make_book(n_connections=50, n_per_address=50)
    for number in range(500):
        admit(book, f"2001:db8::{number}")
    assert len(book) == 50
    assert len(book._clients) == len(book._idle) == 50


def test_a_refused_client_has_time_to_read_and_then_goes() -> None:
    book = make_book()
    client = admit(book, "a")
    assert book.linger(client)
    book.tick(LINGER_S / 2)
    assert not client.is_dropped
    assert client.looked_at == []
    book.tick(LINGER_S / 2)
    assert client.is_dropped
    others = [FakeClient("b") for _ in range(MAX_LINGERING + 1)]
    assert [book.linger(other) for other in others] == [True] * MAX_LINGERING + [False]


def test_what_happened_is_logged_once_in_a_while() -> None:
    book = make_book()
    with capture_logs() as logs:
        for _ in range(100):
            admit(book, "a")
        for _ in range(20):
            book.tick(1)
        admit(book, "a")
        book.tick(1)
    assert [event["n_dropped"] for event in logs if event["event"] == "connections_ended"] == [98, 1]
    assert logs[0]["address_with_most"] == "a"


def test_a_pace_is_judged_by_span() -> None:
    pace = Pace(min_rate=10, span_s=20)
    pace.restart(100)
    # 200 bytes belong to a span; they may come all at once, at its end.
    assert not pace.is_too_slow(119)
    pace.n_bytes += 200
    assert not pace.is_too_slow(120)
    pace.n_bytes += 199
    assert [pace.is_too_slow(now) for now in (139, 140)] == [False, True]
    for start in itertools.accumulate([20.0] * 5, initial=200):
        pace.restart(start)
        assert not pace.is_too_slow(start + 19)
