"""Compare series without units: which of them changed more than their normal variation."""

import re
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring import significance as method
from normstat.scoring.host_profile import WindowScores
from normstat.scoring.summary import BoolArray, FloatArray, IntArray

# `likely`: it is not certain that the change is unusual; see `likely_of`. `appeared`: only the incident has the series.
Verdict = Literal["unusual", "likely", "normal", "appeared", "insufficient-data"]
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
    """Return the strength of each series' change, and the verdict.

    `names`: series whose names differ only in numbers are a family and share their calibration; `before`: instants and values of
    the time right before the incident.
    Shape: times (n,) and (m,), seconds since the epoch, ascending; baseline (n_series, n), incident (n_series, m). Missing: NaN
    """
    families = np.zeros(len(baseline), np.int64) if names is None else families_of(names)
    times_before, values_before = (None, None) if before is None else before
    block = Block(times_baseline, baseline, times_incident, incident, times_before=times_before, before=values_before)
    _, scores = compare_blocks([block], families)
    return scores.strength, verdicts_of(scores)


def unusual_of(scores: WindowScores) -> BoolArray:
    """Return which series are unusual: their change is rare and strong, or very rare. Shape: -> (n_series,)

    A move of a few times the normal variation is not chance, even where the baseline is too short to say how rare it is. A
    series that never moved has no normal variation, so its first move is judged by how rare it is alone. One that moved no more
    than it usually does is not strong because the load of the host moved.
    """
    has_moved = scores.change_ratios[: method.LOAD].max(axis=0, initial=0) >= 1
    is_strong = has_moved & (scores.strength >= method.STRONG)
    enough = np.where(is_strong, method.LIKELY, method.VERY_RARE)
    return np.asarray(scores.significance >= np.where(scores.is_constant, method.UNUSUAL, enough), np.bool_)


def likely_of(scores: WindowScores) -> BoolArray:
    """Return which series are likely unusual at least: rare, or very rare but for the load that explains them, or without a sample
    in the baseline's range. A range that the baseline never touched is not normal, even where that may be by chance.

    Shape: -> (n_series,)
    """
    alone: FloatArray = scores.kind_significance[: method.LOAD].max(axis=0, initial=0)
    return (scores.significance >= method.LIKELY) | (alone >= UNUSUAL) | scores.is_disjoint


def families_of(names: Sequence[str]) -> IntArray:
    """Return codes of families: names that differ only in numbers. Shape: -> (n_series,)"""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(NUMBER.sub("#", name), len(codes)) for name in names], np.int64)


def verdicts_of(scores: WindowScores) -> list[Verdict]:
    """Return the verdict of each series."""
    verdicts = np.full(len(scores.significance), "normal", dtype=object)
    verdicts[likely_of(scores)] = "likely"
    verdicts[unusual_of(scores)] = "unusual"
    verdicts[~scores.has_enough_data] = "insufficient-data"
    return verdicts.tolist()
