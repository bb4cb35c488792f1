"""Names that are indented below the one they belong to, as `zpool iostat -v` prints them: pool, group of disks, disk.

>>> tree = Tree()
>>> tree.place("zones", 0), tree.place("mirror", 2), tree.place("c0t0d0", 4), tree.place("mirror", 2), tree.place("c0t2d0", 4)
('zones', 'zones/mirror', 'zones/mirror/c0t0d0', 'zones/mirror#2', 'zones/mirror#2/c0t2d0')
"""

from typing import Final

JOINT: Final = "/"
# Maximum number of distinct names in one report.
MAX_NAMES: Final = 4096
DEEPEST: Final = 16


class Tree:
    """The names above the present line, each with its indent, and how often each name came in this report."""

    __slots__ = ("_path", "_times")

    def __init__(self, state: object = None) -> None:
        self._path: list[tuple[int, str]] = []
        self._times: dict[str, int] = {}
        if isinstance(state, list) and len(state) == 2:
            self._path = [(int(indent), str(name)) for indent, name in state[0]]
            self._times = {str(name): int(times) for name, times in state[1].items()}

    def to_state(self) -> list[object]:
        """Return the tree as JSON values."""
        return [[[indent, name] for indent, name in self._path], self._times]

    def clear(self) -> None:
        """Start a new report."""
        self._path.clear()
        self._times.clear()

    def is_root(self, indent: int) -> bool:
        """Return whether a name with that indent has no parent."""
        return not self._path or indent <= self._path[0][0]

    def open_section(self, name: str, indent: int) -> None:
        """Open a part of the current tree that has a name but no numbers (the caches of a pool)."""
        del self._path[1:]
        self._path.append((indent + 1, name))

    def place(self, name: str, indent: int) -> str:
        """Return the full name: its parents' names and its own, joined; a number distinguishes equal ones of a report."""
        while self._path and self._path[-1][0] >= indent:
            self._path.pop()
        whole = JOINT.join([*(above for _, above in self._path), name])
        if whole in self._times or len(self._times) < MAX_NAMES:
            times = self._times[whole] = self._times.get(whole, 0) + 1
            if times > 1 and self._path:
                name, whole = f"{name}#{times}", f"{whole}#{times}"
        if len(self._path) < DEEPEST:
            self._path.append((indent, name))
        return whole
