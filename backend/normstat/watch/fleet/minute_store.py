"""Means by minute of the whole fleet, kept in memory: a page that is open asks every few seconds, and only the newest change.

A minute is read again when its age has doubled: late samples show soon, and old minutes cost nothing. When time runs out, the
newest minutes have been read; the rest waits for the next request.
"""

import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.minute_means import MinuteMeans, read_minute_means
from normstat.samples.lookup import StatRef
from normstat.stats.spec import Field
from normstat.window import Window, from_us

MINUTE_US: Final = 60_000_000
# Agents send every few seconds: a minute that ended less than this ago is read at each request.
SETTLED_US: Final = 30_000_000
# Minutes of one query.
MAX_AT_ONCE: Final = 10


@dataclass(frozen=True, slots=True, eq=False)
class StatRead:
    """A stat to read: its fields, and the hosts and instances."""

    stat: StatRef
    fields: tuple[Field, ...]
    host_ids: tuple[int, ...]
    instance_ids: Sequence[int]

    def make_key(self) -> tuple[object, ...]:
        """Return the key of stored minutes: instances with samples in a minute are always among those asked for."""
        return (self.stat.id, tuple(field.key for field in self.fields), hash(self.host_ids))


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    means: MinuteMeans
    read_at_us: int


class MinuteStore:
    """The minutes of one process, within a number of bytes; those not asked for the longest go first."""

    def __init__(self, max_bytes: int, clock: Callable[[], float]) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._blocks: OrderedDict[tuple[object, ...], _Block] = OrderedDict()
        self.n_bytes = 0

    async def read(
        self, session: AsyncSession, reads: Sequence[StatRead], minutes: range, *, now_us: int, budget_s: float
    ) -> tuple[list[list[MinuteMeans | None]], int]:
        """Return the minutes of each stat, and how many of them were read; the others are None: the budget did not suffice.

        The newest minutes are always read.
        """
        ends_at = self._clock() + budget_s
        keys = [read.make_key() for read in reads]
        stale = [minute for minute in minutes if any(not self._is_fresh(key, minute, now_us) for key in keys)]
        for number, run in enumerate(_runs(stale)):
            if number and self._clock() > ends_at:
                break
            window = Window(from_us(run.start * MINUTE_US), from_us(run.stop * MINUTE_US))
            for read, key in zip(reads, keys, strict=True):
                means = await read_minute_means(
                    session, read.stat, read.fields, host_ids=read.host_ids, instance_ids=read.instance_ids, window=window
                )
                self._put(key, run, means, now_us)
        found = [[self._find((*key, minute)) for minute in minutes] for key in keys]
        n_read = sum(all(own[at] is not None for own in found) for at in range(len(minutes)))
        self._shrink()
        return found, n_read

    def _is_fresh(self, own: tuple[object, ...], minute: int, now_us: int) -> bool:
        block = self._blocks.get((*own, minute))
        if block is None:
            return False
        age_us = block.read_at_us - (minute + 1) * MINUTE_US
        return age_us >= SETTLED_US and now_us - (minute + 1) * MINUTE_US < 2 * age_us

    def _find(self, key: tuple[object, ...]) -> MinuteMeans | None:
        block = self._blocks.get(key)
        if block is None:
            return None
        self._blocks.move_to_end(key)
        return block.means

    def _put(self, own: tuple[object, ...], run: range, means: MinuteMeans, now_us: int) -> None:
        ordered = means.take(np.lexsort((means.instance_id, means.minute)))
        bounds = np.searchsorted(ordered.minute, np.arange(run.start, run.stop + 1)).tolist()
        for minute, (begin, end) in zip(run, itertools.pairwise(bounds), strict=True):
            key = (*own, minute)
            old = self._blocks.pop(key, None)
            self.n_bytes -= 0 if old is None else old.means.n_bytes
            # A copy: a slice would keep the whole run in memory.
            block = _Block(ordered.take(np.arange(begin, end)), now_us)
            self._blocks[key] = block
            self.n_bytes += block.means.n_bytes

    def _shrink(self) -> None:
        while self.n_bytes > self._max_bytes and self._blocks:
            _, gone = self._blocks.popitem(last=False)
            self.n_bytes -= gone.means.n_bytes


def _runs(minutes: Sequence[int]) -> list[range]:
    """Return consecutive minutes as ranges of at most MAX_AT_ONCE, newest first."""
    runs: list[range] = []
    for minute in sorted(minutes, reverse=True):
        if runs and runs[-1].start == minute + 1 and len(runs[-1]) < MAX_AT_ONCE:
            runs[-1] = range(minute, runs[-1].stop)
        else:
            runs.append(range(minute, minute + 1))
    return runs
