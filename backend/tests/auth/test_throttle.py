"""Guessing gets slow, honest typing does not, and memory stays bounded."""

import pytest

from normstat.auth.throttle import FREE_TRIES, FREE_TRIES_OF_ADDRESS, LONGEST_WAIT_S, Throttle
from normstat.errors import TooManyRequests


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def wait_of(throttle: Throttle, name: str = "ann", address: str = "10.0.0.1") -> int:
    with pytest.raises(TooManyRequests) as caught:
        throttle.count_try(name, address)
    wait_s = caught.value.details["retry_after_s"]
    assert isinstance(wait_s, int)
    return wait_s


def test_waits_grow_after_the_free_tries_up_to_a_limit() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    for _ in range(FREE_TRIES):
        throttle.count_try("ann", "10.0.0.1")
    waits = []
    for _ in range(12):
        waits.append(wait_of(throttle))
        clock.now += waits[-1]
        throttle.count_try("ann", "10.0.0.1")
    assert waits[:4] == [2, 3, 5, 9]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT_S + 1


def test_success_forgives() -> None:
    throttle = Throttle(Clock())
    for _ in range(10 * FREE_TRIES_OF_ADDRESS):
        throttle.count_try("ann", "10.0.0.1")
        throttle.succeed("ann", "10.0.0.1")
    assert len(throttle) <= 1


def test_others_are_not_held_up() -> None:
    throttle = Throttle(Clock())
    for _ in range(FREE_TRIES):
        throttle.count_try("ann", "10.0.0.1")
    wait_of(throttle)
    throttle.count_try("ann", "10.0.0.2")
    throttle.count_try("bob", "10.0.0.1")


def test_an_address_that_tries_many_names_waits() -> None:
    throttle = Throttle(Clock())
    for number in range(FREE_TRIES_OF_ADDRESS):
        throttle.count_try(f"name{number}", "10.0.0.1")
    wait_of(throttle, "somebody else")


def test_a_quiet_hour_forgives() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    for _ in range(FREE_TRIES):
        throttle.count_try("ann", "10.0.0.1")
    clock.now += 3601
    for _ in range(FREE_TRIES):
        throttle.count_try("ann", "10.0.0.1")
    wait_of(throttle)


def test_several_processes_let_no_more_through_than_one() -> None:
    def count_tries(n_processes: int) -> int:
        clock = Clock()
        processes = [Throttle(clock, n_processes=n_processes) for _ in range(n_processes)]
        n_tries = 0
        for _ in range(3000):
            for throttle in processes:
                try:
                    throttle.count_try("ann", "10.0.0.1")
                    n_tries += 1
                except TooManyRequests:
                    pass
            clock.now += 1
        return n_tries

    assert count_tries(2) <= count_tries(1)
    assert count_tries(4) <= count_tries(1)


def test_memory_is_bounded() -> None:
    throttle = Throttle(Clock(), max_keys=100)
    for number in range(5000):
        throttle.count_try("ann", f"10.0.{number // 250}.{number % 250}")
    assert len(throttle) <= 200
