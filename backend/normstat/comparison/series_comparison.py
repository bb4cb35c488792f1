"""Compare series without units: which of them changed more than their natural variability."""

import re
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring.host_profile import WindowScores
from normstat.scoring.summary import FloatArray, IntArray

Verdict = Literal["unusual", "normal", "insufficient-data"]
# From this significance on a series is unusual: fewer than one normal window in ten thousand reaches it.
UNUSUAL: Final = 4.7
NUMBER: Final = re.compile(r"\d+")


def compare_arrays(
    times_baseline: FloatArray,
    baseline: FloatArray,
    times_incident: FloatArray,
    incident: FloatArray,
    names: Sequence[str] | None = None,
) -> tuple[FloatArray, list[Verdict]]:
    """Return the significance of each series' change, and the verdict.

    `names`: series whose names differ only in numbers are a family and share their calibration.
    Shape: times (n,) and (m,), seconds since the epoch, ascending; baseline (n_series, n), incident (n_series, m). Missing: NaN
    """
    families = np.zeros(len(baseline), np.int64) if names is None else families_of(names)
    _, scores = compare_blocks([Block(times_baseline, baseline, times_incident, incident)], families)
    return scores.significance, verdicts_of(scores)


def families_of(names: Sequence[str]) -> IntArray:
    """Return codes of families: names that differ only in numbers. Shape: -> (n_series,)"""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(NUMBER.sub("#", name), len(codes)) for name in names], np.int64)


def verdicts_of(scores: WindowScores) -> list[Verdict]:
    """Return the verdict of each series."""
    return [
        "insufficient-data" if not has_enough_data else "unusual" if significance >= UNUSUAL else "normal"
        for has_enough_data, significance in zip(scores.has_enough_data.tolist(), scores.significance.tolist(), strict=True)
    ]
