"""Which connection goes for a newcomer, and when clients are too slow. Time goes on by ticks that the tests give."""

import itertools

from structlog.testing import capture_logs

from normstat.auth.client_address import TrustedProxies, parse_networks
from normstat.server.connections import LINGER_S, MAX_LINGERING, ClientConnection, ConnectionLimits, ConnectionTable, MinimumRate


class FakeClient(ClientConnection):
    def __init__(self, address: str, progress: int | None = None) -> None:
        self.address = address
        self.n_done = progress
        self.is_dropped = False
        self.looked_at: list[float] = []

    def check_deadlines(self, now: float) -> None:
        self.looked_at.append(now)

    def progress(self) -> int | None:
        return self.n_done

    def drop(self) -> None:
        self.is_dropped = True


def make_table(n_connections: int = 4, n_per_address: int = 2) -> ConnectionTable:
    return ConnectionTable(ConnectionLimits(n_connections, n_per_address, head_timeout_s=10, stall_timeout_s=20))


def admit(connection_table: ConnectionTable, address: str, *, busy: bool = False, progress: int | None = None) -> FakeClient:
    client = FakeClient(address, progress)
    assert connection_table.admit(client)
    if busy:
        connection_table.set_busy(client)
    return client


def test_an_address_at_its_limit_loses_the_connection_that_waited_longest() -> None:
    connection_table = make_table()
    first, second = admit(connection_table, "a"), admit(connection_table, "a")
    # It gets a request and is idle again: now the other one has waited longer.
    connection_table.set_busy(first)
    connection_table.set_idle(first)
    third = admit(connection_table, "a")
    assert [client.is_dropped for client in (first, second, third)] == [False, True, False]
    assert (len(connection_table), connection_table.count("a")) == (2, 2)


def test_a_trusted_proxy_may_have_more_connections_than_a_client() -> None:
    limits = ConnectionLimits(
        n_connections=4,
        n_per_address=2,
        head_timeout_s=10,
        stall_timeout_s=20,
        trusted_proxies=TrustedProxies(parse_networks(["192.0.2.7"])),
    )
    connection_table = ConnectionTable(limits)
    clients = [admit(connection_table, "192.0.2.7") for _ in range(3)]
    assert not any(client.is_dropped for client in clients)
    # The whole is bounded all the same.
    admit(connection_table, "192.0.2.7")
    admit(connection_table, "192.0.2.7")
    assert (len(connection_table), clients[0].is_dropped) == (4, True)


def test_a_full_table_drops_from_the_address_with_the_most_connections() -> None:
    connection_table = make_table(n_connections=4, n_per_address=3)
    modest = admit(connection_table, "modest")
    greedy = [admit(connection_table, "greedy") for _ in range(3)]
    admit(connection_table, "newcomer")
    assert [client.is_dropped for client in greedy] == [True, False, False]
    assert not modest.is_dropped
    assert len(connection_table) == 4


def test_nobody_makes_room_at_the_cost_of_an_address_with_fewer() -> None:
    connection_table = make_table(n_connections=4, n_per_address=4)
    modest = admit(connection_table, "modest")
    for _ in range(3):
        admit(connection_table, "greedy", busy=True)
    assert not connection_table.admit(FakeClient("greedy"))
    assert not modest.is_dropped


def test_where_all_have_requests_the_slowest_client_goes() -> None:
    connection_table = make_table(n_connections=3, n_per_address=3)
    clients = [admit(connection_table, "a", busy=True, progress=progress) for progress in (None, 500, 20)]
    admit(connection_table, "b")
    assert [client.is_dropped for client in clients] == [False, False, True]


def test_requests_that_are_worked_on_are_never_dropped() -> None:
    connection_table = make_table()
    busy = [admit(connection_table, "a", busy=True) for _ in range(2)]
    assert not connection_table.admit(FakeClient("a"))
    assert not any(client.is_dropped for client in busy)
    # It is looked at again after the next tick, not for each newcomer.
    busy[0].n_done = 0
    assert not connection_table.admit(FakeClient("a"))
    connection_table.tick(1)
    admit(connection_table, "a")
    assert busy[0].is_dropped


def test_places_are_given_back() -> None:
    connection_table = make_table()
    clients = [admit(connection_table, "a", busy=True) for _ in range(2)]
    assert not connection_table.admit(FakeClient("a"))
    for client in clients:
        connection_table.remove(client)
        connection_table.remove(client)
    assert (len(connection_table), connection_table.count("a")) == (0, 0)
    admit(connection_table, "a")


def test_any_number_of_addresses_is_forgotten_again() -> None:
    connection_table = make_table(n_connections=50, n_per_address=50)
    for number in range(500):
        admit(connection_table, f"2001:db8::{number}")
    assert len(connection_table) == 50
    assert len(connection_table._clients) == len(connection_table._idle) == 50


def test_a_refused_client_has_time_to_read_and_then_goes() -> None:
    connection_table = make_table()
    client = admit(connection_table, "a")
    assert connection_table.linger(client)
    connection_table.tick(LINGER_S / 2)
    assert not client.is_dropped
    assert client.looked_at == []
    connection_table.tick(LINGER_S / 2)
    assert client.is_dropped
    others = [FakeClient("b") for _ in range(MAX_LINGERING + 1)]
    assert [connection_table.linger(other) for other in others] == [True] * MAX_LINGERING + [False]


def test_what_happened_is_logged_once_in_a_while() -> None:
    connection_table = make_table()
    with capture_logs() as logs:
        for _ in range(100):
            admit(connection_table, "a")
        for _ in range(20):
            connection_table.tick(1)
        admit(connection_table, "a")
        connection_table.tick(1)
    assert [event["n_dropped"] for event in logs if event["event"] == "connections_ended"] == [98, 1]
    assert logs[0]["address_with_most"] == "a"


def test_a_pace_is_judged_by_span() -> None:
    pace = MinimumRate(min_rate=10, span_s=20)
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
