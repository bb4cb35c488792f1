"""The signature of an incident: what moved, which way and how far, by the meaning of the fields.

It names no host, disk, CPU or process, so incidents of different hosts can be held against each other. Two incidents are alike as
far as their signatures point in one direction: the cosine of the angle between them.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from normstat.comparison.findings.coming_and_going import uses_the_host
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.comparison.series_rows import LIKELY_CODE, UNCHANGED, UNUSUAL_CODE, SeriesRows
from normstat.runtime import work_budget
from normstat.runtime.arrays import distinct_values
from normstat.scoring.summary import FloatArray, IntArray

# Signed effects (scoring/effects.py) by the meaning of a field, or by `stat.field` where it has none.
Signature = Mapping[str, float]

# From here on a past incident counts as alike. docs/comparison.md has the figures.
ALIKE: Final = 0.75
# Both incidents must have been measured by the same fields in this share of what moved. Hosts with other tools are not comparable.
MIN_COMMON: Final = 0.5
MIN_COMMON_KEYS: Final = 5
# A signature whose largest effect is below this shows nothing but noise: no level moved by more than twice its natural variation.
MIN_EFFECT: Final = 0.8
# Effects beyond this count as this: three thousand times the natural variation. A constant that moves for the first time would
# outweigh all else. A lower one makes the faults of a service alike, whose fields differ in how far they move.
MAX_EFFECT: Final = 8.0
MEASURED: Final = (UNUSUAL_CODE, LIKELY_CODE, UNCHANGED)
DIGITS: Final = 2


def signature_of(hosts: Iterable[SeriesRows]) -> Signature:
    """Return the signature of a comparison, from all series of its hosts.

    Of the instances of a field, and of several hosts, the one that moved farthest counts; where several tools measure the same,
    their mean does. Processes, units and containers come and go, and only their names distinguish them, so they are left out;
    what they use shows in the host's own fields. Missing: a field without enough data on both sides, or muted, has no key
    """
    by_field: dict[tuple[str, str], float] = {}
    for rows in hosts:
        kept = np.flatnonzero(np.isin(rows.verdict, MEASURED))
        for code in distinct_values(rows.field[kept]).tolist():
            work_budget.check()
            field = rows.fields[code]
            if uses_the_host(field.stat):
                continue
            own = kept[rows.field[kept] == code]
            for key, of_key in _by_key(rows, field.stat, field.field.key, own):
                place = (field.stat, key)
                strongest = float(rows.effect[of_key[np.argmax(np.abs(rows.effect[of_key]))]])
                if abs(strongest) >= abs(by_field.get(place, 0.0)):
                    by_field[place] = strongest
    by_key: dict[str, list[float]] = {}
    for (_, key), effect in by_field.items():
        by_key.setdefault(key, []).append(effect)
    return {key: round(float(np.mean(effects)), DIGITS) for key, effects in sorted(by_key.items())}


def is_telling(signature: Signature) -> bool:
    """Return whether a signature shows more than noise."""
    return max(map(abs, signature.values()), default=0.0) >= MIN_EFFECT


def likeness_of(signature: Signature, others: Sequence[Signature]) -> FloatArray:
    """Return how alike each of the others is, from 0 to 1; 0 too where they have too little in common to say.

    Shape: -> (n_others,)
    """
    keys = list(signature)
    mine = _cap(np.array([signature[key] for key in keys]))
    theirs = _cap(np.array([[other.get(key, np.nan) for key in keys] for other in others]).reshape(len(others), len(keys)))
    is_common = ~np.isnan(theirs)
    theirs = np.nan_to_num(theirs)
    own = np.where(is_common, mine, 0.0)
    energies = np.square(own).sum(axis=1), np.square(theirs).sum(axis=1)
    of_all = float(np.square(mine).sum()), np.array([np.square(_cap(np.array([*other.values()]))).sum() for other in others])
    size = np.sqrt(energies[0] * energies[1])
    cosine = (own * theirs).sum(axis=1) / np.where(size > 0, size, 1.0)
    is_comparable = (
        (is_common.sum(axis=1) >= MIN_COMMON_KEYS)
        & (energies[0] >= MIN_COMMON * of_all[0])
        & (energies[1] >= MIN_COMMON * of_all[1])
        & (size > 0)
    )
    return np.asarray(np.where(is_comparable, np.clip(cosine, 0.0, 1.0), 0.0), np.float64)


def _cap(effects: FloatArray) -> FloatArray:
    return np.asarray(np.clip(effects, -MAX_EFFECT, MAX_EFFECT), np.float64)


def _by_key(rows: SeriesRows, stat: str, field: str, own: IntArray) -> Iterable[tuple[str, IntArray]]:
    """Yield the keys of a field with the series that have them: one, or by instance where what it measures depends on that."""
    if not _depends_on_instance(stat, field):
        yield _key_of(stat, field, ""), own
        return
    keys = [_key_of(stat, field, rows.instances[code]) for code in rows.instance[own].tolist()]
    for key in sorted(set(keys)):
        yield key, own[[at for at, other in enumerate(keys) if other == key]]


@functools.lru_cache(maxsize=20_000)
def _key_of(stat: str, field: str, instance: str) -> str:
    """Return the meaning of a field, or `stat.field` without one; of several, such as those of load averages, the first."""
    return min(load_rules().find_meanings(stat, field, (instance,)), default=f"{stat}.{field}")


@functools.lru_cache(maxsize=20_000)
def _depends_on_instance(stat: str, field: str) -> bool:
    """Return whether a meaning is given to some instances of a field only, such as the kinds of pressure."""
    return any(
        pattern.instances and pattern.matches_stat(stat) and pattern.matches_field(field)
        for meaning in load_rules().meanings.values()
        for pattern in meaning.patterns
    )
