"""Resource limits of one rule on one host: a user's rule can be slow or large, and must not hold up anything else."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from normstat.runtime import work_budget
from normstat.runtime.readable import format_bytes
from normstat.runtime.units import MIB
from normstat.runtime.work_budget import MemoryPool, Work

# CPU time for one hour of samples of one host. The built-in rules need some hundredths for 64 CPUs each second.
MAX_CPU_S: Final = 2.0
MAX_BYTES: Final = 512 * MIB


class RuleStopped(Exception):
    """A rule exceeded a limit; the message says which."""


@contextmanager
def rule_budget(max_cpu_s: float | None = None, max_bytes: int | None = None) -> Iterator[None]:
    """Limit the work of the block for a rule: the memory of its samples, and the CPU time of its threads.

    Raises: RuleStopped; TooLarge, which `describe_memory` puts into words
    """
    pool = MemoryPool(MAX_BYTES if max_bytes is None else max_bytes)
    limit_s = MAX_CPU_S if max_cpu_s is None else max_cpu_s
    with work_budget.working(pool, lambda own: _TimedWork(own, limit_s)):
        yield


@contextmanager
def counting_own_time() -> Iterator[None]:
    """Count the CPU time of this thread for the rule, though it also serves others: the block is the rule's alone."""
    work = work_budget.current()
    if isinstance(work, _TimedWork):
        work.count_owner()
    yield


def describe_memory() -> str:
    """Return why a rule that reads too much is stopped."""
    return f"it reads more than {format_bytes(MAX_BYTES)} of samples of a host at once; make its spans shorter"


class _TimedWork(Work):
    """Work whose threads have so much CPU time each; the thread that began it serves others, too, and is not counted."""

    def __init__(self, pool: MemoryPool, limit_s: float) -> None:
        super().__init__(pool)
        self._limit_s = limit_s
        self._owner: int | None = threading.get_ident()
        self._begins_s: dict[int, float] = {}

    def count_owner(self) -> None:
        """Count the CPU time of the thread that began it from now on."""
        self._owner = None

    def check(self) -> None:
        thread = threading.get_ident()
        if thread != self._owner:
            now_s = time.thread_time()
            if now_s - self._begins_s.setdefault(thread, now_s) > self._limit_s:
                raise RuleStopped(
                    f"it needs more than {self._limit_s:g} s of CPU time for the samples of one hour of a host;"
                    " make its spans shorter or its conditions fewer"
                )
        super().check()
