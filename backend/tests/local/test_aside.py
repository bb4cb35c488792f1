"""What a function returns or raises in a process of its own."""

import os
import signal
import sys

import pytest

from normstat.errors import BadRequest
from normstat.local.aside import call_aside


def load_something() -> int:
    import this  # noqa: F401

    return os.getpid()


def fail() -> None:
    raise BadRequest("no good", {"n": 3})


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_result_comes_back_and_what_it_took_does_not(capfd: pytest.CaptureFixture[str]) -> None:
    assert call_aside(load_something) != os.getpid()
    assert "this" not in sys.modules
    assert "Zen" in capfd.readouterr().out


def test_large_results_come_back_whole() -> None:
    assert call_aside(lambda: b"x" * 5_000_000) == b"x" * 5_000_000


def test_what_it_raises_is_raised() -> None:
    with pytest.raises(BadRequest) as caught:
        call_aside(fail)
    assert (caught.value.message, caught.value.details) == ("no good", {"n": 3})


def test_a_process_that_was_killed_is_no_answer() -> None:
    with pytest.raises(RuntimeError, match="exit status -9"):
        call_aside(die)
