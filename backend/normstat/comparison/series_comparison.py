"""Compare series without units: which of them changed more than their natural variability."""

import re
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring import significance as method
from normstat.scoring.host_profile import WindowScores
from normstat.scoring.summary import FloatArray, IntArray

# `explained-by-load`, `out-of-range`: all samples lie outside the baseline's range, but the change is not unusual, because the load
# explains most of it, or because the samples are few or the distance is small.
# `appeared`: only the incident has the series.
Verdict = Literal["unusual", "explained-by-load", "out-of-range", "normal", "appeared", "insufficient-data"]
EXPLAINED: Final = 0.5
UNUSUAL: Final = method.UNUSUAL
NUMBER: Final = re.compile(r"\d+")


def compare_arrays(
    times_baseline: FloatArray,
    baseline: FloatArray,
    times_incident: FloatArray,
    incident: FloatArray,
    names: Sequence[str] | None = None,
    *,
    before: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[FloatArray, list[Verdict]]:
    """Return the significance of each series' change, and the verdict.

    `names`: series whose names differ only in numbers are a family and share their calibration; `before`: instants and values of
    the time right before the incident.
    Shape: times (n,) and (m,), seconds since the epoch, ascending; baseline (n_series, n), incident (n_series, m). Missing: NaN
    """
    families = np.zeros(len(baseline), np.int64) if names is None else families_of(names)
    times_before, values_before = (None, None) if before is None else before
    block = Block(times_baseline, baseline, times_incident, incident, times_before=times_before, before=values_before)
    _, scores = compare_blocks([block], families)
    return scores.significance, verdicts_of(scores)


def families_of(names: Sequence[str]) -> IntArray:
    """Return codes of families: names that differ only in numbers. Shape: -> (n_series,)"""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(NUMBER.sub("#", name), len(codes)) for name in names], np.int64)


def verdicts_of(scores: WindowScores) -> list[Verdict]:
    """Return the verdict of each series. One whose samples all lie outside the baseline's range is never `normal`."""
    verdicts = np.full(len(scores.significance), "normal", dtype=object)
    verdicts[scores.is_disjoint] = "out-of-range"
    verdicts[scores.is_disjoint & (scores.explained_by_load >= EXPLAINED)] = "explained-by-load"
    verdicts[scores.significance >= UNUSUAL] = "unusual"
    verdicts[~scores.has_enough_data] = "insufficient-data"
    return verdicts.tolist()
