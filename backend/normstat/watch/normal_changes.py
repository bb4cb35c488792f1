"""When normal changed on hosts: a search each night over the hours of a year, and its results.

    search_normal_changes   the nightly task: for each host in turn, reads the hours of its series, finds their steps
                            (scoring/normal_steps.py), makes those of about one day one change and stores it
    read_normal_changes     the changes of a host with the events before each of them

A stored change is an event of its host (query/host_events.py), so graphs mark it and lists show it. The first search of a host
reads two years. Later ones leave alone what is older than what they read.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

import anyio.to_thread
import numpy as np
import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines.rolling_baseline import usable_zone
from normstat.comparison.findings.wording import name_series
from normstat.comparison.related_series import list_moving_fields, without_summarised
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Turns
from normstat.query.host_events import HostEvent, read_events
from normstat.query.host_steps import read_step_means
from normstat.query.host_zones import read_host_zones
from normstat.query.step_reduction import StepGrid
from normstat.records.normal_change_rows import (
    MAX_SERIES,
    ChangedSeries,
    NormalChange,
    list_hosts_to_search,
    list_normal_changes,
    read_normal_until,
    replace_normal_changes,
)
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import count_of, format_human, format_percent, format_seconds
from normstat.samples.lookup import InstanceRef, StatRef, list_host_stats, list_latest_instances, require_host
from normstat.samples.rollups.rollup_rows import HOUR_US, Place
from normstat.scoring.normal_steps import DAYS, HOURS_A_DAY, NormalStep, StepKind, find_normal_steps, group_steps
from normstat.scoring.summary import Float32Array, IntArray
from normstat.stats.engine.times.timeline import require_zone
from normstat.stats.fact_words import EventKind
from normstat.stats.spec import Field
from normstat.window import EPOCH, Window, from_us

log = structlog.get_logger()

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
# A year says how far two weeks of a series usually are from the two before them.
HISTORY: Final = timedelta(days=365)
FIRST_HISTORY: Final = timedelta(days=731)
# Instances of a stat that are looked at, those with the latest samples; each has been there for a week before and after a change.
MAX_INSTANCES: Final = 300
MIN_LIFE: Final = timedelta(days=2 * DAYS.least)
# Values that are in memory at once.
MAX_CELLS: Final = 2_000_000
# Events this long before a change are named with it, and as long after it as a new day begins after what changed it.
EVENTS_BEFORE: Final = timedelta(days=2)
EVENTS_AFTER: Final = timedelta(hours=3)
MAX_EVENTS: Final = 5
# What hosts report all the time is no reason for a change.
SILENT_KINDS: Final = frozenset({
    EventKind.NORMAL, EventKind.ARTEFACT, EventKind.TRACER, EventKind.LOG, EventKind.CLOCK, EventKind.TOOL, EventKind.LOSS,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class NearEvent(Documented):
    """An event shortly before a change of normal."""

    event: HostEvent
    sentence: str
    """With its distance from the change: `3 h before: Kernel: 6.1.0-30 → 6.1.0-31`."""


@dataclass(frozen=True, slots=True)
class ChangeOfNormal(Documented):
    """Normal changed on a host: from then on series differ from the weeks before."""

    at: datetime
    """To the hour where a level changed, else to the day."""

    n_series: int
    """Series that changed within a day of it."""

    n_compared: int
    """Series with enough days before and after it, or elsewhere."""

    sentence: str
    series: list[ChangedSeries]
    """The surest first; at most 50."""

    events: list[NearEvent]
    """What happened within two days before it, the nearest first; at most 5."""


@dataclass(frozen=True, slots=True)
class ChangesOfNormal(Documented):
    """When normal changed on a host."""

    host: str
    searched_until: datetime | None
    """Changes need a week after them, so the last week before this is open. Null: not searched yet."""

    changes: list[ChangeOfNormal]
    """Newest first."""


async def read_normal_changes(
    session: AsyncSession, host: str, *, start: datetime | None = None, end: datetime | None = None
) -> ChangesOfNormal:
    """Return when normal changed on a host, from `start` on and before `end`, with the events before each change.

    Raises: NotFound for an unknown host
    """
    host_id = await require_host(session, host)
    found = await list_normal_changes(session, host_ids=[host_id], start=start, end=end)
    changes = [
        ChangeOfNormal(
            own.at,
            own.n_series,
            own.n_compared,
            own.sentence,
            own.series,
            _near(own.at, await read_events(session, [host_id], Window(own.at - EVENTS_BEFORE, own.at + EVENTS_AFTER))),
        )
        for own in reversed(found)
    ]
    return ChangesOfNormal(host, await read_normal_until(session, host_id), changes)


def _near(at: datetime, events: Sequence[HostEvent]) -> list[NearEvent]:
    told = [event for event in events if event.kind not in SILENT_KINDS]
    told.sort(key=lambda event: abs(event.at - at))
    return [NearEvent(event, f"{_distance(event.at - at)}: {event.text}") for event in told[:MAX_EVENTS]]


def _distance(length: timedelta) -> str:
    if abs(length) < HOUR:
        return "at that time"
    return f"{format_seconds(abs(length))} {'after' if length > timedelta() else 'before'}"


# --- the search ---


async def search_normal_changes(
    sessions: async_sessionmaker[AsyncSession], *, now: datetime, budget_s: float, turns: Turns[int] | None = None
) -> int:
    """Look for changes of normal until the last midnight on hosts where that was not done, for about this many seconds; return the
    number of hosts. A host whose hours are not rolled up until then waits.
    """
    turns = Turns("normal_search_failed") if turns is None else turns
    until = _midnight(now)
    async with open_read_session(sessions) as session:
        hosts = dict(await list_hosts_to_search(session, until))
    ends_at = time.monotonic() + budget_s
    n_done = 0
    for host_id in turns.order(list(hosts)):
        if n_done and time.monotonic() > ends_at:
            break
        with turns.turn(host_id, host=hosts[host_id]):
            async with open_read_session(sessions) as session:
                is_first = await read_normal_until(session, host_id) is None
            await _search_host(sessions, host_id, hosts[host_id], until, FIRST_HISTORY if is_first else HISTORY)
            n_done += 1
    return n_done


async def search_again(sessions: async_sessionmaker[AsyncSession], host: str, now: datetime) -> None:
    """Look for changes of normal of a host in two years, whatever was found before.

    Raises: NotFound for an unknown host
    """
    async with open_read_session(sessions) as session:
        host_id = await require_host(session, host)
    await _search_host(sessions, host_id, host, _midnight(now), FIRST_HISTORY)


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


async def _search_host(
    sessions: async_sessionmaker[AsyncSession], host_id: int, host: str, until: datetime, history: timedelta
) -> None:
    """Look for changes of normal of a host, and store them instead of those that were found in that time before."""
    window = Window(max(EPOCH, until - history), until)
    async with open_read_session(sessions) as session:
        changes = await find_changes_of_host(session, host_id, host, window)
    # Older ones were found with more days before them.
    found_from = window.start + DAYS.length * DAY
    kept = [own for own in changes if own.at >= found_from]
    async with open_write_session(sessions) as session:
        await replace_normal_changes(session, host_id, Window(found_from, until), kept, until)
    log.debug("normal_searched", host=host, n_changes=len(kept))


@dataclass(frozen=True, slots=True)
class _Series:
    """A series that may have changed."""

    stat: StatRef
    field: Field
    instance: str


async def find_changes_of_host(session: AsyncSession, host_id: int, host: str, window: Window) -> list[NormalChange]:
    """Return when normal changed on a host within a window of whole hours, oldest first."""
    zones = await read_host_zones(session, [host])
    days = LocalDays(window, require_zone(usable_zone(zones[0].time_zone if zones else None)))
    names: list[_Series] = []
    steps: list[NormalStep] = []
    n_compared = 0
    for stat in without_summarised(await list_host_stats(session, host_id)):
        found, _ = await list_latest_instances(session, host_id, stat, window, limit=MAX_INSTANCES)
        instances = sorted((own for own in found if _is_lasting(own, window)), key=lambda own: own.id)
        fields = list_moving_fields(stat)
        if not instances:
            continue
        at_once = max(1, MAX_CELLS // (len(instances) * days.n_hours))
        for begin in range(0, len(fields), at_once):
            some = fields[begin : begin + at_once]
            means = await read_step_means(
                session,
                Place(host_id, stat.id),
                stat,
                some,
                window=window,
                instance_ids=np.array([own.id for own in instances]),
                grid=StepGrid(0, HOUR_US),
            )
            own_names = [_Series(stat, field, instance.name) for field in some for instance in instances]
            of_some, n_known = await anyio.to_thread.run_sync(_find_steps, means, days)
            n_compared += n_known
            steps += [replace(step, row=len(names) + step.row) for step in of_some]
            names += own_names
    return [_to_change(host, group, names, days, n_compared) for group in group_steps(steps)]


def _is_lasting(own: InstanceRef, window: Window) -> bool:
    return min(own.last_sample_at, window.end) - max(own.first_sample_at, window.start) >= MIN_LIFE


class LocalDays:
    """The hours of a window in whole days of a zone. An hour that the clocks repeat counts once, one that they skip is missing."""

    def __init__(self, window: Window, zone: tzinfo) -> None:
        self._zone = zone
        starts = [window.start + number * HOUR for number in range((window.end_us - window.start_us) // HOUR_US)]
        offsets = np.array([(start.astimezone(zone).utcoffset() or timedelta()) // HOUR for start in starts], np.int64)
        local = np.arange(len(starts)) + window.start_us // HOUR_US + offsets
        self._first = int(local[0]) // HOURS_A_DAY * HOURS_A_DAY if len(local) else 0
        self._places: IntArray = local - self._first
        self.n_hours = -(-(int(self._places[-1]) + 1) // HOURS_A_DAY) * HOURS_A_DAY if len(local) else 0

    def arrange(self, hours: Float32Array) -> Float32Array:
        """Return the hours of series in whole local days. Shape: (n_series, n_window_hours) -> (n_series, n_hours)"""
        days = np.full((len(hours), self.n_hours), np.nan, np.float32)
        days[:, self._places] = hours
        return days

    def to_instant(self, hour: int) -> datetime:
        """Return when an hour of the local days begins."""
        local = from_us((self._first + hour) * HOUR_US).replace(tzinfo=None)
        return local.replace(tzinfo=self._zone).astimezone(UTC)


def _find_steps(means: Float32Array, days: LocalDays) -> tuple[list[NormalStep], int]:
    """Return the steps of series, and how many series have enough hours for one. Shape: see read_step_means"""
    hours = days.arrange(means.reshape(-1, means.shape[2]))
    n_known = int(((~np.isnan(hours)).sum(axis=1) >= 2 * DAYS.least * HOURS_A_DAY).sum())
    return find_normal_steps(hours), n_known


def _to_change(host: str, group: Sequence[NormalStep], names: Sequence[_Series], days: LocalDays, n_compared: int) -> NormalChange:
    series = [_to_series(step, names[step.row]) for step in group]
    first = series[0].sentence
    n_series = len({step.row for step in group})
    sentence = first if n_series == 1 else f"{count_of(n_series, 'series', 'series')} changed, led by {first}"
    return NormalChange(host, days.to_instant(group[0].hour), n_series, n_compared, sentence, series[:MAX_SERIES])


def _to_series(step: NormalStep, own: _Series) -> ChangedSeries:
    title = name_series(own.stat.name, own.instance, own.field)
    return ChangedSeries(
        own.stat.name,
        own.field.key,
        own.instance,
        title,
        own.field.unit,
        step.kind,
        round(step.score, 1),
        step.before,
        step.after,
        f"{title}{_describe(step, own.field.unit)}",
    )


def _describe(step: NormalStep, unit: str) -> str:
    """Return a step in words, to follow the name of its series."""
    if step.kind is StepKind.LEVEL:
        before, after = format_human(step.before, unit), format_human(step.after, unit)
        number, _, own = before.partition(" ")
        return f": {number if own == after.partition(' ')[2] else before} → {after}"
    if step.kind is StepKind.SPREAD:
        return f" varies by {format_percent(100 * step.before, 2)} → {format_percent(100 * step.after, 2)} from day to day"
    if step.before == step.after:
        return f" has another rhythm of the day, highest at {step.after:02.0f}:00 as before"
    return f" is highest at {step.before:02.0f}:00 → {step.after:02.0f}:00"
