"""Grow the nodes of a flame graph: stacks merged frame by frame, from their roots or from their leaves, of one tree or of two.

Nodes too narrow to be drawn are left out while growing, so that the time depends on what is shown, not on the number of stacks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.call_tree import CallTree, Ints, Weights, ranges
from normstat.errors import BadRequest, shorten

MAX_DEPTH: Final = 2_000
NO_NAME: Final = 0
# Shown where every node is narrower than asked for.
NARROW_NODES: Final = 50
ROUNDING: Final = 1e-12


class Threads(StrEnum):
    """How the first frames of stacks are shown, where they are threads.

    named  threads of one name together: worker/17 and worker/18 are worker
    each   each thread on its own
    none   all together, without a frame of theirs
    """

    NAMED = "named"
    EACH = "each"
    NONE = "none"


class Direction(StrEnum):
    """From where stacks are merged.

    down  from their roots: what was called
    up    from their leaves: who called it
    """

    DOWN = "down"
    UP = "up"


@dataclass(frozen=True, slots=True)
class CallForest:
    """One tree or two with common names; `roots` are their node 0. See CallTree for the arrays; own and total are of each side."""

    names: Sequence[str]
    parent: Ints
    name: Ints
    first_child: Ints
    end_child: Ints
    top: Ints
    is_outer: npt.NDArray[np.bool_]
    roots: Ints
    own: tuple[Weights, ...]
    total: tuple[Weights, ...]
    has_first: bool


@dataclass(frozen=True, slots=True)
class FlameNodes:
    """The nodes of a flame graph, parents before their children, wide siblings first; node 0 is what it starts from.

    Shape: parent, name (n_nodes); own[j], total[j] (n_nodes) of each side. `hidden`: the weight of what was left out, of each side;
    `n_hidden`: how many branches that are at least. `path`: the total of each frame on the way to the focus, of each side.
    """

    parent: Ints
    name: Ints
    own: tuple[Weights, ...]
    total: tuple[Weights, ...]
    hidden: tuple[float | int, ...]
    n_hidden: int
    path: Sequence[tuple[float | int, ...]]


@dataclass(frozen=True, slots=True)
class GrowthRequest:
    """What to grow. `focus`: names from the start to where the graph begins; `function`: a name that takes the place of the whole.

    `min_share`: of the width of the graph, below it nodes are left out; `scales`: what the values of each side are multiplied with
    to be compared.
    """

    direction: Direction = Direction.DOWN
    focus: tuple[int, ...] = ()
    function: int | None = None
    min_share: float = 0.0003
    max_nodes: int = 5000
    scales: tuple[float, ...] = (1.0,)


def make_forest(trees: Sequence[CallTree], columns: Sequence[str], threads: Threads, thread: str | None = None) -> CallForest:
    """Return the forest of one tree or two, with the column of each that weighs the stacks; `thread`: only stacks of this name.

    Raises: BadRequest for an unknown thread
    """
    numbers: dict[str, int] = {}
    if len(trees) == 1:
        names: Sequence[str] = trees[0].names
        maps = [np.arange(len(names))]
    else:
        for tree in trees:
            for each in tree.names:
                numbers.setdefault(each, len(numbers))
        names = list(numbers)
        maps = [np.array([numbers[each] for each in tree.names], np.int64) for tree in trees]
    offsets = np.cumsum([0, *(len(tree.parent) for tree in trees)])
    name = np.concatenate([_shown_names(tree, own, threads) for tree, own in zip(trees, maps, strict=True)])
    own, total = [], []
    for side, (tree, column) in enumerate(zip(trees, columns, strict=True)):
        at = next(at for at, each in enumerate(tree.columns) if each.key == column)
        own.append(_widened(tree.own[at], offsets, side))
        total.append(_widened(tree.total[at], offsets, side))
    found = CallForest(
        names=names,
        name=name,
        parent=np.concatenate([tree.parent + offset for tree, offset in zip(trees, offsets[:-1], strict=True)]),
        first_child=np.concatenate([tree.first_child + offset for tree, offset in zip(trees, offsets[:-1], strict=True)]),
        end_child=np.concatenate([tree.end_child + offset for tree, offset in zip(trees, offsets[:-1], strict=True)]),
        top=np.concatenate([tree.top + offset for tree, offset in zip(trees, offsets[:-1], strict=True)]),
        is_outer=np.concatenate([tree.is_outer for tree in trees]),
        roots=offsets[:-1],
        own=tuple(own),
        total=tuple(total),
        has_first=threads is not Threads.NONE,
    )
    return found if thread is None else _only(found, thread)


def _shown_names(tree: CallTree, numbers: Ints, threads: Threads) -> Ints:
    shown = numbers[tree.name]
    if threads is Threads.NAMED and len(tree.level_starts) > 2:
        first = slice(tree.level_starts[1], tree.level_starts[2])
        shown[first] = numbers[tree.thread_name[tree.name[first]]]
    return shown


def _widened(values: Weights, offsets: Ints, side: int) -> Weights:
    if len(offsets) == 2:
        return values
    wide = np.zeros(offsets[-1], values.dtype)
    wide[offsets[side] : offsets[side + 1]] = values
    return wide


def _only(forest: CallForest, thread: str) -> CallForest:
    try:
        number = forest.names.index(thread)
    except ValueError:
        number = -1
    is_in = forest.name[forest.top] == number
    is_in[forest.roots] = False
    if not is_in.any():
        raise BadRequest(f"There is no thread {shorten(thread)} in these stacks; leave `thread` out to see all")
    own = tuple(np.where(is_in, values, 0) for values in forest.own)
    total = tuple(np.where(is_in, values, 0) for values in forest.total)
    for values, ends in zip(total, own, strict=True):
        for root, end in zip(forest.roots, [*forest.roots[1:], len(values)], strict=True):
            values[root] = ends[root:end].sum()
    return CallForest(
        forest.names, forest.parent, forest.name, forest.first_child, forest.end_child, forest.top, forest.is_outer, forest.roots,
        own, total, forest.has_first,
    )  # fmt: skip


@dataclass(slots=True)
class _Group:
    """The nodes at which the stacks of each group are: `group` says which one each node is in."""

    nodes: Ints
    group: Ints
    weights: tuple[Weights, ...]


def grow(forest: CallForest, asked: GrowthRequest) -> FlameNodes:
    """Return the nodes that are at least as wide as asked for.

    Raises: BadRequest for a focus or a function that is not there
    """
    step = _step_down if asked.direction is Direction.DOWN else _step_up
    start, name = _start(forest, asked)
    path = []
    for number in asked.focus:
        path.append(_sums(start.weights))
        below, names = step(forest, start)
        is_in = names == number
        start = _Group(below.nodes[is_in], below.group[is_in], tuple(values[is_in] for values in below.weights))
        name = number
        if not len(start.nodes):
            raise BadRequest("These stacks no longer exist; leave `focus` out to begin with the whole")
    return _Grower(forest, asked, step).grow(start, name, path)


def _start(forest: CallForest, asked: GrowthRequest) -> tuple[_Group, int]:
    if asked.function is not None:
        nodes = np.flatnonzero((forest.name == asked.function) & forest.is_outer & _has_frame(forest))
        if not len(nodes):
            raise BadRequest("There is no such function in these stacks; GET .../functions lists them")
        return _Group(nodes, np.zeros(len(nodes), np.int64), tuple(values[nodes] for values in forest.total)), asked.function
    if asked.direction is Direction.DOWN:
        nodes = forest.roots
        group = _Group(nodes, np.zeros(len(nodes), np.int64), tuple(values[nodes] for values in forest.total))
        if not forest.has_first:
            group = _merged(_step_down(forest, group)[0])
        return group, NO_NAME
    is_end = np.zeros(len(forest.parent), np.bool_)
    for values in forest.own:
        is_end |= values != 0
    nodes = np.flatnonzero(is_end)
    # A cursor stands below the leaf: its first step is to the leaf itself.
    return _Group(~nodes, np.zeros(len(nodes), np.int64), tuple(values[nodes] for values in forest.own)), NO_NAME


def _merged(group: _Group) -> _Group:
    return _Group(group.nodes, np.zeros(len(group.nodes), np.int64), group.weights)


def _has_frame(forest: CallForest) -> npt.NDArray[np.bool_]:
    """Return whether a node is a frame that is shown: no root, and no thread where those are left out."""
    found = np.ones(len(forest.parent), np.bool_)
    found[forest.roots] = False
    if not forest.has_first:
        found &= forest.top != np.arange(len(forest.parent))
    return found


def _step_down(forest: CallForest, group: _Group) -> tuple[_Group, Ints]:
    first, end = forest.first_child[group.nodes], forest.end_child[group.nodes]
    nodes = ranges(first, end)
    below = _Group(nodes, np.repeat(group.group, end - first), tuple(values[nodes] for values in forest.total))
    return below, forest.name[nodes]


def _step_up(forest: CallForest, group: _Group) -> tuple[_Group, Ints]:
    is_start = group.nodes < 0
    nodes = np.where(is_start, ~group.nodes, forest.parent[np.maximum(group.nodes, 0)])
    is_in = _has_frame(forest)[nodes]
    nodes, groups = nodes[is_in], group.group[is_in]
    weights = tuple(values[is_in] for values in group.weights)
    # Paths that met are one.
    key = groups * len(forest.parent) + nodes
    order = np.argsort(key, kind="stable")
    first = _firsts(key[order])
    if len(first) < len(order):
        weights = tuple(np.add.reduceat(values[order], first) for values in weights)
        nodes, groups = nodes[order][first], groups[order][first]
    return _Group(nodes, groups, weights), forest.name[nodes]


def _firsts(ordered: Ints) -> Ints:
    return np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.zeros(0, np.int64)


def _sums(weights: Sequence[Weights]) -> tuple[float | int, ...]:
    return tuple(values.sum().item() if len(values) else 0 for values in weights)


class _Grower:
    def __init__(self, forest: CallForest, asked: GrowthRequest, step: Callable[[CallForest, _Group], tuple[_Group, Ints]]) -> None:
        self._forest, self._asked, self._step = forest, asked, step
        self._parent: list[Ints] = []
        self._name: list[Ints] = []
        self._total: list[tuple[Weights, ...]] = []
        self._rank: list[npt.NDArray[np.float64]] = []
        # What goes on below each node, shown or not.
        self._below: list[list[Weights]] = []
        self._n = 0
        self._n_hidden = 0
        self._least = 0.0

    def grow(self, start: _Group, name: int, path: Sequence[tuple[float | int, ...]]) -> FlameNodes:
        whole = tuple(np.array([each]) for each in _sums(start.weights))
        self._add(np.array([-1]), np.array([name]), whole, self._rank_of(whole))
        self._least = self._asked.min_share * float(self._rank[0][0])
        group, depth = start, 0
        while len(group.nodes) and depth < MAX_DEPTH:
            group = self._grow_level(group)
            depth += 1
        return self._finish(path)

    def _rank_of(self, totals: Sequence[Weights]) -> npt.NDArray[np.float64]:
        scaled = [values * scale for values, scale in zip(totals, self._asked.scales, strict=True)]
        rank: npt.NDArray[np.float64] = np.max(scaled, axis=0).astype(float)
        return rank

    def _add(self, parent: Ints, name: Ints, total: tuple[Weights, ...], rank: npt.NDArray[np.float64]) -> None:
        self._parent.append(parent)
        self._name.append(name)
        self._total.append(total)
        self._rank.append(rank)
        self._below.append([np.zeros_like(values) for values in total])
        self._n += len(parent)

    def _grow_level(self, group: _Group) -> _Group:
        below, names = self._step(self._forest, group)
        key = below.group * len(self._forest.names) + names
        order = np.argsort(key, kind="stable")
        first = _firsts(key[order])
        if not len(first):
            return below
        totals = tuple(np.add.reduceat(values[order], first) for values in below.weights)
        parents = below.group[order][first]
        level = self._n - len(self._parent[-1])
        for sums, values in zip(self._below[-1], totals, strict=True):
            np.add.at(sums, parents - level, values)
        rank = self._rank_of(totals)
        keep, most = (rank >= self._least) & (rank > 0), self._asked.max_nodes
        if not keep.any() and self._n == 1:
            # Nothing is wide: the widest say at least what there is.
            keep, most = rank > 0, min(most, NARROW_NODES)
        if keep.sum() > most:
            best = np.argsort(-rank, kind="stable")[:most]
            keep = np.zeros(len(rank), np.bool_)
            keep[best] = True
        self._n_hidden += int(((rank > 0) & ~keep).sum())
        kept_names = names[order][first]
        kept = np.flatnonzero(keep)
        # Wide siblings first.
        kept = kept[np.lexsort((kept_names[kept], -rank[kept], parents[kept]))]
        number = np.full(len(first), -1, np.int64)
        number[kept] = self._n + np.arange(len(kept))
        self._add(parents[kept], kept_names[kept], tuple(values[kept] for values in totals), rank[kept])
        self._raise_least()
        segment = np.zeros(len(order), np.int64)
        segment[first] = 1
        groups = number[np.cumsum(segment) - 1]
        is_kept = groups >= 0
        nodes = below.nodes[order][is_kept]
        return _Group(nodes, groups[is_kept], tuple(values[order][is_kept] for values in below.weights))

    def _raise_least(self) -> None:
        """Of more nodes than are shown, the narrow ones cannot be among them."""
        if self._n > 2 * self._asked.max_nodes:
            ranks = np.concatenate(self._rank)
            self._least = max(self._least, float(np.partition(ranks, -self._asked.max_nodes)[-self._asked.max_nodes]))

    def _finish(self, path: Sequence[tuple[float | int, ...]]) -> FlameNodes:
        parent, name = np.concatenate(self._parent), np.concatenate(self._name)
        rank = np.concatenate(self._rank)
        total = [np.concatenate(sides) for sides in zip(*self._total, strict=True)]
        below = [np.concatenate(sides) for sides in zip(*self._below, strict=True)]
        if len(parent) > self._asked.max_nodes:
            # A parent is as wide as its children or wider, and before them.
            kept = np.sort(np.argsort(-rank, kind="stable")[: self._asked.max_nodes])
            self._n_hidden += len(parent) - len(kept)
            number = np.full(len(parent), -1, np.int64)
            number[kept] = np.arange(len(kept))
            parent = np.where(parent[kept] >= 0, number[parent[kept]], -1)
            name, total, below = name[kept], [values[kept] for values in total], [values[kept] for values in below]
        own = tuple(_clipped(values - under, values) for values, under in zip(total, below, strict=True))
        hidden = tuple(_rest(under, values) for values, under in zip(total, below, strict=True))
        return FlameNodes(parent, name, own, tuple(total), hidden, self._n_hidden, path)


def _clipped(own: Weights, total: Weights) -> Weights:
    """Return the weights; of decimals what is nothing but rounding is 0."""
    return own if own.dtype.kind == "i" else np.where(own > total * ROUNDING, own, 0.0)


def _rest(below: Weights, total: Weights) -> float | int:
    """Return how much of what goes on below all nodes is not shown: all nodes but the first are below another one."""
    rest = below.sum() - total[1:].sum()
    return rest.item() if rest > (below.sum() * ROUNDING if below.dtype.kind == "f" else 0) else 0
