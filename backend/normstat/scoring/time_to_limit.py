"""How long until a level reaches a limit: a trend over the right span, with an interval from the series' own past.

A nightly backup climbs each night and is deleted in the morning; extended as a line, it fills the disk each night. So a trend is
believed as far as trends of this series were right before. For each span (`SPANS`) the trend is compared with what really followed
it, everywhere in the past; those errors around today's trend are its interval. The longest tried span is taken that no shorter one
contradicts: where growth began two days ago, the trend of four weeks says nothing rises, the last day says it does, and both were
reliable, so the day counts. On a rhythm the last hours are not reliable, so the weeks count.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.summary import BoolArray, FloatArray

HOURS_A_DAY: Final = 24
HISTORY_HOURS: Final = 28 * HOURS_A_DAY
# Spans of a trend in hours, the longest first, and the length of the ends whose medians are compared: whole days or weeks, so that
# their rhythm is the same in both.
SPANS: Final = ((672, 168), (336, 168), (168, 48), (72, 24), (48, 24), (24, 6), (6, 2))
# A span that is shorter than this does not see the rhythm of a day.
MIN_RHYTHM_HOURS: Final = 3 * HOURS_A_DAY
# Largest share of hours without a value in a span.
MAX_MISSING: Final = 0.3
# The middle of errors that is the interval.
QUANTILES: Final = (0.1, 0.9)
# Fewer trends of the past leave the interval at their extremes.
MIN_TRENDS: Final = 10
# A trend of the past at least this many times as steep as today's says what such trends lead to.
ALIKE: Final = 0.5
# A limit further away than this many spans is not told from them, nor one more than this many hours away.
MAX_SPANS: Final = 12
MAX_HOURS: Final = 365.0 * HOURS_A_DAY
# The top of a rhythm is this quantile of the hours of a week.
WEEK_HOURS: Final = 7 * HOURS_A_DAY
TOP: Final = 0.95
# Hours without a value after which a series has ended.
MAX_SILENT_HOURS: Final = 3
# A change of less than this part of the distance to the limit, over the span, is none.
MIN_CHANGE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class TimeToLimit:
    """When levels reach their limits, in hours from the last one.

    Shape: all (n_series,). `hours`, `soonest`, `latest`: the middle and the ends of the interval, infinite where the level does
    not move towards the limit for sure; `span_hours`: over which the trend is; `is_rhythm_known`: whether three days were seen.
    Missing: NaN with too few values
    """

    hours: FloatArray
    soonest: FloatArray
    latest: FloatArray
    rate: FloatArray
    span_hours: FloatArray
    is_rhythm_known: BoolArray


@dataclass(frozen=True, slots=True)
class _Trend:
    """The trend of one series over one span. `low`, `high`: its interval; `is_tried`: whether the past shows how good it is"""

    span: int
    rate: float
    low: float
    high: float
    is_tried: bool


def time_to_limit(values: FloatArray, limits: FloatArray) -> TimeToLimit:
    """Return when each series reaches its limit, from its means of the last hours.

    Shape: values (n_series, n_hours), the newest last; limits (n_series,). Missing: NaN
    """
    n_series = len(values)
    hours, soonest, latest, rate, span = np.full((5, n_series), np.nan)
    is_known = np.zeros(n_series, np.bool_)
    for row in range(n_series):
        own = values[row, -HISTORY_HOURS:]
        seen = np.flatnonzero(~np.isnan(own))
        if len(seen):
            # A series that has ended fills nothing.
            hours[row], soonest[row], latest[row], rate[row], span[row] = _of_series(own[seen[0] :], float(limits[row]))
            is_known[row] = len(own) - seen[0] >= MIN_RHYTHM_HOURS
    return TimeToLimit(hours, soonest, latest, rate, span, is_known)


def _of_series(values: FloatArray, limit: float) -> tuple[float, float, float, float, float]:
    """Return hours, soonest, latest, rate and span of one series, which begins with a value."""
    nothing = (np.nan,) * 5
    if np.isnan(values[-MAX_SILENT_HOURS:]).all() or np.isnan(limit):
        return nothing
    newest = float(values[~np.isnan(values)][-1])
    sign = 1.0 if limit >= newest else -1.0
    # The distance that is left: it falls to zero.
    towards = sign * (values - limit)
    trends = [trend for span, end in SPANS if (trend := _trend(towards, span, end)) is not None]
    if not trends:
        return nothing
    # The shortest contradicts none.
    fitting = [trend for number, trend in enumerate(trends) if all(_agree(trend, other) for other in trends[number + 1 :])]
    chosen = next((trend for trend in fitting if trend.is_tried), fitting[0])
    # The rhythm goes on while the level rises: the limit is reached at one of its tops, at the latest when its lows get there. What
    # grows by jumps is above its trend after one, and waits for the next.
    recent = towards[-min(WEEK_HOURS, chosen.span) :]
    upright = recent + chosen.rate * np.arange(len(recent) - 1, -1, -1)
    lowest, level, top, highest = (-float(left) for left in np.nanquantile(upright, (1 - TOP, 0.5, TOP, 1.0)))
    if sign * (newest - limit) >= 0:
        # Swap space of no size is always used up, and an image always full.
        hours = 0.0 if np.nanmax(towards) > np.nanmin(towards) else np.inf
        return hours, hours, hours, sign * chosen.rate, float(chosen.span)
    is_sure = chosen.low > 0 and chosen.rate * chosen.span > MIN_CHANGE * level
    latest = max(0.0, lowest) / chosen.low if is_sure else np.inf
    # Where tops reached it before, the next one may.
    hours = top / chosen.rate if is_sure and top > 0 else min(HOURS_A_DAY / 2, latest) if is_sure else np.inf
    if hours > min(MAX_HOURS, MAX_SPANS * chosen.span):
        return np.inf, np.inf, np.inf, sign * chosen.rate, float(chosen.span)
    return hours, min(hours, max(0.0, highest) / chosen.high), max(hours, latest), sign * chosen.rate, float(chosen.span)


def _agree(one: _Trend, other: _Trend) -> bool:
    return one.low <= other.high and other.low <= one.high


def _trend(towards: FloatArray, span: int, end: int) -> _Trend | None:
    """Return the trend over the last hours of a span. Missing: None where too few of them have a value"""
    n = len(towards)
    if n < span or np.isnan(towards[-span:]).mean() > MAX_MISSING:
        return None
    # The level at the end of each `end` hours.
    levels = _medians(towards, end)
    steps = span - end
    rates = (levels[steps:] - levels[:-steps]) / steps
    now = float(rates[-1])
    if np.isnan(now):
        return None
    # What followed each earlier trend, over a span or as much of one as there is.
    ahead = min(steps, max(end, (len(levels) - steps) // 3))
    followed = (levels[steps + ahead :] - levels[steps:-ahead]) / ahead if len(levels) > steps + ahead else np.empty(0)
    errors = followed - rates[: len(followed)]
    is_there = ~np.isnan(errors)
    errors, before = errors[is_there], rates[: len(followed)][is_there]
    noise = _noise(towards[-span:], now) / steps
    n_apart = len(errors) / max(1, ahead)
    if n_apart < 1:
        # It was never tried: it may stop, and it may be twice as fast.
        low, high = sorted((now - 0.5 * abs(now) - noise, now + abs(now) + noise))
        return _Trend(span, now, low, high, is_tried=False)
    low, high = (float(errors.min()), float(errors.max())) if n_apart < MIN_TRENDS else np.quantile(errors, QUANTILES).tolist()
    alike = errors[before >= ALIKE * now] if now > 0 else errors[before <= ALIKE * now]
    if len(alike) and now != 0:
        low, high = min(low, float(alike.min())), max(high, float(alike.max()))
    return _Trend(span, now, now + low - noise, now + high + noise, is_tried=True)


def _medians(values: FloatArray, n: int) -> FloatArray:
    """Return the median of each run of n hours. Missing: NaN with too few values. Shape: (n_hours,) -> (n_hours - n + 1,)"""
    runs = np.lib.stride_tricks.sliding_window_view(values, n)
    is_there = ~np.isnan(runs)
    counts = is_there.sum(axis=1)
    ordered = np.sort(runs, axis=1)
    rows = np.arange(len(runs))
    # NaN is sorted to the end.
    low, high = np.maximum(counts - 1, 0) // 2, counts // 2
    middle = (ordered[rows, low] + ordered[rows, np.minimum(high, n - 1)]) / 2
    return np.asarray(np.where(counts >= (1 - MAX_MISSING) * n, middle, np.nan), np.float64)


def _noise(values: FloatArray, rate: float) -> float:
    """Return how far hours usually are from the line, for a median of some of them."""
    rest = values - rate * np.arange(len(values))
    rest = rest[~np.isnan(rest)]
    return float(np.median(np.abs(rest - np.median(rest))))
