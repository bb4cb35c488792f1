"""Guessing gets slow, honest typing does not, nobody locks out somebody else, and memory stays bounded."""

import pytest

from normstat.auth.throttle import (
    FREE_TRIES,
    FREE_TRIES_OF_ADDRESS,
    FREE_TRIES_OF_NAME,
    MAX_WAIT_S,
    NAME_PAUSE_S,
    Throttle,
)
from normstat.errors import TooManyRequests

BROWSER = b"what a browser kept"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def wait_of(throttle: Throttle, name: str = "ann", address: str = "10.0.0.1") -> int:
    with pytest.raises(TooManyRequests) as caught:
        throttle.attempt(name, address)
    wait_s = caught.value.details["retry_after_s"]
    assert isinstance(wait_s, int)
    return wait_s


def try_n(throttle: Throttle, n: int, name: str = "ann", address: str = "10.0.0.1") -> None:
    for _ in range(n):
        throttle.attempt(name, address)


def test_waits_grow_after_the_free_tries_up_to_a_limit() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    try_n(throttle, FREE_TRIES)
    waits = []
    for _ in range(12):
        waits.append(wait_of(throttle))
        clock.now += waits[-1]
        throttle.attempt("ann", "10.0.0.1")
    assert waits[:4] == [1, 2, 4, 8]
    assert waits == sorted(waits)
    assert waits[-1] == MAX_WAIT_S


def test_success_forgives() -> None:
    throttle = Throttle(Clock())
    for _ in range(10 * FREE_TRIES_OF_ADDRESS):
        throttle.attempt("ann", "10.0.0.1").succeed()
    try_n(throttle, FREE_TRIES)
    assert wait_of(throttle) > 0


def test_a_success_forgives_only_itself_to_the_address() -> None:
    throttle = Throttle(Clock())
    for number in range(FREE_TRIES_OF_ADDRESS):
        throttle.attempt(f"name{number}", "10.0.0.1")
        if number % 10 == 0:
            # Somebody with an account does not buy further guesses with it.
            throttle.attempt("mallory", "10.0.0.1").succeed()
    wait_of(throttle, "somebody else")


def test_a_try_that_was_not_looked_at_is_taken_back() -> None:
    throttle = Throttle(Clock())
    for _ in range(10 * FREE_TRIES_OF_ADDRESS):
        throttle.attempt("ann", "10.0.0.1").withdraw()
    try_n(throttle, FREE_TRIES)
    wait_of(throttle)


def test_others_are_not_held_up() -> None:
    throttle = Throttle(Clock())
    try_n(throttle, FREE_TRIES)
    wait_of(throttle)
    throttle.attempt("ann", "10.0.0.2")
    throttle.attempt("bob", "10.0.0.1")


def test_an_address_that_tries_many_names_waits_for_a_second_at_most() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    for number in range(FREE_TRIES_OF_ADDRESS):
        throttle.attempt(f"name{number}", "10.0.0.1")
    for _ in range(1000):
        # What is refused does not make the wait longer.
        assert wait_of(throttle, "somebody else") == 1
    clock.now += 1
    throttle.attempt("somebody else", "10.0.0.1")


def test_a_name_is_guessed_slowly_however_many_addresses_guess() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    n_tries = 0
    day_s = 24 * 3600
    for number in range(day_s):
        try:
            throttle.attempt("ann", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
            n_tries += 1
        except TooManyRequests:
            pass
        clock.now += 1
    assert n_tries == pytest.approx(FREE_TRIES_OF_NAME + day_s / NAME_PAUSE_S, abs=1)
    try_n(throttle, 1, address="192.0.2.1")
    assert throttle.is_name_throttled("ann")
    assert not throttle.is_name_throttled("bob")


def test_a_known_visitor_gets_in_whatever_others_try() -> None:
    throttle = Throttle(Clock())
    try_n(throttle, FREE_TRIES)
    for number in range(FREE_TRIES_OF_ADDRESS - FREE_TRIES):
        throttle.attempt(f"name{number}", "10.0.0.1")
    for number in range(FREE_TRIES_OF_NAME - FREE_TRIES):
        throttle.attempt("ann", f"10.0.1.{number}")
    assert throttle.is_name_throttled("ann")
    wait_of(throttle)
    throttle.attempt_known("ann", BROWSER).succeed()


def test_a_known_visitor_guesses_no_faster() -> None:
    throttle = Throttle(Clock())
    for _ in range(FREE_TRIES):
        throttle.attempt_known("ann", BROWSER)
    with pytest.raises(TooManyRequests):
        throttle.attempt_known("ann", BROWSER)
    # And holds up nobody else.
    throttle.attempt_known("ann", b"another browser")
    throttle.attempt("ann", "10.0.0.1")


def test_a_known_address_is_spared_what_others_try_elsewhere() -> None:
    throttle = Throttle(Clock())
    for number in range(FREE_TRIES_OF_NAME):
        throttle.attempt("ann", f"10.0.1.{number}")
    wait_of(throttle)
    for _ in range(FREE_TRIES):
        throttle.attempt("ann", "10.0.0.1", is_known_address=True)
    with pytest.raises(TooManyRequests):
        throttle.attempt("ann", "10.0.0.1", is_known_address=True)


def test_a_network_of_ipv6_addresses_is_one_client() -> None:
    throttle = Throttle(Clock())
    for number in range(FREE_TRIES):
        throttle.attempt("ann", f"2001:db8:0:7::{number:x}")
    wait_of(throttle, address="2001:db8:0:7:ffff::1")
    throttle.attempt("ann", "2001:db8:0:8::1")
    try_n(throttle, FREE_TRIES, address="::ffff:10.0.0.1")
    wait_of(throttle, address="10.0.0.1")


def test_wrong_links_are_counted_apart() -> None:
    throttle = Throttle(Clock())
    for _ in range(FREE_TRIES_OF_ADDRESS):
        throttle.count_wrong_link("10.0.0.1")
    with pytest.raises(TooManyRequests):
        throttle.count_wrong_link("10.0.0.1")
    throttle.attempt("ann", "10.0.0.1")


def test_a_quiet_hour_forgives() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    try_n(throttle, FREE_TRIES)
    clock.now += 3601
    try_n(throttle, FREE_TRIES)
    wait_of(throttle)


@pytest.mark.parametrize("n_processes", [2, 4])
@pytest.mark.parametrize("n_names", [1, 1000])
def test_several_processes_let_no_more_through_than_one(n_processes: int, n_names: int) -> None:
    def count_tries(n_processes: int) -> int:
        clock = Clock()
        processes = [Throttle(clock, n_processes=n_processes) for _ in range(n_processes)]
        n_tries = 0
        for number in range(4 * 3000):
            try:
                processes[number % n_processes].attempt(f"ann{number % n_names}", "10.0.0.1")
                n_tries += 1
            except TooManyRequests:
                pass
            clock.now += 0.25
        return n_tries

    # Rounding to whole tries of each process may add a few.
    assert count_tries(n_processes) <= count_tries(1) + n_processes


def test_memory_is_bounded() -> None:
    throttle = Throttle(Clock(), max_keys=100)
    for number in range(5000):
        address = f"10.0.{number // 250}.{number % 250}"
        throttle.attempt(f"ann{number}", address)
        throttle.attempt_known("ann", address.encode())
        throttle.count_wrong_link(address)
    assert len(throttle) <= 500
