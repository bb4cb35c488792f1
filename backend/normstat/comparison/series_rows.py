"""Every series of a host as one compact row: what both sides have, the verdict, and the numbers of its reason.

A comparison of 100,000 series keeps all of them, so the rows are arrays, and sentences are made only for rows that are shown.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from normstat.comparison.findings.classify import SeriesIdentity, choose_kinds, round_all
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import ScoredSeries, StatPair
from normstat.comparison.series_comparison import likely_of, unusual_of
from normstat.comparison.unscored_series import MIN_BASELINE, MIN_INCIDENT
from normstat.profiles.stored_profile import LoadedProfile
from normstat.runtime import work_budget
from normstat.scoring.effects import signed_effects
from normstat.scoring.summary import MIDDLE, Float32Array, FloatArray, IntArray, Summary, add_levels, are_disjoint
from normstat.stats.spec import Field

SeriesVerdict = Literal["unusual", "likely", "unchanged", "appeared", "disappeared", "insufficient_data", "muted"]
VERDICTS: Final[tuple[SeriesVerdict, ...]] = get_args(SeriesVerdict)
UNUSUAL_CODE, LIKELY_CODE, UNCHANGED, APPEARED, DISAPPEARED, INSUFFICIENT, MUTED = range(len(VERDICTS))
NO_KIND: Final = -1
# Columns of `SeriesRows.values`.
MEDIAN, LOWEST, HIGHEST = range(3)
BASELINE, INCIDENT = range(2)
# An instance's name and a field in Python, beside the arrays.
NAME_BYTES: Final = 120

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field of a stat."""

    stat: str
    field: Field


@dataclass(frozen=True, slots=True)
class SeriesRows:
    """The series of one host.

    Shape: field, instance (n_rows,), index `fields` and `instances`; verdict (n_rows,), indexes VERDICTS; n (2, n_rows) samples in
    baseline and incident; values (2, 3, n_rows): median, lowest, highest. Missing: NaN. kind (n_rows,): kind of the strongest
    change, NO_KIND without a score; effect (n_rows,): how far the level moved and which way (scoring/effects.py); the rest
    (n_rows,), 0 without a score. `commands`: of the processes of the incident, by id
    """

    host: str
    fields: Sequence[ComparedField]
    instances: Sequence[str]
    field: Int32Array
    instance: Int32Array
    verdict: Int8Array
    n: Int32Array
    values: FloatArray
    kind: Int8Array
    change_ratio: Float32Array
    significance: Float32Array
    explained_by_load: Float32Array
    effect: Float32Array
    commands: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.verdict)

    @property
    def n_bytes(self) -> int:
        """Return about how much memory the rows take."""
        arrays = (
            self.field, self.instance, self.verdict, self.n, self.values, self.kind, self.change_ratio, self.significance,
            self.explained_by_load, self.effect,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays) + NAME_BYTES * (
            len(self.fields) + len(self.instances) + 2 * len(self.commands)
        )

    def is_disjoint(self, row: int) -> bool:
        """Return whether all values of a row's incident lie outside of the baseline's range."""
        return bool(_is_disjoint(self.values[:, :, row]))

    @property
    def decades(self) -> FloatArray:
        """How far the medians are apart: decades of their ratio, with the tool's last digit as the least. Missing: NaN."""
        digits = np.array([10.0**-item.field.decimals for item in self.fields])[self.field]
        one, other = self.values[:, MEDIAN]
        with np.errstate(invalid="ignore"):
            apart = np.abs(np.log10((np.abs(other) + digits) / (np.abs(one) + digits)))
            across = np.log10((np.abs(one) + np.abs(other) + digits) / digits)
        return np.asarray(np.where(one * other < 0, across, apart), np.float64)


def make_rows(
    host: str,
    scored: ScoredSeries | None,
    stats: Mapping[str, StatPair],
    profile: LoadedProfile | None,
    *,
    is_left_out: Callable[[SeriesIdentity], bool],
    is_muted: Callable[[SeriesIdentity], bool],
) -> SeriesRows:
    """Return all series with a sample on either side. `is_left_out`: of a stat that is not compared"""
    in_profile = frozenset() if profile is None else frozenset((key.stat, key.field) for key in profile.series)
    parts = [_scored_part(scored, is_left_out)] if scored is not None else []
    known = set() if scored is None else {(one.stat, one.field.key, one.instance) for one in scored.series}
    parts += [part for stat in stats.values() for part in _unscored_parts(stat, known)]
    verdicts = [_verdicts(part, stats, in_profile, is_muted) for part in parts]
    fields: dict[tuple[str, str], int] = {}
    names: dict[str, int] = {}
    found: list[ComparedField] = []
    field_codes, instance_codes = [], []
    for one in (series for part in parts for series in part.series):
        work_budget.check()
        key = (one.stat, one.field.key)
        if key not in fields:
            fields[key] = len(fields)
            found.append(ComparedField(one.stat, one.field))
        field_codes.append(fields[key])
        instance_codes.append(names.setdefault(one.instance, len(names)))
    return SeriesRows(
        host=host,
        fields=found,
        instances=list(names),
        field=np.array(field_codes, np.int32),
        instance=np.array(instance_codes, np.int32),
        verdict=_join(verdicts, np.empty(0, np.int8)),
        n=_join([part.n for part in parts], np.empty((2, 0), np.int32)),
        values=_join([part.values for part in parts], np.empty((2, 3, 0))),
        kind=_join([part.kind for part in parts], np.empty(0, np.int8)),
        change_ratio=_join([part.change_ratio for part in parts], np.empty(0, np.float32)),
        significance=_join([part.significance for part in parts], np.empty(0, np.float32)),
        explained_by_load=_join([part.explained_by_load for part in parts], np.empty(0, np.float32)),
        effect=_join([part.effect for part in parts], np.empty(0, np.float32)),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """Some of the series; the arrays as in SeriesRows."""

    series: Sequence[SeriesIdentity]
    n: Int32Array
    values: FloatArray
    kind: Int8Array
    change_ratio: Float32Array
    significance: Float32Array
    is_unusual: BoolArray
    is_likely: BoolArray
    explained_by_load: Float32Array
    effect: Float32Array


def _scored_part(scored: ScoredSeries, is_left_out: Callable[[SeriesIdentity], bool]) -> _Part:
    n = np.stack([scored.profile.baseline.n, scored.scores.window.n]).astype(np.int32)
    is_kept = np.array([not is_left_out(one) for one in scored.series], np.bool_) & (n.max(axis=0, initial=0) > 0)
    rows = np.flatnonzero(is_kept)
    scores, level = scored.scores, scored.profile.series_stats.level[rows]
    kind_significance = scores.kind_significance[:, rows]
    kind = choose_kinds(kind_significance)
    return _Part(
        series=[scored.series[row] for row in rows.tolist()],
        n=n[:, rows],
        values=np.stack([_values_of(side.take(rows), level) for side in (scored.profile.baseline, scores.window)]),
        kind=kind.astype(np.int8),
        change_ratio=scores.change_ratios[:, rows][kind, np.arange(len(rows))].astype(np.float32),
        significance=scores.significance[rows].astype(np.float32),
        is_unusual=unusual_of(scores)[rows],
        is_likely=likely_of(scores)[rows],
        explained_by_load=scores.explained_by_load[rows].astype(np.float32),
        effect=signed_effects(scored.profile, scores)[rows],
    )


def _unscored_parts(stat: StatPair, known: AbstractSet[tuple[str, str, str]]) -> Iterable[_Part]:
    """Return the series of a stat without a score: their instance, their field or the stat exists on one side only."""
    for side, values in ((BASELINE, stat.baseline), (INCIDENT, stat.incident)):
        if values is None or not values.n_rows:
            continue
        name = values.stat.name
        for key in values.values:
            instances = [instance for instance in values.names if (name, key, instance) not in known]
            n, summary = _summarise(values, [(instance, key) for instance in instances])
            some = np.flatnonzero(n)
            if not len(some):
                continue
            both, all_values = np.zeros((2, len(some)), np.int32), np.full((2, 3, len(some)), np.nan)
            both[side], all_values[side] = n[some], summary[:, some]
            nothing, never = np.zeros(len(some), np.float32), np.zeros(len(some), np.bool_)
            yield _Part(
                [SeriesIdentity(name, instances[row], stat.fields[key]) for row in some.tolist()],
                both, all_values, np.full(len(some), NO_KIND, np.int8), nothing, nothing, never, never, nothing, nothing,
            )  # fmt: skip


def _summarise(side: StatSide, rows: Sequence[tuple[str, str]]) -> tuple[IntArray, FloatArray]:
    """Return samples, and median, lowest and highest value. Shape: -> (n_rows,), (3, n_rows)"""
    values = np.sort(side.packed(rows), axis=1)
    n = (~np.isnan(values)).sum(axis=1).astype(np.int64)
    if not values.shape[1]:
        return n, np.full((3, len(rows)), np.nan)
    last = np.maximum(n - 1, 0)
    # Missing values are sorted to the end.
    low, high, highest = (np.take_along_axis(values, at[:, None], axis=1)[:, 0] for at in (last // 2, (last + 1) // 2, last))
    return n, round_all(np.stack([(low + high) / 2, values[:, 0], highest]))


def _values_of(summary: Summary, level: FloatArray) -> FloatArray:
    """Return median, lowest and highest value. Shape: -> (3, n_series)"""
    return round_all(add_levels(np.asarray(summary.quantiles[:, [MIDDLE, 0, -1]].T, np.float32), level))


def _is_disjoint(values: FloatArray) -> BoolArray:
    incident, baseline = values[INCIDENT], values[BASELINE]
    return are_disjoint(incident[LOWEST], incident[HIGHEST], baseline[LOWEST], baseline[HIGHEST])


def _verdicts(
    part: _Part,
    stats: Mapping[str, StatPair],
    in_profile: AbstractSet[tuple[str, str]],
    is_muted: Callable[[SeriesIdentity], bool],
) -> Int8Array:
    n_baseline, n_incident = part.n
    other = np.where(part.is_likely, LIKELY_CODE, UNCHANGED)
    verdict = np.where(part.is_unusual, UNUSUAL_CODE, other).astype(np.int8)
    for row in np.flatnonzero(verdict == UNUSUAL_CODE).tolist():
        if is_muted(part.series[row]):
            verdict[row] = MUTED
    verdict[(n_baseline < MIN_BASELINE) | (n_incident < MIN_INCIDENT)] = INSUFFICIENT
    for side, code in ((INCIDENT, DISAPPEARED), (BASELINE, APPEARED)):
        for row in np.flatnonzero((part.n[side] == 0) & (part.n[1 - side] > 0)).tolist():
            one = part.series[row]
            if _has_field(one, stats.get(one.stat), side, in_profile):
                verdict[row] = code
    return verdict


def _has_field(series: SeriesIdentity, stat: StatPair | None, side: int, in_profile: AbstractSet[tuple[str, str]]) -> bool:
    """Return whether a side has any value of the field."""
    if side == BASELINE and (stat is None or stat.baseline is None):
        return (series.stat, series.field.key) in in_profile
    values = None if stat is None else stat.incident if side == INCIDENT else stat.baseline
    return values is not None and series.field.key in values.values


def _join(parts: Sequence[np.ndarray], nothing: np.ndarray) -> np.ndarray:
    """Return the parts one after the other, along the last axis."""
    return np.concatenate([nothing, *parts], axis=-1)
