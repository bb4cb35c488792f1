"""Events of hosts in a window: reboots and changes of facts, artefacts, changes of normal, and what people, scripts, agents and
imports noted.

The only way to read events, whatever their source: `read_events` for hosts and a window, `search_events` for lists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.models import Host
from normstat.errors import BadRequest
from normstat.query.artefact_times import MAX_ARTEFACTS, ArtefactTime, read_artefact_times
from normstat.query.fact_history import order_of, read_snapshots, to_instant
from normstat.records import event_rows
from normstat.records.change_verdict_rows import EventVerdict, read_fact_verdicts
from normstat.records.event_rows import EventFilter, EventRecord, EventSource
from normstat.records.normal_change_rows import NormalChange, list_normal_changes
from normstat.runtime.field_docs import Documented
from normstat.samples import lookup
from normstat.stats.fact_lines import BOOT_ID, BOOT_TIME, FactDifference, FactName, FactSnapshot, find_differences, sort_snapshots
from normstat.stats.fact_words import DERIVED_KINDS, EventKind, describe_change, find_kind
from normstat.stats.observer_effect import Effect, describe_effect
from normstat.window import Window

MAX_EVENTS: Final = 1000
# Facts are read from the raw output of each host.
MAX_HOSTS_WITH_FACTS: Final = 20
# Digits of a time in seconds since the epoch, until the year 2286.
MAX_DIGITS: Final = 10
MAX_MADE_TEXT: Final = 300
# They change by a boot and in no other way.
BOOT_KEYS: Final = {"kernel_release", "kernel_version", "kernel_parameters", "kernel_isa"}


@dataclass(frozen=True, slots=True)
class HostEvent(Documented):
    """Something that happened to a host, or was done to it."""

    at: datetime
    """When it happened or began; if `not_before` is given, when it was seen. By the host's clock."""

    not_before: datetime | None
    """The earliest time at which it may have happened; null if `at` is exact."""

    kind: EventKind
    text: str
    end: datetime | None
    """When it ended; null for a moment."""

    tags: list[str]
    hosts: list[str] | None
    """The names of its hosts; null for all hosts."""

    source: EventSource
    """user, api, cli: noted by a person or a script; agent, import: read from what a host recorded; facts, artefact, samples:
    derived from the host's facts, from its artefacts, and from months of its samples."""

    author: str
    """The account, or the token's name; empty without an author."""

    id: int | None
    """Null for events that are derived: they can neither be changed nor deleted."""

    artefact: int | None = None
    """The artefact that it is derived from."""

    effect: Effect | None = None
    """none, light or heavy: how much the tool of that artefact disturbed the host; null for other events."""

    verdict: EventVerdict | None = None
    """Whether the host got better or worse after a deployment, a setting, a reboot or a change of facts; null for other events,
    and until it is judged."""


@dataclass(frozen=True, slots=True)
class HostEvents(Documented):
    """The events of a host in a window."""

    events: list[HostEvent]
    """Oldest first; of too many, the latest."""

    n_left_out: int
    """Earlier events of the window that are not listed."""

    known_since: datetime | None
    """The first report of facts that was read: changes before it are unknown; null without any."""


@dataclass(frozen=True, slots=True)
class EventPage(Documented):
    """A page of a list of events."""

    events: list[HostEvent]
    """Newest first."""

    n_total: int
    """Of all pages."""

    has_facts: bool
    """Whether reboots and changed facts are among them: only if the list is of some hosts."""


async def read_host_events(session: AsyncSession, host: str, window: Window) -> HostEvents:
    """Return the events of a host in a window.

    Raises: NotFound
    """
    host_id = await lookup.require_host(session, host)
    snapshots = await read_snapshots(session, host_id)
    derived = [event for event in find_events(snapshots, host) if window.start <= event.at < window.end]
    derived = await _with_verdicts(session, [host_id], derived)
    records, n_stored = await event_rows.list_events(
        session, EventFilter(hosts=(host_id,), start=window.start, end=window.end), limit=MAX_EVENTS
    )
    made = await _read_made(session, [host_id], window)
    events = sorted([*derived, *map(to_host_event, reversed(records)), *made], key=lambda event: event.at)[-MAX_EVENTS:]
    left_out = len(derived) + len(made) + n_stored - len(events)
    return HostEvents(events, left_out, to_instant(snapshots[0].time_s) if snapshots else None)


async def read_events(session: AsyncSession, host_ids: Sequence[int], window: Window) -> list[HostEvent]:
    """Return the events of hosts in a window, oldest first: of each of them, and of all hosts. Of too many, the latest."""
    records, _ = await event_rows.list_events(
        session, EventFilter(hosts=tuple(host_ids), start=window.start, end=window.end), limit=MAX_EVENTS
    )
    derived = [event for event in await _read_derived(session, host_ids) if window.start <= event.at < window.end]
    made = await _read_made(session, host_ids, window)
    return sorted([*derived, *map(to_host_event, reversed(records)), *made], key=lambda event: event.at)[-MAX_EVENTS:]


async def read_events_by_name(session: AsyncSession, hosts: Sequence[str], window: Window) -> list[HostEvent]:
    """Return what `read_events` does, of those of the hosts that are still there."""
    return await read_events(session, (await session.scalars(select(Host.id).where(Host.name.in_(hosts)))).all(), window)


async def search_events(
    session: AsyncSession, hosts: Sequence[str], wanted: EventFilter, *, limit: int, offset: int
) -> EventPage:  # fmt: skip
    """Return a page of the events that a filter asks for; for named hosts with what is derived from their facts.

    Raises: NotFound for an unknown host; BadRequest for too many hosts
    """
    if not hosts:
        made = await _search_made(session, None, wanted)
        if not made:
            records, n_total = await event_rows.list_events(session, wanted, limit=limit, offset=offset)
            return EventPage([*map(to_host_event, records)], n_total, has_facts=False)
        records, n_stored = await event_rows.list_events(session, wanted, limit=offset + limit)
        newest = sorted([*map(to_host_event, records), *reversed(made)], key=lambda event: event.at, reverse=True)
        return EventPage(newest[offset : offset + limit], n_stored + len(made), has_facts=False)
    if len(hosts) > MAX_HOSTS_WITH_FACTS:
        raise BadRequest(f"{len(hosts)} hosts are too many; name up to {MAX_HOSTS_WITH_FACTS}, or none for all")
    ids = [await lookup.require_host(session, host) for host in hosts]
    wanted = EventFilter(tuple(ids), wanted.start, wanted.end, wanted.kinds, wanted.tags, wanted.words)
    derived = [event for event in await _read_derived(session, ids) if wanted.holds(to_record(EventRecord, event, id=0))]
    derived = sorted([*derived, *await _search_made(session, ids, wanted)], key=lambda event: event.at)
    records, n_stored = await event_rows.list_events(session, wanted, limit=offset + limit)
    # Stable: events of one moment keep their order from page to page.
    newest = sorted([*map(to_host_event, records), *reversed(derived)], key=lambda event: event.at, reverse=True)
    return EventPage(newest[offset : offset + limit], n_stored + len(derived), has_facts=True)


async def _read_made(session: AsyncSession, host_ids: Sequence[int], window: Window) -> list[HostEvent]:
    """Return the artefacts of hosts that overlap a window, and their changes of normal in it, as events, oldest first."""
    made = await read_artefact_times(session, host_ids, start=window.start, end=window.end, limit=MAX_EVENTS)
    moved = await list_normal_changes(session, host_ids=host_ids, start=window.start, end=window.end)
    return sorted([*map(_to_made, made), *map(_to_moved, moved)], key=lambda event: event.at)


async def _search_made(session: AsyncSession, host_ids: Sequence[int] | None, wanted: EventFilter) -> list[HostEvent]:
    """Return the artefacts and changes of normal of hosts (None: of all) that a filter asks for, as events, oldest first."""
    if wanted.tags or (wanted.kinds and not DERIVED_KINDS & set(wanted.kinds)):
        return []
    times = await read_artefact_times(session, host_ids, start=wanted.start, end=wanted.end, limit=MAX_ARTEFACTS)
    moved = await list_normal_changes(session, host_ids=host_ids, start=wanted.start, end=wanted.end)
    made = sorted([*map(_to_made, times), *map(_to_moved, moved)], key=lambda event: event.at)
    return [event for event in made if wanted.holds(to_record(EventRecord, event, id=0))]


def _to_moved(change: NormalChange) -> HostEvent:
    """Return a change of normal as an event."""
    text = f"Normal changed: {change.sentence}"
    return HostEvent(change.at, None, EventKind.NORMAL, text, None, [], [change.host], EventSource.SAMPLES, "", None)


def _to_made(time: ArtefactTime) -> HostEvent:
    """Return an artefact as an event: a tracer if its tool disturbed the host."""
    what = next(filter(None, (time.title, time.question, time.command, time.file_name)), "")
    text = ": ".join(filter(None, (time.tool or "artefact", " ".join(what.split())[:MAX_MADE_TEXT])))
    is_tracer = time.effect is not Effect.NONE
    return HostEvent(
        at=time.start,
        not_before=None,
        kind=EventKind.TRACER if is_tracer else EventKind.ARTEFACT,
        text=f"{text} (it {describe_effect(time.tool, time.effect)})" if is_tracer else text,
        end=time.end if time.end > time.start else None,
        tags=[],
        hosts=[time.host],
        source=EventSource.ARTEFACT,
        author=time.author,
        id=None,
        artefact=time.id,
        effect=time.effect,
    )


async def _read_derived(session: AsyncSession, host_ids: Sequence[int]) -> list[HostEvent]:
    """Return the events derived from the facts of hosts, oldest first."""
    rows = await session.execute(select(Host.id, Host.name).where(Host.id.in_(host_ids)))
    found: list[HostEvent] = []
    for host_id, name in rows.all():
        found += find_events(await read_snapshots(session, host_id), name)
    return sorted(await _with_verdicts(session, host_ids, found), key=lambda event: event.at)


async def _with_verdicts(session: AsyncSession, host_ids: Sequence[int], events: Sequence[HostEvent]) -> list[HostEvent]:
    """Return the events derived from facts with their verdicts: facts that changed at one moment share one."""
    verdicts = await read_fact_verdicts(session, host_ids)
    if not verdicts:
        return list(events)
    return [replace(event, verdict=verdicts.get(((event.hosts or [""])[0], event.at))) for event in events]


def find_events(snapshots: Sequence[FactSnapshot], host: str) -> list[HostEvent]:
    """Return the events of a host's snapshots in any order, oldest first. The boot before the first snapshot is one of them."""
    ordered = sort_snapshots(snapshots)
    events = list(_find_first_boot(ordered, host))
    differences = find_differences(ordered)
    boots = {each.after_s: each.after for each in differences if each.name.key == BOOT_TIME and each.before is not None}
    for each in sorted(differences, key=lambda each: (each.after_s, order_of(each.name))):
        if each.name.key == BOOT_ID:
            continue
        boot = _to_boot(boots.get(each.after_s))
        if boot is not None and (each.name.key in BOOT_KEYS or each.name.key == BOOT_TIME):
            events.append(_to_event(each, boot, None, host))
        elif each.name.key != BOOT_TIME:
            events.append(_to_event(each, to_instant(each.after_s), to_instant(each.before_s), host))
    # Stable: events of one moment keep the order of the facts.
    return sorted(events, key=lambda event: event.at)


def to_host_event(record: EventRecord) -> HostEvent:
    """Return a stored event."""
    return to_record(HostEvent, record, artefact=None, effect=None)


def _find_first_boot(ordered: Sequence[FactSnapshot], host: str) -> Iterator[HostEvent]:
    boot = _to_boot(ordered[0].facts.get(FactName(BOOT_TIME))) if ordered else None
    if boot is not None:
        yield _derive(boot, None, EventKind.REBOOT, "Booted", host)


def _to_boot(value: str | None) -> datetime | None:
    """Return the time of a boot. Missing: None if the value is not a time."""
    if value is None or not value.isdecimal() or len(value) > MAX_DIGITS:
        return None
    return to_instant(int(value))


def _to_event(each: FactDifference, at: datetime, not_before: datetime | None, host: str) -> HostEvent:
    return _derive(at, not_before, find_kind(each.name.key), describe_change(each.name, each.before, each.after), host)


def _derive(at: datetime, not_before: datetime | None, kind: EventKind, text: str, host: str) -> HostEvent:
    return HostEvent(at, not_before, kind, text, None, [], [host], EventSource.FACTS, "", None)
