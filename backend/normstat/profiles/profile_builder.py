"""Build a host's profile from sketches of its stats.

Each series is measured from one level, the median of all sketches; their summaries are moved there. A few windows of each length
are unpacked, evenly spread over the baseline, all stats at the same times, so that one window is one window of the host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from normstat.profiles.adhoc_profile import MAX_PART
from normstat.profiles.sketch import HOUR_S, MINUTE_S, WINDOW_LENGTHS, PackedSketch, rebase
from normstat.runtime.arrays import distinct_values
from normstat.scoring.host_profile import HostProfile, learn_window_model
from normstat.scoring.load_model import learn, log_scale_of, to_log, window_middles
from normstat.scoring.series_stats import BoolArray, series_stats_of
from normstat.scoring.summary import Float32Array, FloatArray, IntArray, Summary, concatenate, merge, summarise

# Most windows of each length; half as many for a host with very many series.
MAX_WINDOWS: Final = 64
MANY_SERIES: Final = 4000
MIN_WINDOWS: Final = 4
# A few long windows miss what a load does in a day and make it look unusual; then a shorter length is used. With a swinging load, 8
# windows of an hour called 136 of 384 series of the ninth hour unusual, 24 of a quarter of an hour 7.
ENOUGH_WINDOWS: Final = 12
# Summaries merged at once, which bounds memory.
AT_ONCE: Final = 32
# Up to this many series in all sketches, 35 MB, the summaries of whole sketches are kept: each of up to ten windows needs one.
MAX_KEPT: Final = 1 << 17
# Most series of a profile: those with the most samples.
MAX_SERIES: Final = 30_000
# Maximum number of bins: more do not improve the load model, whose cost grows with their third power.
MAX_BINS: Final = 720
MAX_BIN_S: Final = 600
TEMPLATE: Final = summarise(np.empty((0, 4), np.float32))


@dataclass(frozen=True, slots=True)
class StatSketches:
    """The sketches of a stat, ordered by time.

    `percent`: the fields that are percentages; `digits`: the smallest difference that the tool prints, by field; where it is
    missing, it is derived from the values
    """

    stat: str
    sketches: Sequence[PackedSketch]
    percent: frozenset[str]
    digits: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StatSeries:
    """The series of a stat in a profile. Shape: instance, field (n_series,) codes"""

    stat: str
    instances: tuple[str, ...]
    fields: tuple[str, ...]
    instance: IntArray
    field: IntArray


@dataclass(frozen=True, slots=True)
class BuiltProfile:
    """A profile, whose series are those of `stats`, one after the other. `covered_s`: by the stat that covers most."""

    stats: tuple[StatSeries, ...]
    profile: HostProfile
    n_samples: int
    covered_s: float
    n_left_out: int


class TooShort(ValueError):
    """The sketches have too few windows to measure natural change."""


def build_profile(stats: Sequence[StatSketches]) -> BuiltProfile:
    """Return the profile of all series of these stats.

    Raises: TooShort; BrokenBytes for a damaged sketch
    """
    recorded = [stat for stat in stats if any(len(sketch.keys) for sketch in stat.sketches)]
    if not recorded:
        raise TooShort("The windows of the baseline have no samples")
    index = _Index(recorded)
    lengths = index.find_windows()
    if not lengths:
        raise TooShort("The windows of the baseline are too short for a profile: comparisons read its samples")
    level, baseline = index.merge_all()
    series_stats = series_stats_of(baseline, level, index.named_digits(), index.is_percent)
    bins, bin_s = index.bins(level)
    added = log_scale_of(bins, series_stats)
    learned = learn(to_log(bins, added))
    window_models = []
    for window_s, places in lengths.items():
        windows = [index.window(start_s, window_s, level) for start_s in places]
        left = None if learned is None else window_middles(learned[1], max(1, round(window_s / bin_s)))
        n_disjoint = index.total_s / window_s
        window_models.append(
            learn_window_model(
                windows, baseline, series_stats, index.families, length_s=float(window_s), n_disjoint=n_disjoint, left=left
            )
        )
    profile = HostProfile(
        series_stats, baseline, index.families, window_models, None if learned is None else learned[0], added, bin_s
    )
    return BuiltProfile(index.series, profile, index.n_rows, index.covered_s, index.n_left_out)


class _Index:
    """Maps the series of all sketches to those of the profile, and reads them."""

    def __init__(self, stats: Sequence[StatSketches]) -> None:
        self._stats = stats
        sketches = [sketch for stat in stats for sketch in stat.sketches]
        if sum(len(sketch.keys) for sketch in sketches) <= MAX_KEPT:
            for sketch in sketches:
                sketch.keep_whole()
        self.series, self._rows, self.n_left_out = _number(stats)
        self._offsets = np.concatenate([[0], np.cumsum([len(stat.instance) for stat in self.series])]).astype(np.int64)
        self.n_series = int(self._offsets[-1])
        self.families = _families(self.series)
        self.is_percent: BoolArray = np.concatenate(
            [
                np.isin(own.field, [number for number, key in enumerate(own.fields) if key in stat.percent])
                for own, stat in zip(self.series, stats, strict=True)
            ]
            or [np.empty(0, np.bool_)]
        )
        self.digit = self._find_digits()
        keys = [sketch.keys for sketch in sketches]
        self.n_rows = sum(own.n_rows for own in keys)
        self.n_left_out += max((own.n_left_out for own in keys), default=0)
        self.covered_s = max((sum(sketch.keys.covered_s for sketch in stat.sketches) for stat in stats), default=0.0)
        spans = sorted({(own.start_s, own.end_s) for own in keys if own.n_rows})
        self._spans = spans
        self.total_s = sum(end - start for start, end in spans)

    def find_windows(self) -> dict[int, list[float]]:
        """Return the starts of the windows to use, by length, without lengths that have too few."""
        most = MAX_WINDOWS if self.n_series <= MANY_SERIES else MAX_WINDOWS // 2
        found: dict[int, list[float]] = {}
        for window_s in (*WINDOW_LENGTHS, HOUR_S):
            if window_s * MAX_PART > self.total_s * 1.01:
                continue
            n_series: dict[float, int] = {}
            for stat in self._stats:
                for sketch in stat.sketches:
                    own = [sketch.keys.start_s] if window_s == HOUR_S and sketch.is_hour else [
                        start_s for start_s, length_s in sketch.places if length_s == window_s
                    ]  # fmt: skip
                    for start_s in own:
                        n_series[start_s] = n_series.get(start_s, 0) + len(sketch.keys)
            # Where a tool paused, its series would be missing in the window.
            enough = max(n_series.values(), default=0) / 2
            starts = sorted(start_s for start_s, n in n_series.items() if n >= enough)
            chosen = self._spread(starts, window_s, most)
            if len(chosen) >= (ENOUGH_WINDOWS if found else MIN_WINDOWS):
                found[window_s] = chosen
        return found

    def merge_all(self) -> tuple[FloatArray, Summary]:
        """Return the level of each series, and the summary of the baseline as distances from it."""
        levels, wholes = np.zeros(self.n_series), []
        for number, stat in enumerate(self._stats):
            own = slice(int(self._offsets[number]), int(self._offsets[number + 1]))
            n = own.stop - own.start
            parts: list[tuple[FloatArray, Summary]] = []
            for sketch, rows in zip(stat.sketches, self._rows[number], strict=True):
                if len(sketch.keys):
                    parts.append((_spread_rows(sketch.keys.level, *rows, n), _place(sketch.whole, *rows, n)))
                if len(parts) == AT_ONCE:
                    parts = [_merge_levelled(parts, self.digit[own])]
            levels[own], whole = _merge_levelled(parts, self.digit[own])
            wholes.append(whole)
        return levels, concatenate(wholes)

    def window(self, start_s: float, window_s: int, level: FloatArray) -> Summary:
        """Return one window of all series. Missing: no report where a stat has none in it."""
        parts = []
        for number, stat in enumerate(self._stats):
            own = slice(int(self._offsets[number]), int(self._offsets[number + 1]))
            found = None
            for sketch, (source, target) in zip(stat.sketches, self._rows[number], strict=True):
                if sketch.keys.start_s <= start_s < sketch.keys.end_s:
                    summary = sketch.window(start_s, window_s)
                    if summary is not None:
                        moved = summary.take(source)
                        delta = sketch.keys.level[source] - level[own][target]
                        moved = rebase(moved, delta, self.digit[own][target])
                        found = _place(moved, slice(None), target, own.stop - own.start)
            parts.append(_nothing(own.stop - own.start) if found is None else found)
        return concatenate(parts)

    def bins(self, level: FloatArray) -> tuple[Float32Array, float]:
        """Return the means of bins in which some series has a value, as distances from the level, and the length of a bin.

        Shape: (n_series, n_bins). Missing: NaN
        """
        interval_s = max(
            (float(np.median([sketch.keys.interval_s for sketch in stat.sketches if sketch.keys.interval_s] or [0.0]))
             for stat in self._stats), default=0.0,
        )  # fmt: skip
        n_minutes = sum(int(np.ceil((end - start) / MINUTE_S)) for start, end in self._spans)
        per_bin = int(np.ceil(max(n_minutes / MAX_BINS, min(interval_s, MAX_BIN_S) / MINUTE_S, 1)))
        minutes = [np.arange(int(start // MINUTE_S), int(np.ceil(end / MINUTE_S))) for start, end in self._spans]
        # Consecutive minutes form a bin, also across a gap.
        numbers = distinct_values(np.concatenate(minutes)) // per_bin
        bins = distinct_values(numbers)
        total = np.zeros((self.n_series, len(bins)), np.float32)
        n = np.zeros((self.n_series, len(bins)), np.uint16)
        for number, stat in enumerate(self._stats):
            offset = int(self._offsets[number])
            for sketch, (source, target) in zip(stat.sketches, self._rows[number], strict=True):
                if not len(sketch.keys):
                    continue
                delta = sketch.keys.level[source] - level[offset + target]
                means = sketch.minutes[source] + delta[:, None].astype(np.float32)
                first = int(sketch.keys.start_s // MINUTE_S)
                place = np.searchsorted(bins, np.arange(first, first + means.shape[1]) // per_bin)
                # Minutes of one bin are consecutive.
                begins = np.flatnonzero(np.diff(place, prepend=-1))
                known = ~np.isnan(means)
                rows, columns = (offset + target)[:, None], place[begins][None, :]
                total[rows, columns] += np.add.reduceat(np.where(known, means, 0), begins, axis=1)
                n[rows, columns] += np.add.reduceat(known, begins, axis=1, dtype=np.uint16)
        with np.errstate(invalid="ignore"):
            found = np.where(n > 0, total / np.maximum(n, 1), np.nan).astype(np.float32)
        return found[:, (n > 0).any(axis=0)], float(per_bin * MINUTE_S)

    def named_digits(self) -> FloatArray:
        """Return the digit of each series from its field, else from its values."""
        digit = np.array(self.digit)
        for number, (own, stat) in enumerate(zip(self.series, self._stats, strict=True)):
            named = np.array([stat.digits.get(key, np.nan) for key in own.fields])[own.field]
            rows = slice(int(self._offsets[number]), int(self._offsets[number + 1]))
            digit[rows] = np.where(np.isnan(named), digit[rows], named)
        return digit

    def _find_digits(self) -> FloatArray:
        """Return the finest digit of any sketch; 0 where one has none."""
        digit = np.full(self.n_series, np.inf)
        for number, stat in enumerate(self._stats):
            for sketch, (source, target) in zip(stat.sketches, self._rows[number], strict=True):
                rows = int(self._offsets[number]) + target
                digit[rows] = np.minimum(digit[rows], sketch.keys.digit[source])
        return np.where(np.isinf(digit), 0.0, digit)

    def _spread(self, starts: Sequence[float], window_s: int, most: int) -> list[float]:
        """Return at most this many of the starts, evenly spread over the baseline."""
        if len(starts) <= most:
            return list(starts)
        begins = np.array([start for start, _ in self._spans])
        elapsed_before = np.concatenate([[0], np.cumsum([end - start for start, end in self._spans])])
        middles = np.array(starts) + window_s / 2
        span = np.searchsorted(begins, middles, side="right") - 1
        elapsed = elapsed_before[span] + middles - begins[span]
        wanted = (np.arange(most) + 0.5) / most * self.total_s
        after = np.clip(np.searchsorted(elapsed, wanted), 1, len(elapsed) - 1)
        nearest = np.where(wanted - elapsed[after - 1] < elapsed[after] - wanted, after - 1, after)
        return [starts[place] for place in distinct_values(nearest)]


Rows = tuple[np.ndarray, np.ndarray]


def _number(stats: Sequence[StatSketches]) -> tuple[tuple[StatSeries, ...], list[list[Rows]], int]:
    """Return the series of all sketches, the mapping of each sketch's series to them, and the number of series left out."""
    codes = [_codes_of(stat) for stat in stats]
    counted = [np.unique(np.concatenate(own), return_counts=True) for _, _, own in codes]
    # Those in most sketches, of whatever stat: thousands of short processes must not take the place of those that stay.
    by_sketches = np.argsort(-np.concatenate([n_sketches for _, n_sketches in counted]), kind="stable")
    is_chosen = np.zeros(len(by_sketches), np.bool_)
    is_chosen[by_sketches[:MAX_SERIES]] = True
    ends = np.cumsum([len(found) for found, _ in counted])
    series, all_rows = [], []
    for stat, (instances, keys, own), (all_found, _), end in zip(stats, codes, counted, ends.tolist(), strict=True):
        found = all_found[is_chosen[end - len(all_found) : end]]
        rows = []
        for code in own:
            place = np.searchsorted(found, code)
            is_kept = found[np.minimum(place, max(len(found) - 1, 0))] == code if len(found) else np.zeros(len(code), np.bool_)
            rows.append((np.flatnonzero(is_kept), place[is_kept]))
        all_rows.append(rows)
        series.append(StatSeries(stat.stat, instances, keys, found & 0xFFFFFFFF, found >> 32))
    return tuple(series), all_rows, max(0, len(by_sketches) - MAX_SERIES)


def _codes_of(stat: StatSketches) -> tuple[tuple[str, ...], tuple[str, ...], list[IntArray]]:
    """Return the instances and fields of all sketches, and the series of each sketch as numbers of both."""
    instances: dict[str, int] = {}
    keys: dict[str, int] = {}
    codes = []
    for sketch in stat.sketches:
        own = sketch.keys
        of_instance = np.array([instances.setdefault(name, len(instances)) for name in own.instances] or [0], np.int64)
        of_field = np.array([keys.setdefault(key, len(keys)) for key in own.fields] or [0], np.int64)
        codes.append((of_field[own.field] << 32) + of_instance[own.instance])
    return tuple(instances), tuple(keys), codes


def _families(series: Sequence[StatSeries]) -> IntArray:
    """Return the family of each series: the same field of a stat. Shape: (n_series,) codes"""
    codes = np.concatenate([(number << 32) + stat.field for number, stat in enumerate(series)] or [np.empty(0, np.int64)])
    return np.unique(codes, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _merge_levelled(parts: Sequence[tuple[FloatArray, Summary]], digit: FloatArray) -> tuple[FloatArray, Summary]:
    """Return one summary, and its level, from summaries of the same series with different levels."""
    level = _common_level(parts, digit)
    if len(parts) == 1:
        return parts[0]
    return level, merge([rebase(summary, np.nan_to_num(own - level), digit) for own, summary in parts])


def _common_level(parts: Sequence[tuple[FloatArray, Summary]], digit: FloatArray) -> FloatArray:
    """Return the median of all parts, rounded to a printed value. Missing: 0 where no part has a sample."""
    levels = np.stack([own for own, _ in parts], axis=1)
    if len(parts) == 1 or (levels == levels[:, :1]).all():
        return np.nan_to_num(levels[:, 0])
    points = np.concatenate([own[:, None] + summary.quantiles.astype(np.float64) for own, summary in parts], axis=1)
    n_points = parts[0][1].quantiles.shape[1]
    shares = np.ones(n_points)
    shares[[0, -1]] = 0.5
    weights = np.concatenate([summary.n[:, None] * shares for _, summary in parts], axis=1)
    weights = np.where(np.isnan(points), 0.0, weights)
    order = np.argsort(points, axis=1)
    reached = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    middle = np.minimum((reached < reached[:, -1:] / 2 * (1 - 1e-12)).sum(axis=1), points.shape[1] - 1)
    place = np.take_along_axis(order, middle[:, None], axis=1)
    found = np.nan_to_num(np.take_along_axis(points, place, axis=1)[:, 0])
    # Undo the rounding of four-byte distances, and of points between two samples.
    step = np.where(digit > 0, digit, 1.0)
    found = np.where(digit > 0, np.round(np.rint(found / step) * step, 6), found)
    return np.asarray(found, np.float64)


def _spread_rows(values: FloatArray, source: np.ndarray, target: np.ndarray, n: int) -> FloatArray:
    spread = np.full(n, np.nan)
    spread[target] = values[source]
    return spread


def _place(summary: Summary, source: np.ndarray | slice, target: np.ndarray, n: int) -> Summary:
    """Return the summary of n series from that of some; the others are missing in all reports."""
    found = _nothing(n)
    if len(target):
        found.n_reports[:] = summary.n_reports.max(initial=0)
        for field in fields(Summary):
            getattr(found, field.name)[target] = getattr(summary, field.name)[source]
    return found


def _nothing(n: int) -> Summary:
    """Return the summary of n series without samples, in a window without reports."""
    columns = {}
    for field in fields(Summary):
        like = getattr(TEMPLATE, field.name)
        columns[field.name] = np.full((n, *like.shape[1:]), np.nan if like.dtype.kind == "f" else 0, like.dtype)
    return Summary(**columns)
