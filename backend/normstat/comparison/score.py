"""Score all series of a host at once: against samples of the baseline, or against a stored profile."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np

from normstat.comparison.findings.classify import SeriesIdentity
from normstat.comparison.read_side import StatSide
from normstat.profiles.adhoc_profile import (
    BeforeSource,
    Block,
    BlockSource,
    before_of,
    compare_sources,
    event_size_of,
    relative,
)
from normstat.profiles.sketch_builder import SPARSE_SHARE
from normstat.profiles.stored_profile import LoadedProfile, SeriesKey
from normstat.runtime import work_budget
from normstat.scoring.bins import Edges, fill_bins
from normstat.scoring.earlier_episodes import marks_of
from normstat.scoring.host_profile import Before, HostProfile, WindowScores, score_window
from normstat.scoring.load_model import to_log
from normstat.scoring.summary import Float32Array, FloatArray, Summary, concatenate, summarise
from normstat.stats.spec import Field, Kind, Storage, Worse
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class StatPair:
    """Both sides of a stat; `baseline` is None where a profile replaces it.

    `before`: the time right before the incident, None where it is not looked at
    """

    fields: Mapping[str, Field]
    baseline: StatSide | None
    incident: StatSide
    before: StatSide | None = None


@dataclass(frozen=True, slots=True)
class ScoredSeries:
    """The series with their scores. Shape: series (n_series,) in the order of `profile` and `scores`"""

    series: Sequence[SeriesIdentity]
    profile: HostProfile
    scores: WindowScores


NO_TIMES: Final[FloatArray] = np.empty(0)
T_ = TypeVar("T_")
# Maximum number of values in a matrix: it and what is made of it are small beside the columns, and mostly stay in the CPU's cache.
CELLS_AT_ONCE: Final = 1 << 18
# numpy adds up a single row in another order than several, which shows in the seventh digit.
MIN_ROWS_AT_ONCE: Final = 8


def score_samples(stats: Sequence[StatPair]) -> ScoredSeries | None:
    """Score the series with samples on both sides. Missing: None if there are none."""
    sources: list[BlockSource] = []
    series: list[SeriesIdentity] = []
    families: list[int] = []
    codes: dict[tuple[str, str], int] = {}
    for stat in stats:
        if stat.baseline is None or not stat.baseline.n_rows or not stat.incident.n_rows:
            continue
        counts = [dict(zip(side.names, side.counts().tolist(), strict=True)) for side in (stat.baseline, stat.incident)]
        both = [name for name in stat.baseline.names if name in counts[1]]
        n_reports = [len(side.times_s) for side in (stat.baseline, stat.incident)]
        for sparse in (False, True):
            some = [
                name
                for name in both
                if all(count[name] < SPARSE_SHARE * n for count, n in zip(counts, n_reports, strict=True)) == sparse
            ]
            keys = [key for key in stat.fields if key in stat.baseline.values and key in stat.incident.values]
            rows = [(name, key) for key in keys for name in some]
            if not rows:
                continue
            sources += _to_sources(stat.baseline, stat, rows, sparse=sparse)
            series += [SeriesIdentity(stat.incident.stat.name, name, stat.fields[key]) for name, key in rows]
            families += [codes.setdefault((stat.incident.stat.name, key), len(codes)) for _, key in rows]
    if not sources:
        return None
    profile, scores = compare_sources(sources, np.array(families, np.int64))
    return ScoredSeries(series, profile, scores)


def _to_sources(baseline: StatSide, stat: StatPair, rows: Sequence[tuple[str, str]], *, sparse: bool) -> list[BlockSource]:
    """Return blocks of these series that are made some at a time."""
    sides = [side for side in (baseline, stat.incident, stat.before) if side is not None and side.n_rows]
    widths = [side.longest(rows) if sparse else len(side.times_s) for side in sides]
    # Packed samples have no common instants: spread them evenly over the side.
    times = [
        np.linspace(side.times_s[0], side.times_s[-1], width) if sparse else side.times_s
        for side, width in zip(sides, widths, strict=True)
    ]
    own = [side.series for side in sides]

    def make(some: Sequence[tuple[str, str]]) -> Block:
        values = [each.packed(some, width) if sparse else each.grid(some) for each, width in zip(own, widths, strict=True)]
        digit = np.array([10.0 ** -stat.fields[key].decimals for _, key in some])
        is_percent = np.array([stat.fields[key].kind is Kind.PERCENT for _, key in some], np.bool_)
        before = (times[2], values[2]) if len(own) > 2 else (None, None)
        return Block(times[0], values[0], times[1], values[1], digit, is_percent, *before)

    times_before = times[2] if len(own) > 2 else np.empty(0)
    return [BlockSource(times[0], times[1], times_before, partial(make, some)) for some in _in_parts(rows, max(widths))]


def score_with_profile(loaded: LoadedProfile, incident: Window, stats: Mapping[str, StatPair]) -> ScoredSeries | None:
    """Score the series of a stored profile. Missing: None where the profile has none."""
    profile, keys = loaded.profile, loaded.series
    if not keys:
        return None
    rows_of: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        rows_of.setdefault(key.stat, []).append(row)
    longest_s = max(model.natural_change.length_s for model in profile.window_models)
    n_bins = max(1, round(incident.length_s / profile.bin_s)) if profile.bin_s else 1
    edges: Edges = (incident.start.timestamp(), profile.bin_s or 1.0, n_bins)
    parts = [
        part
        for name, rows in rows_of.items()
        for part in _parts_of(stats[name].incident if name in stats else None, keys, profile, rows)
    ]

    def measure(part: _Part) -> tuple[Summary, FloatArray, Float32Array]:
        distances, times = part.make(), part.times
        # The rhythm of an incident longer than the profile's windows is measured in pieces of their length.
        piece = round(part.n_reports * longest_s / incident.length_s) if len(times) else 0
        binned = fill_bins(distances, times, edges) if len(times) else np.full((len(part.rows), n_bins), np.nan, np.float32)
        return summarise(distances, part.n_reports, rhythm_piece=piece or None), event_size_of(distances), binned

    windows, sizes, bins = zip(*work_budget.in_threads(measure, parts), strict=True)
    back = np.argsort(np.array([row for part in parts for row in part.rows], np.intp))
    window, size, binned = concatenate(windows).take(back), np.concatenate(sizes)[back], np.concatenate(bins)[back]
    binned = binned[:, ~np.isnan(binned).all(axis=0)]
    bins_in_log = to_log(binned, profile.added) if binned.shape[1] else None
    before = _before(profile, window, keys, rows_of, stats)
    scores = score_window(profile, window, size, bins_in_log, incident.length_s, before=before)
    series = [SeriesIdentity(key.stat, key.instance, _field_of(stats, key)) for key in keys]
    return ScoredSeries(series, profile, scores)


def _before(
    profile: HostProfile,
    window: Summary,
    keys: Sequence[SeriesKey],
    rows_of: Mapping[str, Sequence[int]],
    stats: Mapping[str, StatPair],
) -> Before | None:
    """Return the time right before the incident in the order of the profile. Missing: None where it is not looked at."""
    sources: list[BeforeSource] = []
    order: list[int] = []
    marks = marks_of(profile.baseline, window)
    for name, rows in rows_of.items():
        pair = stats.get(name)
        n_incident = 0 if pair is None else len(pair.incident.times_s)
        for part in _parts_of(None if pair is None else pair.before, keys, profile, rows):
            order += part.rows
            sources.append(BeforeSource(part.times, part.width, n_incident, marks.take(np.array(part.rows, np.intp)), part.make))
    found = before_of(sources, profile.added[order], profile.bin_s)
    return None if found is None else found.take(np.argsort(np.array(order, np.intp)))


def _field_of(stats: Mapping[str, StatPair], key: SeriesKey) -> Field:
    """Return the field, or a stand-in for one that the host no longer has (and has no samples of)."""
    found = stats[key.stat].fields.get(key.field) if key.stat in stats else None
    if found is not None:
        return found
    return Field(key.field, key.field, key.field, "", "", Kind.GAUGE, Worse.NEITHER, 2, Storage.FLOAT8, "", "")


@dataclass(frozen=True, slots=True)
class _Part:
    """Some rows of a profile, whose samples come as distances from the level. Missing: times empty without common instants

    `width`: columns of the distances. Shape: make() (n_rows, width)
    """

    rows: list[int]
    width: int
    n_reports: int
    times: FloatArray
    make: Callable[[], Float32Array]


def _parts_of(side: StatSide | None, keys: Sequence[SeriesKey], profile: HostProfile, rows: Sequence[int]) -> Iterator[_Part]:
    """Yield the rows of a profile with the samples of a side, some at a time: dense series, then sparse ones."""
    if side is None or side.n_rows == 0:
        nothing = np.full((len(rows), 1), np.nan, np.float32)
        yield _Part(list(rows), 1, 0, NO_TIMES, lambda: nothing)
        return
    level, n_reports = profile.series_stats.level, len(side.times_s)
    counts = dict(zip(side.names, side.counts().tolist(), strict=True))
    series = side.series
    for sparse in (False, True):
        own = [row for row in rows if (counts.get(keys[row].instance, 0) < SPARSE_SHARE * n_reports) == sparse]
        # An empty column where there is no sample.
        width = max(1, max((counts.get(keys[row].instance, 0) for row in own), default=0)) if sparse else n_reports

        def make(some: Sequence[int], width: int = width, *, sparse: bool = sparse) -> Float32Array:
            pairs = [(keys[row].instance, keys[row].field) for row in some]
            return relative(series.packed(pairs, width) if sparse else series.grid(pairs), level[list(some)])

        for some in _in_parts(own, width):
            yield _Part(list(some), width, n_reports, NO_TIMES if sparse else side.times_s, partial(make, some))


def _in_parts(rows: Sequence[T_], width: int) -> Iterator[Sequence[T_]]:
    """Yield the rows in parts of about the same size, whose matrices have about CELLS_AT_ONCE values."""
    n_parts = -(-len(rows) // max(MIN_ROWS_AT_ONCE, CELLS_AT_ONCE // max(1, width)))
    bounds = [number * len(rows) // n_parts for number in range(n_parts + 1)] if n_parts else []
    for begin, end in pairwise(bounds):
        yield rows[begin:end]
