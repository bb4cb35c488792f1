"""The garbage collector rests while batches are stored, and runs again however they overlap."""

import gc
from contextlib import ExitStack

import pytest

from normstat.runtime.memory import MAX_PAUSES, CollectorPauses


def test_it_runs_again_when_the_last_pause_ends() -> None:
    pauses = CollectorPauses()
    with ExitStack() as first:
        first.enter_context(pauses.pause())
        with pauses.pause():
            assert not gc.isenabled()
        assert not gc.isenabled(), "another batch is still being stored"
    assert gc.isenabled()


def test_it_runs_again_after_a_failure() -> None:
    with pytest.raises(ValueError, match="failed"), CollectorPauses().pause():
        raise ValueError("failed")
    assert gc.isenabled()


def test_pauses_that_always_overlap_let_it_run_now_and_then() -> None:
    pauses = CollectorPauses()
    n_enabled = 0
    with ExitStack() as always:
        always.enter_context(pauses.pause())
        for _ in range(3 * MAX_PAUSES):
            with pauses.pause():
                pass
            n_enabled += gc.isenabled()
    assert n_enabled == 3
    assert gc.isenabled()
