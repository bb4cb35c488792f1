"""Build sketches from samples: levels, digits, summaries of the span and its windows, means of minutes; in bounded parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from normstat.profiles.sketch import MINUTE_S, WINDOW_LENGTHS, Sketch, SketchKeys, SketchWindow, window_starts
from normstat.runtime.arrays import distinct_values
from normstat.scoring.bins import fill_bins
from normstat.scoring.series_stats import digits_of, levels_of
from normstat.scoring.summary import Float32Array, FloatArray, IntArray, Summary, concatenate, summarise
from normstat.window import Window

# A distance of more than this many intervals is a gap, and not covered.
GAP_FACTOR: Final = 3
# Values processed at once.
MAX_CELLS: Final = 2_000_000
# An instance in a smaller share of the reports is sparse: only its samples count, not the reports without it.
SPARSE_SHARE: Final = 1 / 16
# Most series of a sketch: those with the most samples.
MAX_SERIES: Final = 20_000
# Most series processed for it: those of the instances with the most samples.
MAX_SERIES_MADE: Final = 80_000
SECOND_US: Final = 1_000_000

Column = Callable[[], FloatArray]


@dataclass(frozen=True, slots=True)
class StatRows:
    """Samples of a stat, ordered by time.

    Shape: time_us, instance (n,): codes into `instances`; values[field]() (n,), computed on call. Missing: NaN
    """

    time_us: IntArray
    instance: IntArray
    instances: Sequence[str]
    values: Mapping[str, Column]


def build_sketch(rows: StatRows, span: Window) -> Sketch:
    """Return the sketch of these samples, without series that have no value."""
    start_s, end_s = span.start.timestamp(), span.end.timestamp()
    times_us, report = np.unique(rows.time_us, return_inverse=True)
    n_rows = len(rows.time_us)
    rows, report, n_left_out = _leave_out_instances(rows, report.astype(np.int64).reshape(-1))
    grid = _Grid(rows, times_us / SECOND_US, report, start_s, end_s)
    parts = list(grid.make_parts())
    covered_us, interval_us = coverage_of(times_us)
    kept = [part for part in parts if len(part.level)]
    instance, field = _join([part.instance for part in kept], np.int64), _join([part.field for part in kept], np.int64)
    keys = SketchKeys(
        start_s,
        end_s,
        tuple(rows.instances),
        tuple(rows.values),
        instance,
        field,
        _join([part.level for part in kept], np.float64),
        _join([part.digit for part in kept], np.float64),
        n_rows,
        n_left_out,
        covered_us / SECOND_US,
        interval_us / SECOND_US,
    )
    if not kept:
        nothing = np.empty((0, 0), np.float32)
        return Sketch(keys, summarise(nothing), (), nothing)
    sketch = Sketch(
        keys,
        concatenate([part.whole for part in kept]),
        tuple(
            SketchWindow(cut.start_s, cut.length_s, concatenate([part.windows[number] for part in kept]))
            for number, cut in enumerate(grid.cuts)
        ),
        np.concatenate([part.minutes for part in kept]),
    )
    return sketch if len(keys) <= MAX_SERIES else _leave_out(sketch)


@dataclass(frozen=True, slots=True)
class _Cut:
    start_s: float
    length_s: int
    # The reports in it.
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class _Part:
    """Some of the series of a piece."""

    instance: IntArray
    field: IntArray
    level: FloatArray
    digit: FloatArray
    whole: Summary
    windows: Sequence[Summary]
    minutes: Float32Array


class _Grid:
    """Samples by report and instance: a row of a series has a column for each report."""

    def __init__(self, rows: StatRows, times_s: FloatArray, report: IntArray, start_s: float, end_s: float) -> None:
        self._rows = rows
        self._times_s = times_s
        # By instance, then by time: the samples of an instance are one piece of memory.
        self._order = np.argsort(rows.instance, kind="stable")
        self._instance, self._report = rows.instance[self._order], report[self._order]
        self._n_samples = np.bincount(rows.instance, minlength=len(rows.instances))
        first_minute = start_s // MINUTE_S * MINUTE_S
        self._edges = (first_minute, float(MINUTE_S), int(np.ceil((end_s - first_minute) / MINUTE_S - 1e-9)))
        places = [(start, window_s) for window_s in WINDOW_LENGTHS for start in window_starts(start_s, end_s, window_s)]
        cuts = [
            _Cut(start, window_s, *(int(at) for at in np.searchsorted(times_s, (start, start + window_s))))
            for start, window_s in places
        ]
        # A window without any report shows nothing.
        self.cuts = [cut for cut in cuts if cut.end > cut.first]

    def make_parts(self) -> Iterator[_Part]:
        """Yield the series in parts of bounded size."""
        n_reports = len(self._times_s)
        if n_reports == 0:
            return
        is_sparse = self._n_samples < SPARSE_SHARE * n_reports
        columns = list(enumerate(self._rows.values.values()))
        for sparse in (False, True):
            instances = np.flatnonzero((is_sparse == sparse) & (self._n_samples > 0))
            width = int(self._n_samples[instances].max(initial=1)) if sparse else n_reports
            at_once = max(1, MAX_CELLS // max(width, 1))
            for first in range(0, len(instances), at_once):
                some = instances[first : first + at_once]
                n_fields = max(1, at_once // len(some))
                for field in range(0, len(columns), n_fields):
                    yield self._make(some, columns[field : field + n_fields], is_sparse=sparse)

    def _make(self, instances: IntArray, columns: Sequence[tuple[int, Column]], *, is_sparse: bool) -> _Part:
        is_own = np.isin(self._instance, instances) if len(instances) < len(self._rows.instances) else slice(None)
        own = self._order[is_own]
        places = np.searchsorted(instances, self._instance[is_own])
        report = self._report[is_own]
        column = report
        if is_sparse:
            # Packed samples, without the reports that lack them.
            begins = np.searchsorted(places, np.arange(len(instances)))
            column = np.arange(len(places)) - begins[places]
        width = int(column.max(initial=-1)) + 1 if is_sparse else len(self._times_s)
        grid = np.full((len(columns), len(instances), width), np.nan)
        for number, (_, make) in enumerate(columns):
            grid[number, places, column] = make()[own]
        values = grid.reshape(-1, width)
        is_there = ~np.isnan(values).all(axis=1)
        values = values[is_there]
        level = levels_of(values)
        distances = np.asarray(values - level[:, None], np.float32)
        series = np.flatnonzero(is_there)
        part = _Part(
            instance=instances[series % len(instances)],
            field=np.array([number for number, _ in columns], np.int64)[series // len(instances)],
            level=level,
            digit=digits_of(values),
            whole=summarise(distances, len(self._times_s)),
            windows=[],
            minutes=np.empty((0, 0), np.float32),
        )
        if not is_sparse:
            windows = [summarise(distances[:, cut.first : cut.end]) for cut in self.cuts]
            return replace(part, windows=windows, minutes=fill_bins(distances, self._times_s, self._edges))
        at = np.full((len(instances), width), -1)
        at[places, column] = report
        reports = np.tile(at, (len(columns), 1))[is_there]
        windows = [_summarise_sparse(distances, reports, cut) for cut in self.cuts]
        return replace(part, windows=windows, minutes=self._minutes_of_sparse(distances, reports))

    def _minutes_of_sparse(self, distances: Float32Array, reports: IntArray) -> Float32Array:
        start, length, n_bins = self._edges
        bins = np.clip(((self._times_s - start) / length).astype(np.int64), 0, n_bins - 1)
        known = (reports >= 0) & ~np.isnan(distances)
        series = np.nonzero(known)[0]
        place = series * n_bins + bins[reports[known]]
        n = np.bincount(place, minlength=len(distances) * n_bins)
        total = np.bincount(place, weights=distances[known].astype(np.float64), minlength=len(distances) * n_bins)
        with np.errstate(invalid="ignore"):
            return np.where(n > 0, total / np.maximum(n, 1), np.nan).astype(np.float32).reshape(-1, n_bins)


def _summarise_sparse(distances: Float32Array, reports: IntArray, cut: _Cut) -> Summary:
    inside = (reports >= cut.first) & (reports < cut.end)
    width = int(inside.sum(axis=1).max(initial=0))
    values = np.full((len(distances), width), np.nan, np.float32)
    series = np.nonzero(inside)[0]
    begins = np.searchsorted(series, np.arange(len(distances)))
    values[series, np.arange(len(series)) - begins[series]] = distances[inside]
    return summarise(values, cut.end - cut.first)


def coverage_of(times: IntArray | FloatArray) -> tuple[float, float]:
    """Return the time that the reports cover, each up to the next one but at most the median distance after a gap, and that
    distance.

    Units: those of the times. Shape: times (n_reports,), ascending. Missing: 0 for fewer than two reports
    """
    distances = np.diff(times)
    if len(distances) == 0:
        return 0.0, 0.0
    usual = float(np.median(distances))
    return float(np.where(distances > GAP_FACTOR * usual, usual, distances).sum() + usual), usual


def _leave_out_instances(rows: StatRows, report: IntArray) -> tuple[StatRows, IntArray, int]:
    """Return the rows of the instances with the most samples, their reports, and the number of series left out.

    Each processed series takes some kilobytes, too much for hundreds of thousands.
    """
    most = max(1, MAX_SERIES_MADE // max(1, len(rows.values)))
    if len(rows.instances) <= most:
        return rows, report, 0
    n_samples = np.bincount(rows.instance, minlength=len(rows.instances))
    kept = np.sort(np.argsort(-n_samples, kind="stable")[:most])
    is_kept = np.zeros(len(rows.instances), np.bool_)
    is_kept[kept] = True
    chosen = is_kept[rows.instance]
    n_left_out = sum(len(distinct_values(rows.instance[~chosen & ~np.isnan(make())])) for make in rows.values.values())

    def take(make: Column) -> Column:
        return lambda: make()[chosen]

    small = StatRows(
        rows.time_us[chosen],
        np.searchsorted(kept, rows.instance[chosen]).astype(np.int64),
        [rows.instances[number] for number in kept.tolist()],
        {key: take(make) for key, make in rows.values.items()},
    )
    return small, report[chosen], n_left_out


def _leave_out(sketch: Sketch) -> Sketch:
    """Return the series with the most samples, in their order."""
    keep = np.sort(np.argsort(-sketch.whole.n, kind="stable")[:MAX_SERIES])
    keys = sketch.keys
    return Sketch(
        replace(
            keys,
            instance=keys.instance[keep],
            field=keys.field[keep],
            level=keys.level[keep],
            digit=keys.digit[keep],
            n_left_out=keys.n_left_out + len(keys) - len(keep),
        ),
        sketch.whole.take(keep),
        tuple(replace(window, summary=window.summary.take(keep)) for window in sketch.windows),
        sketch.minutes[keep],
    )


def join_fields(sketches: Sequence[Sketch]) -> Sketch:
    """Return one sketch from those of different fields of the same samples."""
    if len(sketches) == 1:
        return sketches[0]
    offsets = np.cumsum([0, *(len(sketch.keys.fields) for sketch in sketches)])
    kept = [(sketch, int(offset)) for sketch, offset in zip(sketches, offsets, strict=False) if len(sketch.keys)]
    keys = replace(
        sketches[0].keys,
        fields=tuple(key for sketch in sketches for key in sketch.keys.fields),
        instance=_join([sketch.keys.instance for sketch, _ in kept], np.int64),
        field=_join([sketch.keys.field + offset for sketch, offset in kept], np.int64),
        level=_join([sketch.keys.level for sketch, _ in kept], np.float64),
        digit=_join([sketch.keys.digit for sketch, _ in kept], np.float64),
        n_left_out=sum(sketch.keys.n_left_out for sketch in sketches),
    )
    if not kept:
        return replace(sketches[0], keys=keys)
    windows = tuple(
        replace(window, summary=concatenate([sketch.windows[number].summary for sketch, _ in kept]))
        for number, window in enumerate(kept[0][0].windows)
    )
    whole = concatenate([sketch.whole for sketch, _ in kept])
    return Sketch(keys, whole, windows, np.concatenate([sketch.minutes for sketch, _ in kept]))


def _join(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype)
