"""How long until something of a host is full: file systems, inodes, memory, swap space, limits of units, and what a process takes.

What is a level and what its limit is stands in the built-in rules, whose inputs these are; each is forecast by its trend over the
hours of four weeks (scoring/time_to_limit.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, Literal

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_human
from normstat.samples.lookup import StatRef, list_host_stats, require_host
from normstat.scoring.summary import FloatArray
from normstat.scoring.time_to_limit import HISTORY_HOURS, TimeToLimit, time_to_limit
from normstat.watch.rules.rule_file import FieldPlace, WatchInput, load_builtin_rules
from normstat.watch.rules.rule_frame import FieldSource, factor_of, find_sources
from normstat.watch.rules.time_to import HourlyLevels, read_hourly_levels
from normstat.window import Window

ForecastKind = Literal["space", "inodes", "memory", "swap", "unit_memory", "unit_tasks", "process"]
# filling: it reaches its limit at that time; steady: it does not come nearer to it; unknown: too few hours.
ForecastState = Literal["filling", "steady", "unknown"]
HOURS_A_DAY: Final = 24
# Longer times are given in days.
MIN_DAYS_H: Final = 48.0
# Largest commands whose memory is forecast.
MAX_COMMANDS: Final = 30
HISTORY: Final = timedelta(hours=HISTORY_HOURS)


@dataclass(frozen=True, slots=True)
class Forecast(Documented):
    """When a level of a host reaches its limit, by its trend."""

    kind: ForecastKind
    stat: str
    field: str
    instance: str
    """The file system, unit or command; empty for the whole host."""
    state: ForecastState
    sentence: str
    """The forecast in words: `/var is full in 9 days (6 to 20)`."""
    level: float
    """Mean of the newest hour, in `unit`."""
    limit: float
    unit: str
    rate_per_day: float | None
    """How fast the level moves. Null: too few hours."""
    full_at: datetime | None
    """When it reaches the limit, if the trend goes on. Null unless it is filling, as are the next two."""
    soonest_at: datetime | None
    """With `latest_at` the interval in which four of five such forecasts come true."""
    latest_at: datetime | None
    span_hours: int | None
    """Hours over which the trend is. Null: too few hours."""
    is_rhythm_known: bool
    """Whether there are three days of it; before, a daily rhythm may look like growth."""


@dataclass(frozen=True, slots=True)
class HostForecasts(Documented):
    """What of a host fills up, the soonest first; then what does not."""

    host: str
    at: datetime
    n_filling: int
    forecasts: list[Forecast]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A level with a limit. `what`: the name of an instance's level; `full`: what a sentence says of it at its limit"""

    kind: ForecastKind
    wanted: WatchInput
    limit: float
    what: str
    full: str
    excluded: tuple[str, ...] = ()


@cache
def _list_quantities() -> tuple[_Quantity, ...]:
    rules = load_builtin_rules()

    def input_of(rule: str, name: str) -> WatchInput:
        return next(each for each in rules[rule].inputs if each.name == name)

    def of_unit(key: str) -> WatchInput:
        return WatchInput(key, "", (FieldPlace("linux_unit", key),), "%", is_each=True)

    excluded = rules["filesystem-full"].excluded
    return (
        _Quantity("space", input_of("filesystem-full", "left"), 0.0, "{instance}", "is full", excluded),
        _Quantity("inodes", input_of("inodes-full", "used"), 100.0, "inodes of {instance}", "are used up", excluded),
        _Quantity("memory", input_of("memory-left", "left"), 0.0, "memory", "is used up"),
        _Quantity("swap", input_of("memory-left", "swap"), 0.0, "swap space", "is used up"),
        _Quantity("unit_memory", of_unit("memory_of_limit_pct"), 100.0, "memory of {instance}", "is at its limit"),
        _Quantity("unit_tasks", of_unit("tasks_of_limit_pct"), 100.0, "tasks of {instance}", "are at their limit"),
    )


RSS: Final = WatchInput("rss", "", (FieldPlace("linux_command", "rss_kb"),), "bytes", is_each=True)


async def read_forecasts_of_host(session: AsyncSession, host: str, at: datetime) -> HostForecasts:
    """Return when what the host records reaches its limits, as seen at a moment.

    Raises: NotFound for an unknown host
    """
    host_id = await require_host(session, host)
    stats = {stat.name: stat for stat in await list_host_stats(session, host_id)}
    found: list[Forecast] = []
    available = np.nan
    for quantity in _list_quantities():
        read = await _read_levels(session, host_id, quantity.wanted, stats, at)
        if read is None:
            continue
        source, levels = read
        keep = [row for row, name in enumerate(levels.names) if not _is_excluded(quantity, name)]
        levels = HourlyLevels(tuple(levels.names[row] for row in keep), levels.first_hour, levels.values[keep])
        limits = np.full(len(keep), quantity.limit)
        if quantity.kind == "memory" and len(keep) == 1:
            available = float(_newest(levels.values)[0])
        found += await anyio.to_thread.run_sync(_forecast, quantity, source, levels, limits, at)
    read = await _read_levels(session, host_id, RSS, stats, at)
    if read is not None and not np.isnan(available):
        source, levels = read
        newest = _newest(levels.values)
        rows = np.argsort(-np.nan_to_num(newest), kind="stable")[:MAX_COMMANDS]
        largest = HourlyLevels(tuple(levels.names[row] for row in rows.tolist()), levels.first_hour, levels.values[rows])
        process = _Quantity("process", RSS, 0.0, "memory of {instance}", "takes all that is available")
        grown = await anyio.to_thread.run_sync(_forecast, process, source, largest, newest[rows] + available, at)
        # All others are as they should be.
        found += list_filling(grown)
    found.sort(key=lambda own: (own.full_at is None, own.full_at or at, own.state == "unknown", own.kind, own.instance))
    return HostForecasts(host, at, sum(own.state == "filling" for own in found), found)


async def _read_levels(
    session: AsyncSession, host_id: int, wanted: WatchInput, stats: Mapping[str, StatRef], at: datetime
) -> tuple[FieldSource, HourlyLevels] | None:
    """Return the hours of the first source that the host has. Missing: None without any"""
    for source in find_sources(wanted, list(stats)):
        factor = factor_of(wanted.unit, source.field.unit)
        levels = await read_hourly_levels(session, host_id, stats[source.stat], source, Window(at - HISTORY, at), factor=factor)
        if levels.names and not np.isnan(levels.values).all():
            return source, levels
    return None


def _is_excluded(quantity: _Quantity, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in quantity.excluded)


def _newest(values: FloatArray) -> FloatArray:
    """Return the newest value of each series. Missing: NaN without any. Shape: (n_series, n_hours) -> (n_series,)"""
    is_there = ~np.isnan(values)
    last = values.shape[1] - 1 - np.argmax(is_there[:, ::-1], axis=1)
    return np.asarray(values[np.arange(len(values)), last], np.float64)


def _forecast(quantity: _Quantity, source: FieldSource, levels: HourlyLevels, limits: FloatArray, at: datetime) -> list[Forecast]:
    found = time_to_limit(levels.values, limits)
    newest = _newest(levels.values)
    return [
        _to_forecast(quantity, source, name, row=row, found=found, level=float(newest[row]), limit=float(limits[row]), at=at)
        for row, name in enumerate(levels.names)
        if not np.isnan(newest[row])
    ]


def _to_forecast(
    quantity: _Quantity,
    source: FieldSource,
    instance: str,
    *,
    row: int,
    found: TimeToLimit,
    level: float,
    limit: float,
    at: datetime,
) -> Forecast:
    hours, soonest, latest = float(found.hours[row]), float(found.soonest[row]), float(found.latest[row])
    state: ForecastState = "unknown" if np.isnan(hours) else "filling" if np.isfinite(hours) else "steady"
    is_known = bool(found.is_rhythm_known[row])

    def instant(in_hours: float) -> datetime | None:
        return at + timedelta(hours=in_hours) if state == "filling" else None

    rate = float(found.rate[row])
    span = found.span_hours[row]
    return Forecast(
        kind=quantity.kind,
        stat=source.stat,
        field=source.field.key,
        instance=instance,
        state=state,
        sentence=describe(
            quantity.what.format(instance=instance),
            quantity.full,
            state,
            hours=hours,
            soonest=soonest,
            latest=latest,
            is_rhythm_known=is_known,
        ),
        level=level,
        limit=limit,
        unit=quantity.wanted.unit,
        rate_per_day=None if np.isnan(rate) else rate * HOURS_A_DAY,
        full_at=instant(hours),
        soonest_at=instant(soonest),
        latest_at=instant(latest),
        span_hours=None if np.isnan(span) else int(span),
        is_rhythm_known=is_known,
    )


def describe(
    what: str, full: str, state: ForecastState, *, hours: float, soonest: float, latest: float, is_rhythm_known: bool
) -> str:
    """Return a forecast in words.

    >>> describe("/var", "is full", "filling", hours=216, soonest=150, latest=470, is_rhythm_known=True)
    '/var is full in 9 days (6 to 20)'
    >>> describe("/var", "is full", "filling", hours=5, soonest=4, latest=8, is_rhythm_known=False)
    '/var is full in 5 hours (4 to 8), by less than three days of it'
    >>> describe("memory", "is used up", "steady", hours=float("inf"), soonest=0, latest=0, is_rhythm_known=True)
    'memory does not come nearer to its limit'
    """
    if state == "unknown":
        return f"{what}: too few hours are recorded for a forecast"
    if state == "steady":
        return f"{what} does not come nearer to its limit"
    if hours <= 0:
        return f"{what} {full} now"
    unit, size = ("days", HOURS_A_DAY) if hours >= MIN_DAYS_H else ("hours", 1)
    low, high = (round(value / size) for value in (soonest, latest))
    middle = max(1, round(hours / size))
    text = f"{what} {full} in {middle} {unit.removesuffix('s') if middle == 1 else unit} ({low} to {max(high, middle)})"
    return text if is_rhythm_known else f"{text}, by less than three days of it"


def describe_rate(forecast: Forecast) -> str:
    """Return how fast a level moves, in words: `1.2 GiB a day`. Missing: `-` without a trend"""
    if forecast.rate_per_day is None:
        return "-"
    return f"{format_human(abs(forecast.rate_per_day), forecast.unit)} a day"


def list_filling(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """Return what fills up."""
    return [own for own in forecasts if own.state == "filling"]
