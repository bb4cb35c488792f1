"""Check a baseline before it is used: its ends may already show the incident, or a start or a pause."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from normstat.baselines.window_sets import Windows, length_s
from normstat.comparison.findings.coming_and_going import is_process_stat
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import StatPair
from normstat.runtime import work_budget
from normstat.runtime.readable import format_seconds
from normstat.scoring.contamination import LIKE_INCIDENT, NORMAL, Codes, find_contaminated, find_ends
from normstat.scoring.summary import FloatArray
from normstat.window import Window

# The baseline is cut into about this many bins, none shorter than a second.
N_BINS: Final = 64
# Enough series for the check; more would only take longer.
MAX_SERIES: Final = 2000


@dataclass(frozen=True, slots=True)
class CheckedBaseline:
    """The windows of a baseline without what is not normal at their ends. `notes`: what was left out and why"""

    windows: Windows
    notes: tuple[str, ...]


def check_baseline(baseline: Windows, incident: Window, stats: Sequence[StatPair]) -> CheckedBaseline:
    """Return the baseline without the ends that already show the incident, or are like nothing else in it."""
    bin_s = max(1.0, length_s(baseline) / N_BINS)
    edges = [_to_edges(window, bin_s) for window in baseline]
    of_incident = _to_edges(incident, bin_s)
    rows: list[FloatArray] = []
    rows_of_incident: list[FloatArray] = []
    for stat in stats:
        if stat.baseline is None or is_process_stat(stat.incident.stat.name):
            continue
        places = {name: row for row, name in enumerate(stat.incident.names)}
        both = [(row, places[name]) for row, name in enumerate(stat.baseline.names) if name in places]
        for field in stat.fields:
            work_budget.check()
            if field in stat.baseline.values and field in stat.incident.values and len(rows) < MAX_SERIES:
                before = np.concatenate([_means(stat.baseline, field, each) for each in edges], axis=1)
                within = _means(stat.incident, field, of_incident)
                rows += [before[row] for row, _ in both]
                rows_of_incident += [within[row] for _, row in both]
    if not rows:
        return CheckedBaseline(baseline, ())
    codes = find_contaminated(np.stack(rows), np.stack(rows_of_incident))
    return _trim(baseline, edges, codes)


def _to_edges(window: Window, bin_s: float) -> FloatArray:
    """Return the edges of the bins of a window, seconds since the epoch. Shape: (n_bins + 1,)"""
    n_bins = max(1, round(window.length_s / bin_s))
    return np.linspace(window.start.timestamp(), window.end.timestamp(), n_bins + 1)


def _means(side: StatSide, field: str, edges: FloatArray) -> FloatArray:
    """Return the means of a field by instance and bin. Missing: NaN without a sample. Shape: (n_instances, n_bins)"""
    values, n_bins = side.values[field], len(edges) - 1
    # A report covers the time before it.
    places = np.searchsorted(edges, side.times_s, side="left")[side.report] - 1
    is_in = (places >= 0) & (places < n_bins) & np.isfinite(values)
    where = side.instance[is_in].astype(np.int64) * n_bins + places[is_in]
    n = len(side.names) * n_bins
    sums, counts = np.bincount(where, weights=values[is_in], minlength=n), np.bincount(where, minlength=n)
    return np.asarray(sums / np.where(counts, counts, np.nan), np.float64).reshape(len(side.names), n_bins)


def _trim(baseline: Windows, edges: Sequence[FloatArray], codes: Codes) -> CheckedBaseline:
    kept: list[Window] = []
    notes: list[str] = []
    begin = 0
    for window, own in zip(baseline, edges, strict=True):
        n_bins = len(own) - 1
        found = codes[begin : begin + n_bins]
        begin += n_bins
        first, last = find_ends(found)
        step = timedelta(seconds=window.length_s / n_bins)
        for n, place, some in ((first, "first", found[:first]), (last, "last", found[n_bins - last :])):
            if n:
                notes.append(_describe(place, n * step.total_seconds(), some))
        kept.append(Window(window.start + first * step, window.end - last * step))
    return CheckedBaseline(tuple(kept), tuple(notes)) if notes else CheckedBaseline(baseline, ())


def _describe(place: str, seconds: float, codes: Codes) -> str:
    like_it, all_ = int((codes == LIKE_INCIDENT).sum()), int((codes != NORMAL).sum())
    why = "already show the incident" if 2 * like_it >= all_ else "are like nothing else in it"
    return f"The {place} {format_seconds(seconds)} of the baseline {why}: left out."
