"""The text of host facts: the machine, not its load. An agent prints it when it starts and when a fact changes.

    1795305600
    os<TAB>Debian GNU/Linux 12 (bookworm)
    cpus<TAB>2
    mount /home<TAB>/dev/vdb1 ext4

A snapshot begins with its time and holds all facts of that moment. A fact is a key, a tab and a value. A key of several things has
the name of the thing after a blank ("mount /home").
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from normstat.stats.engine.times.timestamps import Timestamp, parse_timestamp

# The kernel computes the time of the boot from its clock, so that it moves by a second now and then; a boot takes longer than this.
# The boot id distinguishes boots reliably, where the system has one.
BOOT_TIME: Final = "boot_time"
BOOT_ID: Final = "boot_id"
BOOT_TOLERANCE_S: Final = 60
AGENT: Final = "agent"
TIME_ZONE: Final = "time_zone"
FACT: Final = re.compile(r"(?P<key>[a-z][a-z0-9_]{0,40})(?: (?P<item>[^\t]{1,300}))?\t(?P<value>[^\t]{0,1000})")


@dataclass(frozen=True, slots=True, order=True)
class FactName:
    """The subject of a fact. `item` is the name of the thing, "" where a host has one of the kind."""

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
    """Return the fact in a line. Missing: None when the line is not a fact.

    >>> parse_fact("mount /home\\t/dev/vdb1 ext4")
    Fact(name=FactName(key='mount', item='/home'), value='/dev/vdb1 ext4')
    >>> parse_fact("no tab")
    """
    found = FACT.fullmatch(text)
    if found is None:
        return None
    return Fact(FactName(found["key"], (found["item"] or "").strip()), found["value"].strip())


def parse_snapshots(lines: Iterable[str]) -> Iterator[FactSnapshot]:
    """Yield the snapshots of a stream. Lines that are neither a time nor a fact, and facts before the first time, are left out.

    Snapshots with the same lines share one dictionary: hours without a change cost little.
    """
    known: dict[tuple[str, ...], dict[FactName, str]] = {}
    time_s: float | None = None
    body: list[str] = []
    for line in lines:
        # Every fact has a tab, and no time has one.
        if "\t" in line:
            body.append(line)
            continue
        stamp = parse_timestamp(line)
        if stamp is None or stamp.is_clock_only:
            continue
        if time_s is not None:
            yield FactSnapshot(time_s, _parse_body(known, tuple(body)))
        time_s, body = _to_epoch(stamp), []
    if time_s is not None:
        yield FactSnapshot(time_s, _parse_body(known, tuple(body)))


def _parse_body(known: dict[tuple[str, ...], dict[FactName, str]], body: tuple[str, ...]) -> dict[FactName, str]:
    if body not in known:
        facts: dict[FactName, str] = {}
        for fact in (parse_fact(line) for line in body):
            if fact is not None:
                before = facts.get(fact.name)
                facts[fact.name] = fact.value if before is None else f"{before}; {fact.value}"
        known[body] = facts
    return known[body]


def find_spans(snapshots: Iterable[FactSnapshot]) -> list[FactSpan]:
    """Return the values of all facts with their times, by name and time. A snapshot without facts is skipped.

    >>> cpus = FactName("cpus")
    >>> spans = find_spans([FactSnapshot(100, {cpus: "2"}), FactSnapshot(200, {cpus: "2"}), FactSnapshot(300, {cpus: "4"})])
    >>> [(span.value, span.since_s, span.until_s) for span in spans]
    [('2', 100, 300), ('4', 300, None)]
    """
    ended: list[FactSpan] = []
    current: dict[FactName, tuple[str, float]] = {}
    last: dict[FactName, str] = {}
    for snapshot in sort_snapshots(snapshots):
        if snapshot.facts == last:
            continue
        for name, (value, since_s) in list(current.items()):
            if not _is_same(name, last, snapshot.facts):
                ended.append(FactSpan(name, value, since_s, snapshot.time_s))
                del current[name]
        for name, value in snapshot.facts.items():
            current.setdefault(name, (value, snapshot.time_s))
        last = snapshot.facts
    spans = ended + [FactSpan(name, value, since_s, None) for name, (value, since_s) in current.items()]
    return sorted(spans, key=lambda span: (span.name, span.since_s))


def sort_snapshots(snapshots: Iterable[FactSnapshot]) -> list[FactSnapshot]:
    """Return the snapshots that have facts, by time."""
    return sorted((each for each in snapshots if each.facts), key=lambda each: each.time_s)


@dataclass(frozen=True, slots=True)
class FactDifference:
    """A fact that differs between two consecutive snapshots. None: the snapshot lacks it.

    Units: seconds since the epoch.
    """

    name: FactName
    before: str | None
    after: str | None
    before_s: float
    after_s: float


def find_differences(snapshots: Iterable[FactSnapshot]) -> list[FactDifference]:
    """Return what changed, by time and name. What another agent reports for the first time, or no longer, is no change.

    >>> cpus = FactName("cpus")
    >>> [(each.before, each.after) for each in find_differences([FactSnapshot(1, {cpus: "2"}), FactSnapshot(2, {cpus: "4"})])]
    [('2', '4')]
    """
    found: list[FactDifference] = []
    ordered = sort_snapshots(snapshots)
    for one, other in pairwise(ordered):
        before, after = one.facts, other.facts
        if before == after:
            continue
        is_new_agent = before.get(FactName(AGENT)) != after.get(FactName(AGENT))
        keys_before, keys_after = {name.key for name in before}, {name.key for name in after}
        for name in sorted(before.keys() | after.keys()):
            if name in before and name in after:
                if not _is_same(name, before, after):
                    found.append(FactDifference(name, before[name], after[name], one.time_s, other.time_s))
            elif not (is_new_agent and (name.key not in keys_before or name.key not in keys_after)):
                found.append(FactDifference(name, before.get(name), after.get(name), one.time_s, other.time_s))
    return found


def _is_same(name: FactName, before: Mapping[FactName, str], after: Mapping[FactName, str]) -> bool:
    old, new = before.get(name), after.get(name)
    if name.key != BOOT_TIME or old is None or new is None:
        return old == new
    boots = before.get(FactName(BOOT_ID)), after.get(FactName(BOOT_ID))
    if None not in boots:
        return boots[0] == boots[1]
    return old == new or (old.isdecimal() and new.isdecimal() and abs(int(old) - int(new)) <= BOOT_TOLERANCE_S)


def _to_epoch(stamp: Timestamp) -> float:
    return stamp.seconds - (stamp.offset_s or 0)
