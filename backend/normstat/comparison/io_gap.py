"""Whose disk I/O was recorded: the kernel shows that of other users' processes only to root, or with two capabilities."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import numpy as np

from normstat.comparison.read_side import StatSide

STAT: Final = "linux_command"
READ, WRITTEN, MEMORY = "kb_rd_per_s", "kb_wr_per_s", "rss_kb"
# The first snapshot of a process has no rates yet.
MIN_SAMPLES: Final = 2
# A few processes hide their I/O even from root.
MAX_UNSEEN_SHARE: Final = 0.05
MAX_UNSEEN: Final = 1


class IoGap(StrEnum):
    """Whose I/O was recorded: that of all processes, of the agent's own user, or of none."""

    ALL = "all"
    OWN = "own"
    NONE = "none"


CLAUSES: Final = {
    IoGap.OWN: "which process did it was not recorded: the agent may not read the I/O of other users' processes",
    IoGap.NONE: "which process did it was not recorded: the agent may not read the I/O of any process",
}


def io_gap(sides: Mapping[str, StatSide]) -> IoGap | None:
    """Return whose I/O the samples of a host have. Missing: None where no processes were sampled that do I/O

    A thread of the kernel, and a process that has ended, has no memory and no I/O.
    """
    side = sides.get(STAT)
    if side is None or MEMORY not in side.values:
        return None
    every = slice(0, side.n_rows)
    lives = side.part(MEMORY, every) > 0
    has_io = np.zeros(side.n_rows, dtype=np.bool_)
    for field in (READ, WRITTEN):
        if field in side.values:
            has_io |= np.isfinite(side.part(field, every))
    is_counted = np.bincount(side.instance[lives], minlength=len(side.names)) >= MIN_SAMPLES
    is_seen = np.bincount(side.instance[has_io], minlength=len(side.names)) > 0
    n_counted, n_unseen = int(is_counted.sum()), int((is_counted & ~is_seen).sum())
    if n_counted == 0:
        return None
    if n_unseen == n_counted:
        return IoGap.NONE
    return IoGap.ALL if n_unseen <= max(MAX_UNSEEN, MAX_UNSEEN_SHARE * n_counted) else IoGap.OWN


def describe_io_gap(sides: Mapping[str, StatSide]) -> str | None:
    """Return a clause that says why a disk's line names no process.

    Missing: None where all I/O was recorded, or no processes were
    """
    gap = io_gap(sides)
    return None if gap is None else CLAUSES.get(gap)
