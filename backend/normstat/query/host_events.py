"""Events of a host in a window: reboots and changes of its facts. Graphs mark them.

An event is a moment, a kind and a text, wherever it comes from.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.field_docs import Documented
from normstat.query.fact_history import order_of, read_snapshots, to_instant
from normstat.stats.fact_lines import BOOT_ID, BOOT_TIME, FactDifference, FactName, FactSnapshot, find_differences, sort_snapshots
from normstat.stats.fact_words import EventKind, describe_change, find_kind
from normstat.storage import lookup
from normstat.window import Window

MAX_EVENTS: Final = 1000
# Of a time in seconds since the epoch, until the year 2286.
MAX_DIGITS: Final = 10
# They change by a boot and in no other way.
BOOT_KEYS: Final = {"kernel_release", "kernel_version", "kernel_parameters", "kernel_isa"}


@dataclass(frozen=True, slots=True)
class HostEvent(Documented):
    """Something that happened to a host, or was done to it."""

    at: datetime
    """When it happened; if `not_before` is given, when it was seen. By the host's clock."""

    not_before: datetime | None
    """The earliest time at which it may have happened; null if `at` is exact."""

    kind: EventKind
    text: str


@dataclass(frozen=True, slots=True)
class HostEvents(Documented):
    """The events of a host in a window."""

    events: list[HostEvent]
    """Oldest first; of too many, the latest."""

    n_left_out: int
    """Earlier events of the window that are not listed."""

    known_since: datetime | None
    """The first report of facts that was read: changes before it are unknown; null without any."""


async def read_host_events(session: AsyncSession, host: str, window: Window) -> HostEvents:
    """Return the events of a host in a window.

    Raises: NotFound
    """
    snapshots = await read_snapshots(session, await lookup.require_host(session, host))
    events = [event for event in find_events(snapshots) if window.start <= event.at < window.end]
    left_out = max(0, len(events) - MAX_EVENTS)
    return HostEvents(events[left_out:], left_out, to_instant(snapshots[0].time_s) if snapshots else None)


def find_events(snapshots: Sequence[FactSnapshot]) -> list[HostEvent]:
    """Return the events of snapshots in any order, oldest first. The boot before the first snapshot is one of them."""
    ordered = sort_snapshots(snapshots)
    events = list(_find_first_boot(ordered))
    differences = find_differences(ordered)
    boots = {each.after_s: each.after for each in differences if each.name.key == BOOT_TIME and each.before is not None}
    for each in sorted(differences, key=lambda each: (each.after_s, order_of(each.name))):
        if each.name.key == BOOT_ID:
            continue
        boot = _to_boot(boots.get(each.after_s))
        if boot is not None and (each.name.key in BOOT_KEYS or each.name.key == BOOT_TIME):
            events.append(_to_event(each, boot, None))
        elif each.name.key != BOOT_TIME:
            events.append(_to_event(each, to_instant(each.after_s), to_instant(each.before_s)))
    # Stable: what has one moment stays in the order of the facts.
    return sorted(events, key=lambda event: event.at)


def _find_first_boot(ordered: Sequence[FactSnapshot]) -> Iterator[HostEvent]:
    boot = _to_boot(ordered[0].facts.get(FactName(BOOT_TIME))) if ordered else None
    if boot is not None:
        yield HostEvent(boot, None, EventKind.REBOOT, "Booted")


def _to_boot(value: str | None) -> datetime | None:
    """Return the time of a boot. Missing: None if the value is no time."""
    if value is None or not value.isdecimal() or len(value) > MAX_DIGITS:
        return None
    return to_instant(int(value))


def _to_event(each: FactDifference, at: datetime, not_before: datetime | None) -> HostEvent:
    return HostEvent(at, not_before, find_kind(each.name.key), describe_change(each.name, each.before, each.after))
