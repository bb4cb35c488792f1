"""Score the minutes of many hosts: how far the means of the last 1, 5 and 15 minutes are from normal. Pure.

A series is scored as a finding of a comparison is: by how many change scales it is outside its band, and by how much there is more
or less of it. The score of a subsystem is that of its highest series.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from normstat.comparison.findings.classify import BETTER_FACTOR, DECADES, HALF_GRADE, MIN_IMPACT_FACTOR, UNBOUNDED_IMPACT
from normstat.query.minute_means import Float32Array
from normstat.scoring.summary import FloatArray
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.watch.scores.host_bands import NOT_SCORED, SUBSYSTEMS, StatBands

# Minutes of the windows that end with each minute.
LENGTHS: Final = (1, 5, 15)
N_LENGTHS: Final = len(LENGTHS)
# The window whose highest series are kept.
KEPT_LENGTH: Final = LENGTHS.index(5)
# Findings below this anomaly score are not kept.
MIN_KEPT: Final = 0.1
# A change of this share of the total is ignored.
MIN_SHARE_OF_TOTAL: Final = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class StatMeans:
    """The means of a stat in consecutive minutes, in the order of its bands.

    Shape: means (n_minutes, n, n_fields), n_rows (n_minutes, n). Missing: NaN, 0 rows
    """

    means: Float32Array
    n_rows: Int64Array


@dataclass(frozen=True, slots=True)
class Repetition:
    """The recurring level of a series, in the unit of its field; for how long, and how often. Units: seconds"""

    value: float
    length_s: float
    period_s: float


@dataclass(frozen=True, slots=True)
class UnusualSeries:
    """The highest series of a subsystem in five minutes. `value`: its mean; `low`, `high`: its band; in the unit of the field

    Missing: no `repetition` where it is not known to repeat
    """

    subsystem: str
    stat: str
    field: str
    unit: str
    instance: str
    value: float
    low: float
    high: float
    change_ratio: float
    anomaly_score: float
    repetition: Repetition | None = None

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> "UnusualSeries":
        """Return the series of a stored finding."""
        repetition = stored.get("repetition")
        return cls(**(dict(stored) | {"repetition": None if repetition is None else Repetition(**repetition)}))


@dataclass(frozen=True, slots=True, eq=False)
class _Window:
    """A stat's series in one window. Shape: all (n, n_fields)"""

    value: FloatArray
    ratio: FloatArray
    score: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MinuteScores:
    """The scores of hosts in consecutive minutes.

    Shape: scores (n_minutes, n_hosts, N_LENGTHS, n_subsystems), anomaly scores 0..1; n_judged (n_minutes, n_hosts) series with a
    value and a normal; findings by minute and host. Missing: NaN for a subsystem without a judged series
    """

    scores: Float32Array
    n_judged: Int64Array
    findings: Sequence[Sequence[tuple[UnusualSeries, ...]]]


def score_minutes(bands: Sequence[StatBands], means: Sequence[StatMeans], n_hosts: int, n_minutes: int) -> MinuteScores:
    """Return the scores of the last `n_minutes` of the means; the minutes before them only fill the windows."""
    scores = np.full((n_minutes, n_hosts, N_LENGTHS, len(SUBSYSTEMS)), np.nan, np.float32)
    n_judged = np.zeros((n_minutes, n_hosts), np.int64)
    best: dict[tuple[int, int, int], UnusualSeries] = {}
    for own, read in zip(bands, means, strict=True):
        if not len(own.instance_id):
            continue
        totals = _totals_of(own)
        sums, counts = _running_sums(read)
        n_read = len(read.means)
        for minute in range(n_minutes):
            at = n_read - n_minutes + minute
            for place, length in enumerate(LENGTHS):
                begin = max(0, at + 1 - length)
                count = counts[at + 1] - counts[begin]
                window = _score(sums[at + 1] - sums[begin], count, length, own, totals)
                _keep_highest(scores[minute, :, place], window.score, own)
                if place == KEPT_LENGTH:
                    _keep_series(best, minute, window, own)
                if place == 0:
                    np.add.at(n_judged[minute], own.host, (~np.isnan(window.score)).sum(axis=1))
    return MinuteScores(scores, n_judged, _to_findings(best, n_minutes, n_hosts))


def _running_sums(read: StatMeans) -> tuple[FloatArray, FloatArray]:
    """Return the sums of all rows before each minute, and their number. Shape: (n_minutes + 1, n, n_fields) both"""
    is_there = ~np.isnan(read.means)
    weights = np.where(is_there, read.n_rows[:, :, None], 0).astype(np.float64)
    sums = np.where(is_there, read.means, 0).astype(np.float64) * weights
    none = np.zeros((1, *read.means.shape[1:]))
    return np.concatenate((none, sums.cumsum(axis=0))), np.concatenate((none, weights.cumsum(axis=0)))


def _totals_of(own: StatBands) -> FloatArray:
    """Return the host's normal total of each field, for each row. Shape: (n, n_fields)"""
    level = np.abs(np.nan_to_num(own.middle))
    sums = np.zeros((int(own.host.max()) + 1, level.shape[1]))
    np.add.at(sums, own.host, level)
    return sums[own.host]


def _score(total: FloatArray, count: FloatArray, n_minutes: int, own: StatBands, totals: FloatArray) -> _Window:
    """Return the anomaly scores of a window, as findings have them. Shape: total, count (n, n_fields), of its samples"""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = total / np.where(count > 0, count, np.nan)
    ratio = _change_ratios(value, own, own.scale_1 if n_minutes == 1 else own.scale_5)
    level = np.abs(own.middle)
    moved = np.abs(value) - level
    floor = np.maximum(own.digit[None, :], MIN_SHARE_OF_TOTAL * totals)
    with np.errstate(invalid="ignore"):
        decades = np.abs(np.log10((np.maximum(totals + moved, 0) + floor) / (totals + floor)))
        unbounded = UNBOUNDED_IMPACT * np.minimum(1, decades / DECADES)
        impact = np.where(own.is_percent[None, :], np.minimum(1, np.abs(moved) / 100), unbounded)
        is_better = np.sign(value - own.middle) == -own.worse[None, :]
        factor = np.where(is_better & (own.worse[None, :] != 0), BETTER_FACTOR, 1.0)
        score = ratio / (ratio + HALF_GRADE) * (MIN_IMPACT_FACTOR + (1 - MIN_IMPACT_FACTOR) * np.sqrt(impact)) * factor
    return _Window(value, ratio, np.where(own.subsystem == NOT_SCORED, np.nan, score))


def _change_ratios(value: FloatArray, own: StatBands, scale: FloatArray) -> FloatArray:
    """Return how many change scales a value is outside its band."""
    outside = np.maximum(np.maximum(own.low - value, value - own.high), 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        # An infinite scale: windows of this length do not show what is natural, so the width of the band stands for it.
        known = np.where(np.isfinite(scale), scale, own.high - own.low)
        # Half a digit: a constant series has no width at all.
        return np.asarray(outside / np.maximum(known, own.digit[None, :] / 2), np.float64)


def _keep_highest(scores: Float32Array, score: FloatArray, own: StatBands) -> None:
    """Raise the scores of hosts to those of a stat's series. Shape: scores (n_hosts, n_subsystems), score (n, n_fields)"""
    rows, columns = np.nonzero(~np.isnan(score))
    flat = own.host[rows] * scores.shape[1] + own.subsystem[rows, columns]
    highest = np.full(scores.size, -np.inf)
    np.maximum.at(highest, flat, score[rows, columns])
    found = highest.reshape(scores.shape)
    np.copyto(scores, np.fmax(scores, np.where(np.isfinite(found), found, np.nan)))


def _keep_series(best: dict[tuple[int, int, int], UnusualSeries], minute: int, window: _Window, own: StatBands) -> None:
    """Keep the highest series of each subsystem of each host."""
    for row, column in np.argwhere(np.nan_to_num(window.score) >= MIN_KEPT).tolist():
        subsystem = int(own.subsystem[row, column])
        key = (minute, int(own.host[row]), subsystem)
        found = _rounded(window.score[row, column])
        if key in best and best[key].anomaly_score >= found:
            continue
        field = own.fields[column]
        best[key] = UnusualSeries(
            subsystem=SUBSYSTEMS[subsystem],
            stat=own.stat,
            field=field.key,
            unit=field.unit,
            instance=own.instances[row],
            value=_rounded(window.value[row, column]),
            low=_to_end(own.low[row, column], field),
            high=_to_end(own.high[row, column], field),
            change_ratio=_rounded(window.ratio[row, column]),
            anomaly_score=found,
        )


def _to_findings(
    best: dict[tuple[int, int, int], UnusualSeries], n_minutes: int, n_hosts: int
) -> list[list[tuple[UnusualSeries, ...]]]:
    found: list[list[list[UnusualSeries]]] = [[[] for _ in range(n_hosts)] for _ in range(n_minutes)]
    for (minute, host, _), series in best.items():
        found[minute][host].append(series)
    return [[tuple(sorted(own, key=lambda one: -one.anomaly_score)) for own in hosts] for hosts in found]


def _to_end(value: float, field: Field) -> float:
    """Return an end of a band. It is a level and a distance: what is less than the tool can print is 0."""
    return 0.0 if abs(value) < 10.0**-field.decimals / 2 else _rounded(value)


def _rounded(value: npt.NDArray[np.float64] | float) -> float:
    return float(f"{float(value):.4g}")
