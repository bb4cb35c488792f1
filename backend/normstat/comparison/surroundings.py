"""Host context: its CPUs and memory, and the instances that come and go in its baseline anyway."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from normstat.comparison.findings.coming_and_going import Surroundings
from normstat.comparison.ledger.sources import MEMORY_TOTALS
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import ScoredSeries, StatPair
from normstat.comparison.unscored_series import MIN_BASELINE, MIN_INCIDENT
from normstat.runtime.units import BYTES
from normstat.stats.catalogue import load_catalogue
from normstat.stats.summaries import is_summary

# An instance in fewer of the baseline's reports comes and goes.
ALWAYS_THERE: Final = 0.9

Key = tuple[str, str]


def find_surroundings(stats: Sequence[StatPair], scored: ScoredSeries | None) -> Surroundings:
    """Return the surroundings of a host, from both sides of its stats. `scored`: also from the profile, where one was used"""
    come_and_go: dict[Key, float] = {}
    totals: dict[Key, float] = {}
    for stat in stats:
        if stat.baseline is not None:
            _add_samples(stat, come_and_go, totals)
    if scored is not None and any(stat.baseline is None for stat in stats):
        _add_profile(scored, come_and_go, totals)
    return Surroundings(
        count_cpus([stat.incident for stat in stats]), _memory_of(stats), come_and_go, totals, _find_long_enough(stats, scored)
    )


def _find_long_enough(stats: Sequence[StatPair], scored: ScoredSeries | None) -> frozenset[str]:
    """Return the stats with enough reports on both sides: a single one does not show what comes and goes."""
    n_baseline: dict[str, int] = {}
    if scored is not None:
        for series, n in zip(scored.series, scored.profile.baseline.n_reports.tolist(), strict=True):
            n_baseline[series.stat] = max(n_baseline.get(series.stat, 0), n)
    for stat in stats:
        if stat.baseline is not None:
            n_baseline[stat.incident.stat.name] = len(stat.baseline.times_s)
    return frozenset(
        name
        for name, n_incident in ((stat.incident.stat.name, len(stat.incident.times_s)) for stat in stats)
        if n_baseline.get(name, 0) >= MIN_BASELINE and n_incident >= MIN_INCIDENT
    )


def _add_samples(stat: StatPair, come_and_go: dict[Key, float], totals: dict[Key, float]) -> None:
    side = stat.baseline
    assert side is not None
    n_reports, n_window = len(side.times_s), max(1, len(stat.incident.times_s))
    for field, column in side.values.items():
        known = ~np.isnan(column)
        n = np.bincount(side.instance[known], minlength=len(side.names))
        sums = np.bincount(side.instance[known], weights=np.abs(column[known]), minlength=len(side.names))
        key = (side.stat.name, field)
        totals[key] = float(sums.sum()) / max(1, n_reports)
        # What the instance would weigh in a window as long as the incident.
        weights = sums / np.maximum(n, 1) * np.minimum(1.0, n / n_window)
        come_and_go[key] = float(weights[n < ALWAYS_THERE * n_reports].max(initial=0.0))


def _add_profile(scored: ScoredSeries, come_and_go: dict[Key, float], totals: dict[Key, float]) -> None:
    baseline, window = scored.profile.baseline, scored.scores.window
    means = np.abs(np.nan_to_num(baseline.mean) + scored.profile.series_stats.level)
    presence = baseline.n / np.maximum(baseline.n_reports, 1)
    in_window = np.minimum(1.0, baseline.n / np.maximum(window.n_reports, 1))
    for row, series in enumerate(scored.series):
        key = (series.stat, series.field.key)
        totals[key] = totals.get(key, 0.0) + float(means[row] * presence[row])
        if presence[row] < ALWAYS_THERE:
            come_and_go[key] = max(come_and_go.get(key, 0.0), float(means[row] * in_window[row]))


def count_cpus(sides: Sequence[StatSide]) -> int:
    """Return the number of CPUs that the stats of a host have samples of, at least 1."""
    known = load_catalogue().stats
    counts = [
        sum(not is_summary(side.stat.name, name) for name in side.names)
        for side in sides
        if side.stat.name in known and known[side.stat.name][1].instance_title == "CPU"
    ]
    return max([1, *counts])


def _memory_of(stats: Sequence[StatPair]) -> float:
    """Return the bytes of memory of the host. Missing: 0 where no stat has it."""
    by_stat = {stat.incident.stat.name: stat.incident.values for stat in stats}
    found = (source.total_kib(by_stat[source.stat]) for source in MEMORY_TOTALS if source.stat in by_stat)
    return next((total for total in found if total), 0.0) * BYTES["KiB"]
