"""Turns: what fails waits and stops nobody; who had no turn comes first."""

import psycopg
import pytest
import structlog
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from normstat.db.turns import FIRST_WAIT_S, MAX_WAIT_S, Failures, Turns, describe, is_database_away
from normstat.errors import BadRequest


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def fail(turns: Turns[int], key: int, error: Exception | None = None) -> None:
    with turns.turn(key, host=f"h{key}"):
        raise error or RuntimeError("boom\nin two lines")


def test_those_without_a_turn_come_first_and_then_those_who_waited_longest() -> None:
    turns: Turns[int] = Turns("x")
    for key in (3, 1):
        with turns.turn(key):
            pass
    assert turns.order([1, 2, 3, 4]) == [2, 4, 3, 1]
    with turns.turn(2):
        pass
    assert turns.order([1, 2, 3, 4, 5]) == [4, 5, 3, 1, 2]


def test_what_fails_waits_longer_each_time_up_to_an_hour() -> None:
    clock = Clock()
    turns: Turns[int] = Turns("x", clock=clock)
    waits = []
    for _ in range(9):
        fail(turns, 1)
        assert turns.order([1, 2]) == [2]
        began = clock.now_s
        while not turns.order([1]):
            clock.now_s += 30
        waits.append(clock.now_s - began)
    assert waits[:3] == [FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S]
    assert waits[-1] == MAX_WAIT_S
    with turns.turn(1):
        pass
    assert not turns.failures
    fail(turns, 1)
    assert turns.failures[1].n == 1


def test_what_is_named_no_longer_is_forgotten() -> None:
    turns: Turns[int] = Turns("x")
    fail(turns, 1)
    assert turns.order([2]) == [2]
    assert not turns.failures
    assert turns.order([1, 2]) == [1, 2]


def test_a_failure_is_logged_with_its_facts_and_its_traceback_once() -> None:
    turns: Turns[int] = Turns("rollup_failed")
    with structlog.testing.capture_logs() as logs:
        fail(turns, 7)
        fail(turns, 7)
        fail(turns, 8, BadRequest("no such zone"))
    first, second, third = logs
    assert (first["event"], first["host"], first["error"], first["log_level"]) == ("rollup_failed", "h7", "boom", "error")
    assert isinstance(first["exc_info"], RuntimeError)
    assert second["exc_info"] is None
    assert (second["n_failures"], second["next_try_in_s"]) == (2, 2 * FIRST_WAIT_S)
    assert (third["log_level"], third["error"]) == ("warning", "no such zone")


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("server closed the connection unexpectedly"),
        psycopg.errors.AdminShutdown("terminating connection"),
        psycopg.errors.DiskFull("no space left on device"),
        psycopg.InterfaceError("the connection is closed"),
        PoolTimeout("no connection"),
        OperationalError("SELECT 1", {}, psycopg.errors.CannotConnectNow("starting up")),
        DBAPIError("SELECT 1", {}, psycopg.errors.UndefinedTable("x"), connection_invalidated=True),
    ],
)
def test_a_database_that_is_away_is_nobodys_fault(error: Exception) -> None:
    assert is_database_away(error)
    turns: Turns[int] = Turns("x")
    with pytest.raises(type(error)):
        fail(turns, 1, error)
    assert not turns.failures
    failures = Failures("x")
    with pytest.raises(type(error)), failures.keep("one"):
        raise error
    assert not failures.lines


@pytest.mark.parametrize("error", [psycopg.errors.LockNotAvailable("x"), psycopg.errors.OutOfMemory("x"), OverflowError("x")])
def test_other_errors_are_those_of_the_one(error: Exception) -> None:
    assert not is_database_away(error)
    failures = Failures("x")
    with failures.keep("one"):
        raise error
    with failures.keep("two"):
        pass
    assert failures.lines == ["one: x"]
    assert describe(RuntimeError()) == "RuntimeError"
