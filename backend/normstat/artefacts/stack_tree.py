"""Build the tree of a stack part from stacks, each with its frames from the root."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from normstat.artefacts.parts import Number, PartColumn, StackPart

# A million different stacks of a real program have fewer nodes; more is an attack or a mistake, and would take gigabytes.
MAX_NODES: Final = 2_000_000


class StackTreeBuilder:
    """Collects stacks; `build` returns the part."""

    def __init__(self, columns: Sequence[PartColumn], *, max_nodes: int = MAX_NODES) -> None:
        self._columns = tuple(columns)
        self._max_nodes = max_nodes
        self._names: dict[str, int] = {"": 0}
        # (parent, name) -> node, as one number: half the memory of pairs.
        self._nodes: dict[int, int] = {}
        self._parent = [0]
        self._name = [0]
        self._values: list[list[Number]] = [[0] for _ in columns]
        self._ends: set[int] = set()
        self._n_cut = 0

    @property
    def columns(self) -> tuple[PartColumn, ...]:
        """The columns of the values."""
        return self._columns

    @property
    def n_stacks(self) -> int:
        """Number of different stacks so far."""
        return len(self._ends)

    def add(self, frames: Iterable[str], values: Sequence[Number | None]) -> None:
        """Add a stack, its frames from the root; a missing value adds nothing."""
        names, nodes = self._names, self._nodes
        node = 0
        for frame in frames:
            name = names.setdefault(frame, len(names))
            key = node << 32 | name
            known = nodes.get(key)
            if known is None:
                if len(self._parent) >= self._max_nodes:
                    self._n_cut += 1
                    break
                known = len(self._parent)
                nodes[key] = known
                self._parent.append(node)
                self._name.append(name)
                for column in self._values:
                    column.append(0)
            node = known
        self._ends.add(node)
        for column, value in zip(self._values, values, strict=True):
            if value is not None:
                column[node] += value

    def build(self, *, stat: str, title: str, weight: str) -> StackPart:
        """Return the part of all stacks added."""
        return StackPart(
            stat=stat,
            title=title,
            columns=self._columns,
            weight=weight,
            names=list(self._names),
            parent=np.array(self._parent, np.int32),
            name=np.array(self._name, np.int32),
            values=tuple(map(_to_array, self._values)),
            n_stacks=len(self._ends),
            n_cut=self._n_cut,
        )


def _to_array(values: list[Number]) -> np.ndarray:
    is_whole = all(isinstance(value, int) for value in values)
    try:
        return np.array(values, np.int64 if is_whole else np.float64)
    except OverflowError:
        # A sum beyond 64 bits: decimals keep its size.
        return np.array(values, np.float64)
