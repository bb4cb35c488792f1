"""Means of all instances of a stat at a time, of series that come one by one (the CPUs of node_exporter)."""

from collections.abc import Sequence, Set
from typing import Any, Final, Self

# Times of a stat that wait for some instance before their means are made.
MAX_TOTALS: Final = 100


class OpenTotal:
    """The sums of a time of a stat: by column, with the number of instances that have it. `seen`: those that have come."""

    __slots__ = ("columns", "n_rows", "offset", "seen")

    def __init__(self, seen: set[str], n_rows: int, columns: dict[str, tuple[int, float]], offset: int) -> None:
        self.seen = seen
        self.n_rows = n_rows
        self.columns = columns
        self.offset = offset

    def add(self, instance: str, values: dict[str, str | float], offset: int) -> None:
        """Take the row of an instance; one without values (its first) is no part of the mean."""
        self.seen.add(instance)
        self.offset = offset
        self.n_rows += bool(values)
        for column, value in values.items():
            if isinstance(value, float):
                n, total = self.columns.get(column, (0, 0.0))
                self.columns[column] = n + 1, total + value

    def make_means(self) -> dict[str, str | float]:
        """Return the means of the columns that all rows have."""
        return {column: total / n for column, (n, total) in self.columns.items() if n == self.n_rows}

    def to_state(self) -> list[object]:
        """Return what `of_state` takes."""
        return [self.offset, sorted(self.seen), self.n_rows, {column: list(own) for column, own in self.columns.items()}]

    @classmethod
    def of_state(cls, offset: int, seen: list[str], n_rows: int, columns: dict[str, tuple[int, float]]) -> Self:
        """Return the sums that a stream's state has."""
        return cls(set(seen), n_rows, {column: (n, total) for column, (n, total) in columns.items()}, offset)


class StatTotal:
    """The instances of a stat with a total, and the times that wait for some of them.

    Senders bring one time after the other, or all times of one series before the next series. So a time is complete with those
    instances that had begun by then, and what comes while their number is still unknown has no total: `begin`.
    """

    __slots__ = ("begin", "done", "instance", "members", "newest", "pending")

    def __init__(self, instance: str) -> None:
        self.instance = instance
        # Instances, with the time of their first sample.
        self.members: dict[str, int] = {}
        self.begin = self.done = self.newest = -1
        self.pending: dict[int, OpenTotal] = {}

    def add_member(self, instance: str, tick: int) -> None:
        """Take note of a new instance. One that begins before the newest sample comes after others' later times."""
        self.members[instance] = tick
        if tick < self.newest:
            self.begin = self.newest
            self.pending = {own_tick: row for own_tick, row in self.pending.items() if own_tick > self.begin}

    def find_open(self, tick: int) -> OpenTotal | None:
        """Return the sums of a time. Missing: None where they are done, or were not begun"""
        row = self.pending.get(tick)
        if row is None and tick > max(self.done, self.begin):
            row = self.pending[tick] = OpenTotal(set(), 0, {}, 0)
            if len(self.pending) > MAX_TOTALS:
                del self.pending[min(self.pending)]
        return row

    def is_complete(self, tick: int, *, is_end: bool) -> bool:
        """Return whether all instances have come. A single one may be the first of many, up to the end of a request."""
        n_begun = sum(first <= tick for first in self.members.values())
        return len(self.pending[tick].seen) >= n_begun and (n_begun > 1 or is_end)

    def to_state(self) -> list[object]:
        """Return what `load` takes."""
        waiting = [[tick, *row.to_state()] for tick, row in self.pending.items()]
        return [self.members, self.begin, self.done, self.newest, waiting]

    def load(self, state: Sequence[Any], known: Set[str]) -> None:
        """Restore the state; `known`: the instances that are not forgotten."""
        members, self.begin, self.done, self.newest, waiting = state
        self.members = {name: first for name, first in members.items() if name in known}
        self.pending = {tick: OpenTotal.of_state(*row) for tick, *row in waiting}
