"""The text of host facts: what a machine is, rather than what it does. An agent prints it when it starts and when a fact changes.

    1795305600
    os<TAB>Debian GNU/Linux 12 (bookworm)
    cpus<TAB>2
    mount /home<TAB>/dev/vdb1 ext4

A snapshot begins with its time and holds all facts of that moment. A fact is a key, a tab and a value. A key of several things has
the name of the thing after a blank ("mount /home").
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from normstat.stats.engine.timestamps import Timestamp, parse_timestamp

# The kernel computes the time of the boot from its clock, so that it moves by a second now and then; a boot takes longer than this.
BOOT_TIME: Final = "boot_time"
BOOT_TOLERANCE_S: Final = 60
FACT: Final = re.compile(r"(?P<key>[a-z][a-z0-9_]{0,40})(?: (?P<item>[^\t]{1,300}))?\t(?P<value>[^\t]{0,1000})")


@dataclass(frozen=True, slots=True, order=True)
class FactName:
    """What a fact is about. `item` is the name of the thing, "" where a host has one of the kind."""

    key: str
    item: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a snapshot."""

    name: FactName
    value: str


@dataclass(slots=True)
class FactSnapshot:
    """All facts of a host at one moment. Units: seconds since the epoch."""

    time_s: float
    facts: dict[FactName, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactSpan:
    """A value that a fact had. `until_s` is when another value, or the fact's absence, was seen; None while it is current.

    Units: seconds since the epoch.
    """

    name: FactName
    value: str
    since_s: float
    until_s: float | None


def parse_fact(text: str) -> Fact | None:
    """Return the fact of a line. Missing: None when the line is none.

    >>> parse_fact("mount /home\\t/dev/vdb1 ext4")
    Fact(name=FactName(key='mount', item='/home'), value='/dev/vdb1 ext4')
    >>> parse_fact("no tab")
    """
    found = FACT.fullmatch(text)
    if found is None:
        return None
    return Fact(FactName(found["key"], (found["item"] or "").strip()), found["value"].strip())


def parse_snapshots(lines: Iterable[str]) -> Iterator[FactSnapshot]:
    """Yield the snapshots of a stream. Lines that are neither a time nor a fact, and facts before the first time, are left out."""
    snapshot: FactSnapshot | None = None
    for line in lines:
        fact = parse_fact(line)
        if fact is None:
            stamp = parse_timestamp(line)
            if stamp is None or stamp.is_clock_only:
                continue
            if snapshot is not None:
                yield snapshot
            snapshot = FactSnapshot(_to_epoch(stamp))
        elif snapshot is not None:
            before = snapshot.facts.get(fact.name)
            snapshot.facts[fact.name] = fact.value if before is None else f"{before}; {fact.value}"
    if snapshot is not None:
        yield snapshot


def find_spans(snapshots: Iterable[FactSnapshot]) -> list[FactSpan]:
    """Return the values of all facts with their times, by name and time. A snapshot without facts says nothing.

    >>> cpus = FactName("cpus")
    >>> spans = find_spans([FactSnapshot(100, {cpus: "2"}), FactSnapshot(200, {cpus: "2"}), FactSnapshot(300, {cpus: "4"})])
    >>> [(span.value, span.since_s, span.until_s) for span in spans]
    [('2', 100, 300), ('4', 300, None)]
    """
    ended: list[FactSpan] = []
    current: dict[FactName, tuple[str, float]] = {}
    for snapshot in sorted((each for each in snapshots if each.facts), key=lambda each: each.time_s):
        for name, (value, since_s) in list(current.items()):
            if not _is_same(name, value, snapshot.facts.get(name)):
                ended.append(FactSpan(name, value, since_s, snapshot.time_s))
                del current[name]
        for name, value in snapshot.facts.items():
            current.setdefault(name, (value, snapshot.time_s))
    spans = ended + [FactSpan(name, value, since_s, None) for name, (value, since_s) in current.items()]
    return sorted(spans, key=lambda span: (span.name, span.since_s))


def _is_same(name: FactName, before: str, after: str | None) -> bool:
    if name.key == BOOT_TIME and after is not None and before.isdecimal() and after.isdecimal():
        return abs(int(before) - int(after)) <= BOOT_TOLERANCE_S
    return before == after


def _to_epoch(stamp: Timestamp) -> float:
    return stamp.seconds - (stamp.offset_s or 0)
