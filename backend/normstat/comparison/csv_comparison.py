"""Compare two files of long CSV: metrics in blocks that share their instants, scored by the same method as hosts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.long_csv import LongTable, names_of
from normstat.comparison.series_comparison import UNUSUAL, Verdict, families_of, verdicts_of
from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.runtime.arrays import distinct_values
from normstat.scoring.contamination import find_contaminated, find_ends, find_moments
from normstat.scoring.host_profile import MIN_BASELINE
from normstat.scoring.significance import appearance_significance
from normstat.scoring.summary import FloatArray, IntArray

# A metric shares the common grid if at most this share of the instants is off it.
MAX_ODD: Final = 0.02
# Intervals whose ratio is below this count as equal.
SAME_INTERVAL: Final = 1.1
# A gap of more than this many usual intervals separates two pieces of the baseline.
MAX_STEPS: Final = 3.0
# A baseline is cut into about this many bins, none longer than the incident.
N_BINS: Final = 128
NOTHING: Final = np.empty(0)

Samples = tuple[FloatArray, FloatArray]
# Baseline, incident, and the time right before the incident.
Sides = tuple[Samples, Samples, Samples]


@dataclass(frozen=True, slots=True)
class MetricScore:
    """The score of a metric. Missing: strength 0 where the data is insufficient.

    `strength`: how far it moved and how rare that is, which orders them; of one that appeared its significance
    """

    metric: str
    strength: float
    verdict: Verdict


def compare_tables(baseline: LongTable, incident: LongTable, before: LongTable | None = None) -> list[MetricScore]:
    """Return every metric of both files once: the strongest change first, those with insufficient data last.

    A metric of the incident that the baseline does not have has the significance of its appearance as its strength.
    `before`: the time right before the incident
    """
    names = names_of([baseline, incident])
    sides = baseline.series(), incident.series(), {} if before is None else before.series()
    nothing: Samples = (NOTHING, NOTHING)
    series: dict[str, Sides] = {
        name: (sides[0].get(name, nothing), sides[1].get(name, nothing), sides[2].get(name, nothing)) for name in names
    }
    # Metrics with a shorter baseline, or none, are not scored, and must not affect the others.
    scored = [name for name in names if np.isfinite(series[name][0][1]).sum() >= MIN_BASELINE]
    result: list[MetricScore] = []
    if scored:
        groups = _group_by_interval({name: series[name] for name in scored})
        series |= _without_contamination(series, groups)
        ordered = [name for group in groups for name in group]
        _, scores = compare_blocks([_to_block([series[name] for name in group]) for group in groups], families_of(ordered))
        result = [
            MetricScore(name, strength, verdict)
            for name, strength, verdict in zip(ordered, scores.strength.tolist(), verdicts_of(scores), strict=True)
        ]
    result += _judge_appeared(series)
    listed = {item.metric for item in result}
    result += [MetricScore(name, 0.0, "insufficient-data") for name in names if name not in listed]
    return sorted(result, key=lambda item: (item.verdict == "insufficient-data", -item.strength, item.metric))


def _without_contamination(series: dict[str, Sides], groups: Sequence[Sequence[str]]) -> dict[str, Sides]:
    """Return the metrics with samples missing where the baseline shows the incident, or at its ends is like nothing else in it.

    The metrics of the commonest interval judge.
    """
    block = _to_block([series[name] for name in max(groups, key=len)])
    times = block.times_baseline
    steps = np.diff(times)
    pieces = np.split(np.arange(len(times)), 1 + np.flatnonzero(steps > MAX_STEPS * np.median(steps))) if len(steps) else []
    # Single samples of a long baseline say little.
    size = max(1, min(len(times) // N_BINS, len(block.times_incident)))
    of_pieces = [np.array_split(piece, max(1, len(piece) // size)) for piece in pieces]
    bins = [bin_ for of_piece in of_pieces for bin_ in of_piece]
    codes = find_contaminated(_means(block.baseline, bins), block.incident)
    is_foreign = find_moments(codes, len(block.times_incident) // size)
    begin = 0
    for of_piece in of_pieces:
        end = begin + len(of_piece)
        first, last = find_ends(codes[begin:end])
        is_foreign[begin : begin + first] = is_foreign[end - last : end] = True
        begin = end
    spans = [(float(times[bins[at][0]]), float(times[bins[at][-1]])) for at in np.flatnonzero(is_foreign).tolist()]
    if not spans:
        return {}
    kept: dict[str, Sides] = {}
    for name, ((own, values), incident, before) in series.items():
        left = np.copy(values)
        for start, last_s in spans:
            left[(own >= start) & (own <= last_s)] = np.nan
        if np.isfinite(left).sum() >= MIN_BASELINE:
            kept[name] = ((own, left), incident, before)
    return kept


def _means(values: FloatArray, bins: Sequence[IntArray]) -> FloatArray:
    """Return the mean of each series in each bin, places of columns. Missing: NaN without a value. Shape: -> (n_series, n_bins)"""
    begins = [int(bin_[0]) for bin_ in bins]
    sums = np.add.reduceat(np.nan_to_num(values), begins, axis=1)
    counts = np.add.reduceat(np.isfinite(values), begins, axis=1, dtype=np.float64)
    return np.asarray(sums / np.where(counts, counts, np.nan), np.float64)


def _judge_appeared(series: dict[str, Sides]) -> list[MetricScore]:
    """Return the metrics that only the incident has. A metric in the time right before it is not new either."""
    known = {name: sides[0][0] for name, sides in series.items() if np.isfinite(sides[0][1]).any()}
    new = [
        name
        for name, (baseline, incident, before) in series.items()
        if len(known) and not np.isfinite(baseline[1]).any() and np.isfinite(incident[1]).any() and not np.isfinite(before[1]).any()
    ]
    if not new:
        return []
    families = families_of([*known, *new])
    n_families = int(families[: len(known)].max()) + 1
    start, end = min(float(times[0]) for times in known.values()), max(float(times[-1]) for times in known.values())
    firsts = [float(sides[1][0][0]) for sides in series.values() if len(sides[1][0])]
    lasts = [float(sides[1][0][-1]) for sides in series.values() if len(sides[1][0])]
    interval = max(_interval(sides) for sides in series.values())
    length = max(max(lasts) - min(firsts) + interval, interval) or 1.0
    windows = np.array([int((float(times[0]) - start) // length) for times in known.values()])
    # A metric with samples in the first window may have existed long before.
    appeared = {(family, window) for family, window in zip(families.tolist(), windows.tolist(), strict=False) if window}
    n_with_new = np.bincount([family for family, _ in appeared], minlength=n_families).astype(float)
    codes = np.where(families[len(known) :] < n_families, families[len(known) :], -1)
    scores = appearance_significance(n_with_new, (end - start + interval) / length, codes).tolist()
    return [
        MetricScore(name, score, "unusual" if score >= UNUSUAL else "appeared") for name, score in zip(new, scores, strict=True)
    ]


def _group_by_interval(series: dict[str, Sides]) -> list[list[str]]:
    """Return metrics of about the same interval together. On a common grid a missing sample can be seen."""
    intervals = {name: _interval(sides) for name, sides in series.items()}
    groups: list[list[str]] = []
    last = 0.0
    for name in sorted(series, key=lambda item: intervals[item]):
        if not groups or intervals[name] > SAME_INTERVAL * last:
            groups.append([])
            last = intervals[name]
        groups[-1].append(name)
    return groups


def _interval(sides: Sides) -> float:
    times = sides[0][0] if len(sides[0][0]) > 1 else sides[1][0]
    return float(np.median(np.diff(times))) if len(times) > 1 else 0.0


def _to_block(series: Sequence[Sides]) -> Block:
    one, other, (times_before, before) = (_to_grid([sides[side] for sides in series]) for side in (0, 1, 2))
    return Block(*one, *other, times_before=times_before, before=before)


def _to_grid(samples: Sequence[Samples]) -> tuple[FloatArray, FloatArray]:
    """Return all instants, and the values at them. Missing: NaN. Shape: -> (n_instants,), (n_series, n_instants)"""
    lengths = [len(times) for times, _ in samples]
    longest = max(lengths, default=0)
    if longest == 0:
        return NOTHING, np.empty((len(samples), 0))
    common = distinct_values(np.concatenate([times for times, _ in samples]))
    if len(common) > (1 + MAX_ODD) * longest:
        snapped = _snap(samples, common)
        if snapped is not None:
            return snapped
    result = np.full((len(samples), len(common)), np.nan)
    for row, (times, values) in enumerate(samples):
        result[row, np.searchsorted(common, times)] = values
    if np.isfinite(result).mean() >= 0.5:
        return common, result
    return _in_order(samples, longest)


def _snap(samples: Sequence[Samples], common: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return jittered instants snapped to a grid of their interval. Missing: None where two samples of a metric would collide."""
    steps = [float(np.median(np.diff(times))) for times, _ in samples if len(times) > 1]
    interval = float(np.median(steps)) if steps else 0.0
    if interval <= 0:
        return None
    start = float(common[0])
    places = [np.rint((times - start) / interval).astype(np.int64) for times, _ in samples]
    if any(len(distinct_values(place)) < len(place) for place in places):
        return None
    n = int(max(place[-1] for place in places if len(place))) + 1
    if n > 2 * max(map(len, places)):
        return None
    result = np.full((len(samples), n), np.nan)
    for row, ((_, values), place) in enumerate(zip(samples, places, strict=True)):
        result[row, place] = values
    filled = np.isfinite(result).any(axis=0)
    # Leave out places where no metric has a sample.
    return (start + interval * np.arange(n))[filled], result[:, filled]


def _in_order(samples: Sequence[Samples], longest: int) -> tuple[FloatArray, FloatArray]:
    """Return metrics without common instants: the samples of each in their order, spread evenly over the grid.

    So are the empty places of a metric with fewer samples, and every window has its share of them.
    """
    begin = min(times[0] for times, _ in samples if len(times))
    end = max(times[-1] for times, _ in samples if len(times))
    result = np.full((len(samples), longest), np.nan)
    for row, (_, values) in enumerate(samples):
        if len(values):
            result[row, np.linspace(0, longest - 1, len(values)).astype(np.intp)] = values
    return np.linspace(begin, end, longest), result
