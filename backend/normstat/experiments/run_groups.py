"""Runs sorted into groups by throughput and CPU use: A does much with much CPU, B waits, C is busy without doing much. Pure.

Source: LKST's analysis of IOzone (A: high CPU use, highest throughput; B: low CPU use, low throughput; C: high CPU use, lowest
throughput)
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

MIN_RUNS: Final = 3


class RunGroup(StrEnum):
    """What a run is like beside the others of its experiment.

    A  high throughput, high CPU use: the reference for the others
    B  low throughput, low CPU use: it waits, for example for a full queue of a disk
    C  low throughput, high CPU use: the CPU does something else, such as spinning on a lock
    D  high throughput, low CPU use: the most efficient
    """

    A = "A"
    B = "B"
    C = "C"
    D = "D"


def sort_runs(runs: Sequence[tuple[float | None, float | None]]) -> list[RunGroup | None]:
    """Return the group of each run (throughput, CPU use); high is above the middle between the lowest and the highest run.

    Missing: None for runs that lack one of the two, and for all of them where there are fewer than MIN_RUNS, or all are equal

    >>> [str(group) for group in sort_runs([(90, 80), (40, 10), (20, 85), (95, 75)])]
    ['A', 'B', 'C', 'A']
    """
    whole = [(throughput, cpu) for throughput, cpu in runs if throughput is not None and cpu is not None]
    if len(whole) < MIN_RUNS:
        return [None] * len(runs)
    throughputs, cpus = ([pair[at] for pair in whole] for at in (0, 1))
    middles = (_middle(throughputs), _middle(cpus))
    if middles[0] is None or middles[1] is None:
        return [None] * len(runs)
    found: list[RunGroup | None] = []
    for throughput, cpu in runs:
        if throughput is None or cpu is None:
            found.append(None)
        elif throughput > middles[0]:
            found.append(RunGroup.A if cpu > middles[1] else RunGroup.D)
        else:
            found.append(RunGroup.C if cpu > middles[1] else RunGroup.B)
    return found


def _middle(values: Sequence[float]) -> float | None:
    low, high = min(values), max(values)
    return None if low == high else (low + high) / 2
