"""A stack part as a page shows it: the nodes of its flame graph, and its functions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.call_tree import CallTree, Ints, Weights
from normstat.artefacts.flame_growth import CallForest, FlameNodes, GrowthRequest, Threads, grow, make_forest
from normstat.artefacts.parts import PartColumn
from normstat.artefacts.table_view import ArtefactTableColumn, to_table_column
from normstat.errors import BadRequest, shorten
from normstat.runtime.field_docs import Documented

MAX_NODES: Final = 20_000
MAX_FUNCTIONS: Final = 1000
MAX_THREADS: Final = 200
# A C++ template may have 10,000 characters: its ends say which it is.
MAX_NAME: Final = 400


@dataclass(frozen=True, slots=True)
class FlameStep(Documented):
    """A frame on the way to the focus."""

    id: int
    name: str
    total: float | int


@dataclass(frozen=True, slots=True)
class FlameThread(Documented):
    """A first frame of stacks: a thread or a program."""

    id: int
    name: str
    total: float | int


@dataclass(frozen=True, slots=True)
class FlameView(Documented):
    """The nodes of a flame graph, columns of equal length: parents before their children, wide siblings first."""

    title: str
    stat: str
    column: str
    """The key of the column that weighs the stacks."""

    columns: list[ArtefactTableColumn]
    names: list[str]
    """Names of frames, cut in their middle where they are longer than 400 characters."""

    name_ids: list[int]
    """What `focus` and `function` call each name."""

    parent: list[int]
    """-1 for the first node, the whole or the focus."""

    name: list[int]
    own: list[float | int]
    """What ends in each node."""

    total: list[float | int]
    whole: float | int
    """The weight of all stacks, also outside the focus."""

    path: list[FlameStep]
    """The frames from the start to the focus, the focus itself the last."""

    matched: float | int | None
    """The weight of the stacks with a frame that the search finds, each counted once; null without a search."""

    n_hidden: int
    """Branches that are left out because they are too narrow."""

    hidden: float | int
    """The weight of those branches."""

    n_stacks: int
    n_cut: int
    """Stacks that lost their deepest frames when they were read: there were too many."""

    has_threads: bool
    """Whether first frames are threads with a number."""

    threads: list[FlameThread]
    """First frames, the heaviest first, at most 200."""

    n_threads: int


@dataclass(frozen=True, slots=True)
class FlameFunction(Documented):
    """A function, wherever it is called."""

    id: int
    name: str
    own: float | int
    """What ends in it."""

    total: float | int
    """What passes through it; a recursion is counted once."""


@dataclass(frozen=True, slots=True)
class FlameFunctions(Documented):
    """Functions of stacks."""

    column: str
    unit: str
    functions: list[FlameFunction]
    n_functions: int
    """All that the search finds."""

    whole: float | int


@dataclass(frozen=True, slots=True)
class FlameRequest:
    """What to show of a stack part. `thread`: only stacks of this first frame; `search`: words, `|` between them, to highlight."""

    column: str = ""
    threads: Threads = Threads.NAMED
    thread: str | None = None
    search: str = ""
    growth: GrowthRequest = field(default_factory=GrowthRequest)


@dataclass(frozen=True, slots=True)
class FunctionsRequest:
    """Which functions to list."""

    column: str = ""
    threads: Threads = Threads.NAMED
    thread: str | None = None
    search: str = ""
    by_total: bool = False
    limit: int = 100


def view_flame(tree: CallTree, asked: FlameRequest) -> FlameView:
    """Return the nodes of the flame graph that was asked for.

    Raises: BadRequest for a column, thread, focus or function that the part does not have
    """
    column = require_column(tree, asked.column)
    forest = make_forest([tree], [column.key], asked.threads, asked.thread)
    found = grow(forest, asked.growth)
    used, name = np.unique(found.name, return_inverse=True)
    own, total = found.own[0].tolist(), found.total[0].tolist()
    everyone = forest if asked.thread is None else make_forest([tree], [column.key], asked.threads)
    threads, n_threads = list_threads(everyone)
    return FlameView(
        title=tree.title,
        stat=tree.stat,
        column=column.key,
        columns=[to_table_column(each) for each in tree.columns],
        names=[show_name(forest.names[number]) for number in used.tolist()],
        name_ids=used.tolist(),
        parent=found.parent.tolist(),
        name=name.tolist(),
        own=own,
        total=total,
        whole=whole_of(forest, 0),
        path=[
            FlameStep(number, show_name(forest.names[number]), weight)
            for number, weight in zip(path_names(asked.growth), path_totals(found, 0), strict=True)
        ],
        matched=matched_weight(forest, asked.search, 0) if asked.search.strip("| ") else None,
        n_hidden=found.n_hidden,
        hidden=found.hidden[0],
        n_stacks=tree.n_stacks,
        n_cut=tree.n_cut,
        has_threads=tree.has_threads,
        threads=[FlameThread(number, show_name(text), weights[0]) for number, text, weights in threads],
        n_threads=n_threads,
    )


def list_functions(tree: CallTree, asked: FunctionsRequest) -> FlameFunctions:
    """Return the functions that most of the weight ends in, or passes through.

    Raises: BadRequest for a column or thread that the part does not have
    """
    column = require_column(tree, asked.column)
    forest = make_forest([tree], [column.key], asked.threads, asked.thread)
    names, own, total = sum_functions(forest)
    chosen = total[0] if asked.by_total else own[0]
    is_in = _has_weight(own, total) & matching(forest.names, asked.search)[names]
    at = np.flatnonzero(is_in)
    at = at[np.lexsort((-total[0][at], -chosen[at]))]
    return FlameFunctions(
        column=column.key,
        unit=column.unit,
        functions=[
            FlameFunction(int(names[each]), show_name(forest.names[names[each]]), own[0][each].item(), total[0][each].item())
            for each in at[: asked.limit]
        ],
        n_functions=len(at),
        whole=whole_of(forest, 0),
    )


def require_column(tree: CallTree, key: str) -> PartColumn:
    """Return the column of this key, without one that which the part is ranked by.

    Raises: BadRequest
    """
    for column in tree.columns:
        if column.key == (key or tree.weight):
            return column
    known = ", ".join(column.key for column in tree.columns) or "none"
    raise BadRequest(f"There is no column {shorten(key or tree.weight)}; this part has {known}")


def show_name(name: str) -> str:
    """Return the name, cut in its middle where it is too long.

    >>> len(show_name("f" * 10_000)), show_name("main")
    (400, 'main')
    """
    half = MAX_NAME // 2
    return name if len(name) <= MAX_NAME else f"{name[: half - 1]}…{name[-half:]}"


def whole_of(forest: CallForest, side: int) -> float | int:
    """Return the weight of all stacks of a side."""
    whole: float | int = forest.total[side][forest.roots].sum().item()
    return whole


def path_names(asked: GrowthRequest) -> list[int]:
    """Return the names of the path: those from the function, where there is one, to the focus."""
    return [*([asked.function] if asked.function is not None else []), *asked.focus]


def path_totals(found: FlameNodes, side: int) -> list[float | int]:
    """Return the totals of `path_names`: a path begins with the whole, which has no name unless it is a function."""
    totals = [each[side] for each in found.path] + [found.total[side][0].item()]
    is_function = int(found.name[0]) != 0 and not found.path
    return totals if is_function else totals[1:]


def list_threads(forest: CallForest) -> tuple[list[tuple[int, str, tuple[float | int, ...]]], int]:
    """Return the first frames with their totals of each side, the heaviest first, and how many there are."""
    if not forest.has_first:
        return [], 0
    nodes = np.concatenate([np.arange(forest.first_child[root], forest.end_child[root]) for root in forest.roots])
    names, at = np.unique(forest.name[nodes], return_inverse=True)
    totals = [_sum_by(at, values[nodes], len(names)) for values in forest.total]
    if not len(names):
        return [], 0
    order = np.argsort(-np.max(totals, axis=0), kind="stable")[:MAX_THREADS]
    found = [(int(names[each]), forest.names[names[each]], tuple(values[each].item() for values in totals)) for each in order]
    return found, len(names)


def sum_functions(forest: CallForest) -> tuple[Ints, tuple[Weights, ...], tuple[Weights, ...]]:
    """Return the names of all functions, and of each side what ends in each and what passes through it, recursions once."""
    is_frame = np.ones(len(forest.parent), np.bool_)
    is_frame[forest.roots] = False
    if not forest.has_first:
        is_frame &= forest.top != np.arange(len(forest.parent))
    nodes = np.flatnonzero(is_frame)
    names, at = np.unique(forest.name[nodes], return_inverse=True)
    own = tuple(_sum_by(at, values[nodes], len(names)) for values in forest.own)
    outer = forest.is_outer[nodes]
    total = tuple(_sum_by(at[outer], values[nodes[outer]], len(names)) for values in forest.total)
    return names, own, total


def matching(names: Sequence[str], search: str) -> npt.NDArray[np.bool_]:
    """Return whether each name has one of the words of a search; without a word all have."""
    words = [word for each in search.casefold().split("|") if (word := each.strip())]
    if not words:
        return np.ones(len(names), np.bool_)
    return np.array([any(word in name for word in words) for name in (each.casefold() for each in names)], np.bool_)


def matched_weight(forest: CallForest, search: str, side: int) -> float | int:
    """Return the weight of the stacks with a matching frame: each counted once, however many of its frames match."""
    hit = matching(forest.names, search)[forest.name]
    hit[forest.roots] = False
    if not forest.has_first:
        hit &= forest.top != np.arange(len(forest.parent))
    # A match under another one is in it already: a node is under one where its parent is, or is one itself.
    covered = hit.copy()
    below = np.flatnonzero(hit)
    while len(below):
        counts = forest.end_child[below] - forest.first_child[below]
        children = np.repeat(forest.first_child[below] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        children = children[~covered[children]]
        covered[children] = True
        below = children
    weight: float | int = forest.own[side][covered].sum().item()
    return weight


def _has_weight(own: Sequence[Weights], total: Sequence[Weights]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.any([values != 0 for values in (*own, *total)], axis=0)
    return found


def _sum_by(at: Ints, values: Weights, n: int) -> Weights:
    """Return the sum of the values of each of n groups, exact for whole numbers."""
    sums = np.zeros(n, values.dtype)
    np.add.at(sums, at, values)
    return sums
