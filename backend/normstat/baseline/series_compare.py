"""Series without names or units, from anywhere: which of them changed more than they do by themselves."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from normstat.baseline.bins import Edges, choose_edges, fill_bins
from normstat.baseline.direct import profile_of, relative
from normstat.baseline.follow import learn, log_scale_of, to_log
from normstat.baseline.judge import FOLLOW, Judged, judge, judge_together, normal_windows
from normstat.baseline.summary import Float32Array, FloatArray, IntArray
from normstat.baseline.yardstick import VALUE, ORDER, TOP, BOTTOM, LOW, HIGH, STEP, PART, TREND, JITTER, STILL, SPREAD, MISSING
from normstat.baseline.surprise import Calibration, calibrate

Verdict = Literal["unusual", "normal", "not-judged"]
# One normal window in so many (as a decimal logarithm) changes as much.
UNUSUAL: Final = 5.0
SECOND: Final = float(os.environ.get("SECOND", "0.3"))
EXPLAINED: Final = float(os.environ.get("EXPLAINED", "0.5"))
OF_LOAD: Final = (VALUE, ORDER, TOP, BOTTOM, LOW, HIGH, STEP, PART, TREND)
GROUPS: Final = ((VALUE, ORDER, PART, TREND, FOLLOW), (TOP, BOTTOM, LOW, HIGH), (STEP, JITTER, STILL, SPREAD), (MISSING,))
NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Block:
    """Series that share their instants. Missing: NaN.

    Shape: times_baseline (n,), times_incident (m,), seconds, ascending; baseline (n_series, n), incident (n_series, m)
    """

    times_baseline: FloatArray
    baseline: FloatArray
    times_incident: FloatArray
    incident: FloatArray


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of the series of all blocks, in their order. Shape: surprise (n_kinds + 1, n_series), score (n_series,)"""

    judged: Sequence[Judged]
    surprise: FloatArray
    score: FloatArray
    can_judge: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of each series."""
        return [
            "not-judged" if not can_judge else "unusual" if score >= UNUSUAL else "normal"
            for can_judge, score in zip(self.can_judge.tolist(), self.score.tolist(), strict=True)
        ]


def compare_arrays(
    times_baseline: FloatArray,
    baseline: FloatArray,
    times_incident: FloatArray,
    incident: FloatArray,
    names: Sequence[str] | None = None,
) -> tuple[FloatArray, list[Verdict]]:
    """How unusual each series is in the incident: its score and the verdict.

    `names`: series whose names differ in their numbers only are a family, and judged by what is normal in it.
    Shape: times (n,) and (m,), seconds since the epoch, ascending; baseline (n_series, n), incident (n_series, m). Missing: NaN
    """
    families = np.zeros(len(baseline), np.int64) if names is None else families_of(names)
    answer = compare_blocks([Block(times_baseline, baseline, times_incident, incident)], families)
    return answer.score, answer.verdicts


def families_of(names: Sequence[str]) -> IntArray:
    """Codes of families: names that differ in their numbers only. Shape: -> (n_series,)"""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(NUMBER.sub("#", name), len(codes)) for name in names], np.int64)


def compare_blocks(blocks: Sequence[Block], families: IntArray) -> Answer:
    """Each series by itself, and all of them together. Shape: families (n_series,), codes, over the series of all blocks"""
    judged: list[Judged] = []
    normal: list[Float32Array] = []
    bins: list[Float32Array] = []
    bins_now: list[Float32Array] = []
    edges = _edges(blocks)
    for block in blocks:
        n_now = block.incident.shape[1]
        profile = profile_of(block.baseline, n_now)
        distances = relative(block.incident, profile.traits.level)
        # The yardstick was made for windows of just this length.
        [usual] = profile.usual
        judged.append(judge(profile, usual, distances))
        normal.append(normal_windows(profile, usual, n_now))
        if edges is not None:
            before = fill_bins(relative(block.baseline, profile.traits.level), block.times_baseline, edges[0])
            scale = log_scale_of(before, profile.traits)
            bins.append(to_log(before, scale))
            bins_now.append(to_log(fill_bins(distances, block.times_incident, edges[1]), scale))
    n_windows = min(map(len, normal))
    calibration = calibrate(np.concatenate([times[:n_windows] for times in normal], axis=2), families)
    if edges is None:
        return _answer(judged, calibration, None, families)
    together, now = np.concatenate(bins), np.concatenate(bins_now)
    together = together[:, ~np.isnan(together).all(axis=0)]
    now = now[:, ~np.isnan(now).all(axis=0)]
    follow = learn(together, now.shape[1]) if now.shape[1] else None
    if follow is None:
        return _answer(judged, calibration, None, families)
    judged, normal_left = judge_together(judged, follow, now)
    return _answer(judged, calibration, calibrate(normal_left[:, None, :], families), families)


def combine(surprise: FloatArray, explained: FloatArray) -> FloatArray:
    """One number for each series: what surprises most, a little more where several things do, less where the load explains it."""
    surprise = surprise.copy()
    surprise[list(OF_LOAD)] *= 1 - EXPLAINED * explained
    groups = np.stack([surprise[list(group)].max(axis=0) for group in GROUPS])
    groups.sort(axis=0)
    return groups[-1] + SECOND * groups[-2]


def _answer(
    judged: Sequence[Judged], calibration: Calibration, following: Calibration | None, families: IntArray
) -> Answer:
    times = np.concatenate([item.times for item in judged], axis=1)
    surprise = np.zeros(times.shape)
    surprise[:FOLLOW] = calibration.surprise(times[:FOLLOW], families)
    if following is not None:
        surprise[FOLLOW:] = following.surprise(times[FOLLOW:], families)
    can_judge = np.concatenate([item.can_judge for item in judged])
    explained = np.concatenate([item.explained for item in judged])
    return Answer(judged, surprise, np.where(can_judge, combine(surprise, explained), 0), can_judge)


def _edges(blocks: Sequence[Block]) -> tuple[Edges, Edges] | None:
    baseline = [block.times_baseline for block in blocks if len(block.times_baseline) > 1]
    incident = [block.times_incident for block in blocks if len(block.times_incident)]
    return choose_edges(baseline, incident) if baseline and incident else None
