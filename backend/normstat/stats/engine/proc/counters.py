"""Counters of the kernel between two snapshots: how much they grew, and over how long.

A counter starts at 0 when its thing appears (the host boots, a disk is plugged in, a process starts). Some have 32 bits and start
over at 2**32. A counter that went back for another reason says nothing about its interval: the growth is missing, not 0.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from normstat.stats.engine.outcome import Rejected

WRAP: Final = 1 << 32
# A counter wrapped if it was in the last quarter of 32 bits and is in the first one: so it grew by less than half.
NEAR: Final = 1 << 30
# A kernel has no more CPUs, disks, interfaces or processes than this (PID_MAX_LIMIT is 2**22, more than fit in a snapshot).
MAX_THINGS: Final = 65_536
TWICE: Final = Rejected("appears twice in one snapshot")
TOO_MANY: Final = Rejected(f"more than {MAX_THINGS} lines of one kind in a snapshot")
# A state that is shorter as JSON is not packed.
MIN_PACKED: Final = 1000
# Level 6 takes four times as long for a tenth less.
LEVEL: Final = 1


class Growth(NamedTuple):
    """How much the counters of one thing grew. Units: `centiseconds` of the kernel's own clock, each above 0."""

    centiseconds: int
    counters: Sequence[int]


def grown(new: int, old: int) -> int | None:
    """Return how much a counter grew. Missing: None when it went back without a wrap at 32 bits.

    >>> grown(7, 5), grown(3, 2**32 - 1), grown(3, 5), grown(3, 2**40)
    (2, 4, None, None)
    """
    if new >= old:
        return new - old
    return new - old + WRAP if WRAP - NEAR <= old < WRAP and new < NEAR else None


def per_second(counted: float, centiseconds: int) -> float:
    """Return the rate.

    >>> per_second(3, 101)
    2.9702970297029703
    """
    return counted * 100 / centiseconds


class CounterTable:
    """The latest counters of the things of one file, by name: the uptime of their snapshot, their numbers as text and as numbers.

    Only the text is kept between requests; the numbers are None until they are needed.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, str, Sequence[int] | None]] = {}

    def update(self, name: str, now: int, text: str, numbers: Sequence[int] | None = None) -> Growth | Rejected | None:
        """Take the counters of a thing. Return their growth since the thing was last seen; `text` holds all of them.

        Units: `now` is the uptime in centiseconds.
        Missing: None for a thing that was not seen before, and where a counter went back: none of them is believed then.
        """
        old = self.entries.get(name)
        if old is None:
            if len(self.entries) >= MAX_THINGS:
                return TOO_MANY
            self.entries[name] = (now, text, numbers)
            return None
        if old[0] == now:
            return TWICE
        if numbers is None:
            numbers = [int(word) for word in text.split(" ")]
        self.entries[name] = (now, text, numbers)
        before = old[2]
        if before is None:
            before = [int(word) for word in old[1].split(" ")]
        if len(before) != len(numbers):
            return None
        counters = [new - then for new, then in zip(numbers, before, strict=True)]
        if counters and min(counters) < 0:
            wrapped = [grown(new, then) for new, then in zip(numbers, before, strict=True)]
            counters = [growth for growth in wrapped if growth is not None]
            if len(counters) != len(wrapped):
                return None
        return Growth(now - old[0], counters)

    def count(self, name: str, now: int, word: str) -> tuple[int, int | None] | Rejected | None:
        """Take a thing with one counter. Return over how long it grew, and how much: `update` for the many lines of this form.

        Missing: None for a thing that was not seen before; without growth where the counter went back.
        """
        old = self.entries.get(name)
        if old is None or old[0] == now:
            found = self.update(name, now, word)
            return found if isinstance(found, Rejected) else None
        self.entries[name] = (now, word, None)
        return now - old[0], 0 if word == old[1] else grown(int(word), int(old[1]))

    def previous(self, name: str) -> Sequence[int] | None:
        """Return the latest counters of a thing. Missing: None when it is unknown."""
        old = self.entries.get(name)
        if old is None:
            return None
        return [int(word) for word in old[1].split(" ")] if old[2] is None else old[2]

    def forget_unseen(self, now: int) -> None:
        """Drop what the snapshot of this uptime did not have: it is gone, and may come back with other counters."""
        if any(entry[0] != now for entry in self.entries.values()):
            self.entries = {name: entry for name, entry in self.entries.items() if entry[0] == now}

    def to_state(self) -> dict[str, str]:
        """Return the table as JSON values: for each uptime, lines of a name and its counters."""
        return to_lines((name, now, text) for name, (now, text, _) in self.entries.items())

    @classmethod
    def from_state(cls, state: object) -> "CounterTable":
        """Return what `to_state` gave."""
        table = cls()
        table.entries = {name: (now, text, None) for name, now, text in from_lines(state)}
        return table


def to_lines(things: Iterable[tuple[str, int, str]]) -> dict[str, str]:
    """Return things of a name, an uptime and a text as JSON values: the lines of each uptime.

    >>> to_lines([("sdb", 100, "7 8"), ("sda", 100, "5 6")])
    {'100': 'sda 5 6\\nsdb 7 8'}
    """
    lines: dict[int, list[str]] = {}
    for name, now, text in things:
        lines.setdefault(now, []).append(f"{name} {text}")
    return {str(now): "\n".join(sorted(lines[now])) for now in sorted(lines)}


def from_lines(state: object) -> Iterator[tuple[str, int, str]]:
    """Yield what `to_lines` was given."""
    for now, lines in state.items() if isinstance(state, dict) else ():
        for line in str(lines).split("\n"):
            name, _, text = line.partition(" ")
            yield name, int(now), text


def pack_state(state: dict[str, object]) -> dict[str, object]:
    """Return a state in fewer bytes, for unpack_state: it is written to the database with every request of the agent."""
    # In one order, however the state came about: states are compared.
    text = json.dumps(state, separators=(",", ":"), sort_keys=True)
    if len(text) < MIN_PACKED:
        return state
    return {"zlib": base64.b64encode(zlib.compress(text.encode(), LEVEL)).decode()}


def unpack_state(packed: dict[str, object]) -> dict[str, object]:
    """Return the state that pack_state was given."""
    text = packed.get("zlib")
    if not isinstance(text, str):
        return packed
    state: dict[str, object] = json.loads(zlib.decompress(base64.b64decode(text)))
    return state
