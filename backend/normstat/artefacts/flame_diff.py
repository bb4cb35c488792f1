"""Two stack parts as one flame graph that shows what grew and what shrank, and their functions by the difference.

The values of the baseline are scaled before they are compared: to the duration of the incident's run, else to its total, as
difffolded.pl -n does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from normstat.artefacts.call_tree import CallTree
from normstat.artefacts.flame_growth import CallForest, GrowthRequest, Threads, grow, make_forest
from normstat.artefacts.flame_view import (
    list_threads,
    matched_weight,
    matching,
    path_names,
    path_totals,
    require_column,
    show_name,
    sum_functions,
    whole_of,
)
from normstat.artefacts.table_view import ArtefactTableColumn, to_table_column
from normstat.errors import BadRequest
from normstat.runtime.field_docs import Documented


class Scaling(StrEnum):
    """How the values of two runs are normalised.

    duration  the baseline as if it had run as long as the incident
    total     the baseline as if it had as much in all: shares are compared
    none      the values as they are
    """

    DURATION = "duration"
    TOTAL = "total"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class FlameDiffStep(Documented):
    """A frame on the way to the focus."""

    id: int
    name: str
    before: float | int
    after: float | int


@dataclass(frozen=True, slots=True)
class FlameDiffThread(Documented):
    """A first frame of stacks."""

    id: int
    name: str
    before: float | int
    after: float | int


@dataclass(frozen=True, slots=True)
class FlameDiffScale(Documented):
    """How two runs were normalised."""

    by: str
    """duration, total or none."""

    factor: float
    """What values of the baseline are multiplied with before they are compared; they are shown as they were printed."""

    before_s: float | None
    after_s: float | None
    """Seconds that each ran; null if unknown."""

    before_whole: float | int
    after_whole: float | int


@dataclass(frozen=True, slots=True)
class FlameDiffView(Documented):
    """The nodes of two flame graphs, one over the other; see FlameView."""

    column: str
    columns: list[ArtefactTableColumn]
    names: list[str]
    name_ids: list[int]
    parent: list[int]
    name: list[int]
    before_own: list[float | int]
    before_total: list[float | int]
    after_own: list[float | int]
    after_total: list[float | int]
    scale: FlameDiffScale
    path: list[FlameDiffStep]
    before_matched: float | int | None
    after_matched: float | int | None
    n_hidden: int
    before_hidden: float | int
    after_hidden: float | int
    has_threads: bool
    threads: list[FlameDiffThread]
    n_threads: int


@dataclass(frozen=True, slots=True)
class FlameDiffFunction(Documented):
    """A function of two runs; `own_change`: after less the scaled before, of what ends in it."""

    id: int
    name: str
    before_own: float | int
    after_own: float | int
    own_change: float
    before_total: float | int
    after_total: float | int
    total_change: float


@dataclass(frozen=True, slots=True)
class FlameDiffFunctions(Documented):
    """Functions of two runs, the largest change first."""

    column: str
    unit: str
    functions: list[FlameDiffFunction]
    n_functions: int
    scale: FlameDiffScale


@dataclass(frozen=True, slots=True)
class FlameDiffRequest:
    """What to compare, and how long each side ran (None: unknown). `scaling` None: by duration where both are known, else total."""

    column: str = ""
    threads: Threads = Threads.NAMED
    thread: str | None = None
    search: str = ""
    scaling: Scaling | None = None
    before_s: float | None = None
    after_s: float | None = None
    growth: GrowthRequest = field(default_factory=GrowthRequest)
    by_total: bool = False
    limit: int = 100


def diff_flames(before: CallTree, after: CallTree, asked: FlameDiffRequest) -> FlameDiffView:
    """Return the nodes of both, with the values of both.

    Raises: BadRequest for what one of them does not have, or for columns that cannot be compared
    """
    forest, scale = _prepare(before, after, asked)
    found = grow(forest, replace(asked.growth, scales=(scale.factor, 1.0)))
    used, name = np.unique(found.name, return_inverse=True)
    threads, n_threads = list_threads(forest)
    is_searched = bool(asked.search.strip("| "))
    return FlameDiffView(
        column=require_column(after, asked.column).key,
        columns=[to_table_column(each) for each in after.columns if each.key in {other.key for other in before.columns}],
        names=[show_name(forest.names[number]) for number in used.tolist()],
        name_ids=used.tolist(),
        parent=found.parent.tolist(),
        name=name.tolist(),
        before_own=found.own[0].tolist(),
        before_total=found.total[0].tolist(),
        after_own=found.own[1].tolist(),
        after_total=found.total[1].tolist(),
        scale=scale,
        path=[
            FlameDiffStep(number, show_name(forest.names[number]), left, right)
            for number, left, right in zip(path_names(asked.growth), path_totals(found, 0), path_totals(found, 1), strict=True)
        ],
        before_matched=matched_weight(forest, asked.search, 0) if is_searched else None,
        after_matched=matched_weight(forest, asked.search, 1) if is_searched else None,
        n_hidden=found.n_hidden,
        before_hidden=found.hidden[0],
        after_hidden=found.hidden[1],
        has_threads=before.has_threads or after.has_threads,
        threads=[FlameDiffThread(number, show_name(text), *_two(weights)) for number, text, weights in threads],
        n_threads=n_threads,
    )


def diff_functions(before: CallTree, after: CallTree, asked: FlameDiffRequest) -> FlameDiffFunctions:
    """Return the functions of both, the largest change first, be it more or less.

    Raises: BadRequest for what one of them does not have, or for columns that cannot be compared
    """
    forest, scale = _prepare(before, after, asked)
    names, own, total = sum_functions(forest)
    own_change = own[1] - own[0] * scale.factor
    total_change = total[1] - total[0] * scale.factor
    has_weight = (total[0] != 0) | (total[1] != 0)
    at = np.flatnonzero(has_weight & matching(forest.names, asked.search)[names])
    ranked = total_change if asked.by_total else own_change
    at = at[np.lexsort((-np.abs(total_change[at]), -np.abs(ranked[at])))]
    column = require_column(after, asked.column)
    return FlameDiffFunctions(
        column=column.key,
        unit=column.unit,
        functions=[
            FlameDiffFunction(
                int(names[each]), show_name(forest.names[names[each]]), own[0][each].item(), own[1][each].item(),
                float(own_change[each]), total[0][each].item(), total[1][each].item(), float(total_change[each]),
            )
            for each in at[: asked.limit]
        ],
        n_functions=len(at),
        scale=scale,
    )  # fmt: skip


def _two(weights: Sequence[float | int]) -> tuple[float | int, float | int]:
    return weights[0], weights[1]


def _prepare(before: CallTree, after: CallTree, asked: FlameDiffRequest) -> tuple[CallForest, FlameDiffScale]:
    left, right = _shared_columns(before, after, asked.column)
    forest = make_forest([before, after], [left, right], asked.threads)
    wholes = whole_of_sides(forest)
    scale = _to_scale(asked, wholes)
    if asked.thread is not None:
        forest = make_forest([before, after], [left, right], asked.threads, asked.thread)
    return forest, scale


def _shared_columns(before: CallTree, after: CallTree, key: str) -> tuple[str, str]:
    wanted = require_column(after, key)
    for column in before.columns:
        if column.key == wanted.key and column.unit == wanted.unit:
            return column.key, wanted.key
    known = ", ".join(f"{column.key} ({column.unit or 'count'})" for column in before.columns)
    raise BadRequest(
        f"The baseline has no column {wanted.key} in {wanted.unit or 'counts'}; it has {known}. Compare two runs of the same tool, "
        "or choose a column that both have"
    )


def whole_of_sides(forest: CallForest) -> tuple[float | int, float | int]:
    """Return the weight of all stacks of each side."""
    return whole_of(forest, 0), whole_of(forest, 1)


def _to_scale(asked: FlameDiffRequest, wholes: tuple[float | int, float | int]) -> FlameDiffScale:
    has_durations = bool(asked.before_s) and bool(asked.after_s)
    by = asked.scaling or (Scaling.DURATION if has_durations else Scaling.TOTAL)
    factor = 1.0
    if by is Scaling.DURATION:
        if not asked.before_s or not asked.after_s:
            side = "the baseline" if not asked.before_s else "the incident"
            raise BadRequest(f"How long {side} ran is unknown; set its duration on its page, or compare by total")
        factor = asked.after_s / asked.before_s
    elif by is Scaling.TOTAL and wholes[0] and wholes[1]:
        factor = wholes[1] / wholes[0]
    return FlameDiffScale(by, factor, asked.before_s, asked.after_s, *wholes)
