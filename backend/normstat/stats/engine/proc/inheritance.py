"""What living processes got from those that ended: the kernel gives the CPU time and the I/O of a whole life to its heir.

The heir is the first ancestor that lives on, or, where the parent ended first, the one that adopts orphans: process 1 or a
subreaper. Some processes end while a snapshot is printed: it may lack both the process and what its heir got, or have both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.records import State

# Takes amounts off what a process got in this interval; returns what it did not get.
Take = Callable[[str, Sequence[float]], list[float]]
# Returns the parent of a process that lives; None for one that does not.
ParentOf = Callable[[str], str | None]
# A smaller rest is an error of rounding.
LEAST: Final = 1.0


@dataclass(frozen=True, slots=True)
class KnownProcess:
    """A process of a snapshot: its parent, and all that the kernel counted of it, its own and that of children it waited for."""

    parent: str
    amounts: Sequence[float]


class Inheritance:
    """What was inherited, from snapshot to snapshot.

    `_owed`: by heir what its counters did not show yet, of its children and of orphans. `_early`: processes that their parent has
    inherited from although the last snapshot still had them.
    """

    def __init__(self, state: object = None) -> None:
        own = state if isinstance(state, dict) else {}
        self._owed = {str(pid): [list(map(float, some)) for some in both] for pid, both in own.get("owed", {}).items()}
        self._early = {str(pid): list(map(float, some)) for pid, some in own.get("early", {}).items()}

    def to_state(self) -> State:
        """Return it as JSON values."""
        return {"owed": self._owed, "early": self._early}

    def take_off(self, ended: Mapping[str, KnownProcess], parent_of: ParentOf, take: Take) -> None:
        """Take off living processes what snapshots have shown of those that ended since the last one."""
        heirs: dict[str, str] = {}
        for earlier, (of_children, of_orphans) in self._owed.items():
            heir = _find_heir(earlier, ended, heirs)
            take(heir, of_children)
            _take_of_orphans(heir, of_orphans, parent_of, take)
        left: dict[str, list[list[float]]] = {}
        for pid, process in ended.items():
            both = left.setdefault(_find_heir(pid, ended, heirs), [[0.0] * len(process.amounts) for _ in range(2)])
            group = both[process.parent in ended]
            early = self._early.pop(pid, [0.0] * len(process.amounts))
            # A number is used again: what was taken for the process before may exceed what this one used.
            group[:] = [sum_ + max(0.0, amount - taken) for sum_, amount, taken in zip(group, process.amounts, early, strict=True)]
        rests = {heir: [take(heir, of_children), of_orphans] for heir, (of_children, of_orphans) in left.items()}
        for heir, both in rests.items():
            both[1] = _take_of_orphans(heir, both[1], parent_of, take)
        self._owed = {heir: both for heir, both in rests.items() if max(*both[0], *both[1]) >= LEAST}

        self._early = {pid: amounts for pid, amounts in self._early.items() if parent_of(pid) is not None}

    def take_off_early(self, children: Iterable[tuple[str, KnownProcess]], take: Take) -> None:
        """Take off parents what they got of these children, which this snapshot still has: once for each child, since a parent of
        many short children may have a long one, too.
        """
        for pid, process in children:
            if pid not in self._early:
                self._early[pid] = list(process.amounts)
                take(process.parent, process.amounts)


def _take_of_orphans(heir: str, amounts: Sequence[float], parent_of: ParentOf, take: Take) -> list[float]:
    """Take off what the heir and its ancestors got of orphans; return what none of them got.

    It is unknown whether they or their parent ended first. The older an ancestor, the fewer children of its own end: what it got is
    of orphans.
    """
    line: list[str] = []
    while heir not in line and (parent := parent_of(heir)) is not None:
        line.append(heir)
        heir = parent
    rest = list(amounts)
    for ancestor in reversed(line):
        rest = take(ancestor, rest)
    return rest


def _find_heir(pid: str, ended: Mapping[str, KnownProcess], heirs: dict[str, str]) -> str:
    """Return the first ancestor that has not ended; "" in a circle, which no kernel prints. `heirs`: those found before"""
    path = []
    while pid in ended and pid not in heirs:
        heirs[pid] = ""
        path.append(pid)
        pid = ended[pid].parent
    heir = heirs.get(pid, pid)
    heirs.update(dict.fromkeys(path, heir))
    return heir
