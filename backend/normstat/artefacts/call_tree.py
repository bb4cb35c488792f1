"""The tree of a stack part as arrays, from which views of a million stacks are made in a second.

Nodes are numbered by their depth, children of a node one after the other, so that sums of whole subtrees are sums of slices.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.parts import PartColumn, StackPart
from normstat.runtime.arrays import distinct_values

Ints = npt.NDArray[np.int64]
Weights = npt.NDArray[Any]
# comm/4711, worker-3/17: what distinguishes threads of one name.
THREAD: Final = re.compile(r"(?P<name>.*\S)/\d+")
# Larger sums would exceed 64 bits.
MAX_EXACT: Final = float(1 << 62)


@dataclass(frozen=True, slots=True)
class CallTree:
    """The nodes of a stack part.

    Shape: parent, name, first_child, end_child, top (n_nodes): `top` is the first frame of a node's stacks; own[j], total[j]
    (n_nodes) of each of `columns`: what ends in the node, and what passes through it. `level_starts` (n_levels + 1).
    `is_outer` (n_nodes): whether no ancestor has its name: what recursion may be counted by. `thread_name` (n_names): the name of a
    first frame without the number of its thread, as a number into `names`; it has more names than frames use.
    """

    stat: str
    title: str
    columns: tuple[PartColumn, ...]
    weight: str
    names: Sequence[str]
    parent: Ints
    name: Ints
    first_child: Ints
    end_child: Ints
    top: Ints
    level_starts: tuple[int, ...]
    is_outer: npt.NDArray[np.bool_]
    thread_name: Ints
    own: tuple[Weights, ...]
    total: tuple[Weights, ...]
    n_stacks: int
    n_cut: int

    @property
    def has_threads(self) -> bool:
        """Whether first frames are threads with a number."""
        return bool((self.thread_name != np.arange(len(self.names))).any())

    @property
    def n_bytes(self) -> int:
        """The memory of the tree, about."""
        arrays = (self.parent, self.name, self.first_child, self.end_child, self.top, self.is_outer, self.thread_name)
        return sum(each.nbytes for each in (*arrays, *self.own, *self.total)) + sum(map(len, self.names)) + 70 * len(self.names)


def make_tree(part: StackPart) -> CallTree:
    """Return the tree of a part."""
    n = len(part.parent)
    parent = part.parent.astype(np.int64)
    # Children of each node, one after the other; node 0 is its own parent.
    by_parent = np.argsort(parent[1:], kind="stable") + 1
    starts = np.searchsorted(parent[by_parent], np.arange(n + 1))
    order, level_starts = _order_by_depth(by_parent, starts, n)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    new_parent = place[parent[order]]
    n_children = np.diff(starts)[order]
    # The children of all nodes follow each other in the order of their parents.
    end_child = np.cumsum(n_children) + 1
    first_child = end_child - n_children
    own = tuple(_to_exact(values[order]) for values in part.values)
    total = tuple(_sum_up(values, first_child, end_child, level_starts) for values in own)
    name = part.name[order].astype(np.int64)
    top = _find_tops(new_parent, level_starts)
    firsts = name[slice(*level_starts[1:3])] if len(level_starts) > 2 else name[:0]
    names, thread_name = _name_threads(part.names, distinct_values(firsts))
    sizes = _sum_up(np.ones(n, np.int64), first_child, end_child, level_starts)
    return CallTree(
        part.stat, part.title, part.columns, part.weight, names, new_parent, name, first_child, end_child, top, level_starts,
        _find_outer(name, new_parent, sizes, first_child, level_starts), thread_name, own, total, part.n_stacks, part.n_cut,
    )  # fmt: skip


def ranges(first: Ints, end: Ints) -> Ints:
    """Return the numbers of all ranges [first, end), one after the other.

    >>> ranges(np.array([3, 10]), np.array([5, 11])).tolist()
    [3, 4, 10]
    """
    counts = end - first
    ends = np.cumsum(counts)
    found: Ints = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + counts, counts)
    return found


def _order_by_depth(by_parent: Ints, starts: Ints, n: int) -> tuple[Ints, tuple[int, ...]]:
    levels, frontier = [], np.zeros(min(n, 1), np.int64)
    level_starts = [0]
    while len(frontier):
        levels.append(frontier)
        level_starts.append(level_starts[-1] + len(frontier))
        frontier = by_parent[ranges(starts[frontier], starts[frontier + 1])]
    return np.concatenate(levels), tuple(level_starts)


def _to_exact(values: Weights) -> Weights:
    """Return the values; as decimals where their sum would not fit 64 bits."""
    if values.dtype.kind == "i" and float(np.abs(values.astype(np.float64)).sum()) < MAX_EXACT:
        return values
    return np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)


def _sum_up(values: Weights, first_child: Ints, end_child: Ints, level_starts: tuple[int, ...]) -> Weights:
    """Return for each node the sum over itself and all below it."""
    total = values.copy()
    for low, high in reversed(list(pairwise(level_starts))):
        with_children = np.flatnonzero(end_child[low:high] > first_child[low:high]) + low
        if len(with_children):
            # Children are one stretch in the order of their parents.
            begin, end = int(first_child[with_children[0]]), int(end_child[with_children[-1]])
            total[with_children] += np.add.reduceat(total[begin:end], first_child[with_children] - begin)
    return total


def _find_tops(parent: Ints, level_starts: tuple[int, ...]) -> Ints:
    top = np.arange(len(parent))
    for low, high in pairwise(level_starts[2:]):
        top[low:high] = top[parent[low:high]]
    return top


def _name_threads(names: Sequence[str], firsts: Ints) -> tuple[Sequence[str], Ints]:
    known: dict[str, int] = {}
    found: dict[int, str] = {}
    for number in firsts.tolist():
        if (match := THREAD.fullmatch(names[number])) is not None:
            found[number] = match["name"]
    if not found:
        return names, np.arange(len(names))
    wanted = set(found.values())
    for number, name in enumerate(names):
        if name in wanted:
            known.setdefault(name, number)
    longer = list(names)
    for name in found.values():
        if name not in known:
            known[name] = len(longer)
            longer.append(name)
    thread_name = np.arange(len(longer))
    for number, name in found.items():
        thread_name[number] = known[name]
    return longer, thread_name


def _find_outer(name: Ints, parent: Ints, sizes: Ints, first_child: Ints, level_starts: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return whether a node has no ancestor of its name: numbered in the order of a walk, no earlier node of its name spans it."""
    n = len(name)
    before = np.cumsum(sizes) - sizes
    walk = np.zeros(n, np.int64)
    for low, high in pairwise(level_starts[1:]):
        above = parent[low:high]
        walk[low:high] = walk[above] + 1 + before[low:high] - before[first_child[above]]
    order = np.lexsort((walk, name))
    start = name[order] * (n + 1) + walk[order]
    end = np.maximum.accumulate(start + sizes[order])
    found = np.ones(n, np.bool_)
    found[order[1:]] = start[1:] >= end[:-1]
    return found
