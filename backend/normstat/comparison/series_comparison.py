"""Series without units, from anywhere: which of them changed more than they do by themselves."""

import re
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring.host_profile import Judged
from normstat.scoring.summary import FloatArray, IntArray

Verdict = Literal["unusual", "normal", "not-judged"]
# From this score on a series is unusual: less than one normal window in ten thousand has it.
UNUSUAL: Final = 4.7
NUMBER: Final = re.compile(r"\d+")


def compare_arrays(
    times_baseline: FloatArray,
    baseline: FloatArray,
    times_incident: FloatArray,
    incident: FloatArray,
    names: Sequence[str] | None = None,
) -> tuple[FloatArray, list[Verdict]]:
    """Return how unusual each series is in the incident: its score and the verdict.

    `names`: series whose names differ in their numbers only are a family, and judged by what is normal in it.
    Shape: times (n,) and (m,), seconds since the epoch, ascending; baseline (n_series, n), incident (n_series, m). Missing: NaN
    """
    families = np.zeros(len(baseline), np.int64) if names is None else families_of(names)
    _, judged = compare_blocks([Block(times_baseline, baseline, times_incident, incident)], families)
    return judged.score, verdicts_of(judged)


def families_of(names: Sequence[str]) -> IntArray:
    """Return codes of families: names that differ in their numbers only. Shape: -> (n_series,)"""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(NUMBER.sub("#", name), len(codes)) for name in names], np.int64)


def verdicts_of(judged: Judged) -> list[Verdict]:
    """Return the verdict of each series."""
    return [
        "not-judged" if not can_judge else "unusual" if score >= UNUSUAL else "normal"
        for can_judge, score in zip(judged.can_judge.tolist(), judged.score.tolist(), strict=True)
    ]
