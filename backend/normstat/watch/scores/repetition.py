"""Find how an unusual series repeats: a mean of 10 ms may be 80 ms for 5 s every 38 s, as users notice it."""

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.findings.stalls import find_bursts, find_stalls
from normstat.comparison.stories.bouts import MIN_PERIOD, is_far
from normstat.samples.lookup import StatRef
from normstat.samples.sample_pages import PageQuery, read_pages, to_floats
from normstat.scoring.summary import FloatArray
from normstat.watch.fleet.minute_store import MINUTE_US
from normstat.watch.scores.minute_scores import KEPT_LENGTH, LENGTHS, Repetition, UnusualSeries
from normstat.window import Window, from_us

# A series is looked at from this anomaly score on: that with which an episode begins.
MIN_SCORE: Final = 0.3
# Fewer may be regular by chance.
MIN_BOUTS: Final = 4
N_MINUTES: Final = LENGTHS[KEPT_LENGTH]
MAX_REMEMBERED: Final = 20_000

# The host, the minute, and the series with its value: late samples change that.
Asked = tuple[int, int, UnusualSeries]


@dataclass(frozen=True, slots=True)
class SeriesIds:
    """Where the samples of hosts are: stats by name, ids of instances by host, stat and name."""

    stats: Mapping[str, StatRef]
    instances: Mapping[tuple[int, str, str], int]


async def add_repetitions(
    session: AsyncSession,
    known: OrderedDict[Asked, Repetition | None],
    found: Mapping[tuple[int, int], Sequence[UnusualSeries]],
    ids: SeriesIds,
    *,
    budget_s: float,
) -> dict[tuple[int, int], tuple[UnusualSeries, ...]]:
    """Return the unusual series of each host and minute (of the epoch), the high ones with how they repeat.

    `known`: what was looked at before, which grows; what does not fit into the budget is looked at in the next run.
    """
    missing: dict[tuple[int, str, str, str], list[Asked]] = {}
    for (host_id, minute), own in found.items():
        for series in own:
            if series.anomaly_score >= MIN_SCORE and (host_id, minute, series) not in known:
                missing.setdefault((host_id, series.stat, series.field, series.instance), []).append((host_id, minute, series))
    ends_at = time.monotonic() + budget_s
    for asked in missing.values():
        if time.monotonic() > ends_at:
            break
        known.update(await _look_at(session, asked, ids))
    while len(known) > MAX_REMEMBERED:
        known.popitem(last=False)
    return {
        key: tuple(replace(series, repetition=known.get((*key, series))) for series in own) for key, own in found.items()
    }  # fmt: skip


async def _look_at(session: AsyncSession, asked: Sequence[Asked], ids: SeriesIds) -> dict[Asked, Repetition | None]:
    """Return how one series of a host repeats in the minutes that end with each of these."""
    host_id, _, first = asked[0]
    stat = ids.stats[first.stat]
    fields = [field for field in stat.fields if field.key == first.field]
    minutes = [minute for _, minute, _ in asked]
    window = Window(from_us((min(minutes) + 1 - N_MINUTES) * MINUTE_US), from_us((max(minutes) + 1) * MINUTE_US))
    query = PageQuery(stat.name, host_id, window, fields, [ids.instances[host_id, stat.name, first.instance]])
    times, values = [np.empty(0)], [np.empty(0)]
    async with aclosing(read_pages(session, query)) as pages:
        async for page in pages:
            times.append(page.time_us / 1e6)
            values.append(to_floats(fields[0], page.values[0]))
    at, value = np.concatenate(times), np.concatenate(values)
    at, value = at[~np.isnan(value)], value[~np.isnan(value)]
    looked = {}
    for one in asked:
        end = (one[1] + 1) * MINUTE_US / 1e6
        is_own = (at >= end - 60 * N_MINUTES) & (at < end)
        looked[one] = find_repetition(at[is_own], value[is_own], one[2])
    return looked


def find_repetition(times_s: FloatArray, values: FloatArray, series: UnusualSeries) -> Repetition | None:
    """Return how samples leave their band repeatedly. Missing: None where they do so irregularly, or not by much.

    Shape: times_s, values (n,), ascending times, without missing values
    """
    if not len(values):
        return None
    is_high = series.value > series.high
    bouts = find_bursts(times_s, values, series.high) if is_high else find_stalls(times_s, values)
    if bouts is None or bouts.period_s is None or bouts.n < MIN_BOUTS:
        return None
    reached = float(values.max() if is_high else values.min())
    if bouts.period_s < MIN_PERIOD * float(np.median(np.diff(times_s))) or not is_far(reached, series.value, series.unit):
        return None
    return Repetition(reached, bouts.length_s, bouts.period_s)
