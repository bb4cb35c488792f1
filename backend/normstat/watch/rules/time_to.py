"""The forecasts that conditions with `time_to` need: the hours of four weeks before, from rollups where they exist.

A forecast holds for an hour: it is made at the end of an hour from the hours before, so a backtest sees what a live rule would have
seen then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.host_steps import read_step_means
from normstat.query.step_reduction import StepGrid
from normstat.runtime import work_budget
from normstat.samples.lookup import InstanceRef, StatRef, list_latest_instances
from normstat.samples.rollups.rollup_rows import HOUR_US, Place
from normstat.scoring.summary import FloatArray
from normstat.scoring.time_to_limit import HISTORY_HOURS, time_to_limit
from normstat.stats.summaries import is_summary
from normstat.watch.rules.rule_file import WatchRule
from normstat.watch.rules.rule_frame import WHOLE_HOST, ChosenInput, FieldSource, HourlyForecast, factor_of, host_instance
from normstat.window import Window, from_us

# Instances of a stat that are forecast, those with the latest samples.
MAX_INSTANCES: Final = 500
HOUR: Final = timedelta(hours=1)
HOUR_S: Final = 3600.0
HISTORY: Final = timedelta(hours=HISTORY_HOURS)
# Forecasts of hosts that are kept; one is a number for each instance.
MAX_KEPT: Final = 20_000


@dataclass(frozen=True, slots=True)
class HourlyLevels:
    """The means of a field of some instances in the hours of a window.

    Shape: values (n_instances, n_hours), the hours from `first_hour` of the epoch on. Missing: NaN without a sample in an hour
    """

    names: tuple[str, ...]
    first_hour: int
    values: FloatArray


async def read_hourly_levels(
    session: AsyncSession, host_id: int, stat: StatRef, source: FieldSource, window: Window, *, factor: float = 1.0
) -> HourlyLevels:
    """Return the hours that reach into the window, of all instances that were there at its end, without those that sum up others.

    `factor`: what values are multiplied by
    """
    grid = StepGrid(0, HOUR_US)
    aligned = grid.align(window)
    newest = Window(max(window.start, window.end - 2 * HOUR), window.end)
    found, _ = await list_latest_instances(session, host_id, stat, newest, limit=MAX_INSTANCES)
    by_id = sorted(_wanted(stat.name, source, found), key=lambda own: own.id)
    first_hour = aligned.start_us // HOUR_US
    if not by_id:
        return HourlyLevels((), first_hour, np.empty((0, 0)))
    ids = np.array([own.id for own in by_id])
    place = Place(host_id, stat.id)
    means = await read_step_means(session, place, stat, [source.field], window=aligned, instance_ids=ids, grid=grid)
    return HourlyLevels(tuple(own.name for own in by_id), first_hour, factor * means[0].astype(np.float64))


def _wanted(stat: str, source: FieldSource, found: Sequence[InstanceRef]) -> list[InstanceRef]:
    if source.instance is not None:
        return [own for own in found if own.name == source.instance]
    return [own for own in found if own.name == WHOLE_HOST or not is_summary(stat, own.name)] or list(found)


@dataclass(slots=True)
class ForecastCache:
    """The forecasts of the newest hour, by host, rule and limit: while it lasts, each is made once."""

    _kept: dict[tuple[object, ...], HourlyForecast] = field(default_factory=dict)

    def get(self, key: tuple[object, ...]) -> HourlyForecast | None:
        """Return what was kept. Missing: None"""
        return self._kept.get(key)

    def put(self, key: tuple[object, ...], forecast: HourlyForecast) -> None:
        """Keep a forecast; the oldest one makes room."""
        while len(self._kept) >= MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = forecast


async def read_forecasts(
    session: AsyncSession,
    host_id: int,
    rule: WatchRule,
    chosen: Sequence[ChosenInput],
    *,
    stats: Mapping[str, StatRef],
    window: Window,
    cache: ForecastCache | None = None,
) -> dict[str, HourlyForecast]:
    """Return the forecast of each `time_to` of a rule in each hour of the window, by its text."""
    if not rule.times_to:
        return {}
    forecasts: dict[str, HourlyForecast] = {}
    levels: dict[str, HourlyLevels] = {}
    limits = rule.limit_values()
    by_name = {item.name: item for item in chosen}
    hours = range(window.start_us // HOUR_US, -(-window.end_us // HOUR_US))
    for wanted in rule.times_to:
        item, limit = by_name.get(wanted.name), wanted.value_of(limits)
        if item is None:
            continue
        key = (host_id, item.stat, str(item.sources[0]), limit, hours.start, hours.stop)
        made = None if cache is None else cache.get(key)
        if made is None:
            if wanted.name not in levels:
                levels[wanted.name] = await _read_levels(session, host_id, item, stats[item.stat], hours)
            made = await work_budget.run_in_thread(_forecast, levels[wanted.name], item, limit, hours)
            if cache is not None:
                cache.put(key, made)
        forecasts[wanted.text] = made
    return forecasts


async def _read_levels(session: AsyncSession, host_id: int, item: ChosenInput, stat: StatRef, hours: range) -> HourlyLevels:
    end = from_us(hours.stop * HOUR_US)
    window = Window(_earlier(from_us(hours.start * HOUR_US)), end)
    for source in item.sources:
        found = await read_hourly_levels(
            session, host_id, stat, source, window, factor=factor_of(item.unit, source.field.unit)
        )  # fmt: skip
        if found.names and not np.isnan(found.values).all():
            return found
    return HourlyLevels((), hours.start, np.empty((0, 0)))


def _earlier(start: datetime) -> datetime:
    return start - HISTORY


def _forecast(levels: HourlyLevels, item: ChosenInput, limit: float, hours: range) -> HourlyForecast:
    names, values = levels.names, levels.values
    if not item.is_each and names:
        own = host_instance(item.stat, names) if len(names) > 1 else names[0]
        values = values[[names.index(own)]] if own is not None else values[:0]
        names = (WHOLE_HOST,) if own is not None else ()
    seconds = np.full((len(hours), len(names)), np.inf)
    for row, hour in enumerate(hours):
        work_budget.check()
        before = values[:, : max(0, hour - levels.first_hour)]
        if before.shape[1]:
            found = time_to_limit(before, np.full(len(names), limit))
            # What a rhythm may explain raises no alarm.
            is_told = found.is_rhythm_known & ~np.isnan(found.hours)
            seconds[row] = np.where(is_told, found.hours * HOUR_S, np.inf)
    return HourlyForecast(np.array(hours) * HOUR_S, names, seconds)
