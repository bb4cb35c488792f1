"""Stalls are told by how long and how often they are."""

import numpy as np
import pytest

from normstat.comparison.findings.stalls import Bouts, find_bursts, find_stalls
from normstat.scoring.summary import FloatArray
from tests.comparison.sides import compare_values

TIMES = np.arange(200, dtype=np.float64)


def with_stalls(*begins: int, length: int = 5) -> FloatArray:
    values = np.full(200, 40.0)
    for begin in begins:
        values[begin : begin + length] = 0
    return values


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (with_stalls(10, 48, 86, 124, 162), Bouts(5, 5.0, 38.0)),
        (with_stalls(10, 30, 150), Bouts(3, 5.0, None)),
        (with_stalls(10), None),
        # A sample that is low by chance, between stalls.
        (with_stalls(10, 48, 86, 124, 162) * np.where(TIMES == 70, 0.1, 1.0), Bouts(5, 5.0, 38.0)),
        (with_stalls(10, 48, length=1) * np.where(TIMES > 100, 0.0, 1.0), None),
        (np.zeros(200), None),
        (np.full(200, 40.0), None),
        (np.empty(0), None),
    ],
)
def test_how_long_and_how_often(values: FloatArray, found: Bouts | None) -> None:
    assert find_stalls(TIMES[: len(values)], values) == found


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (45 - with_stalls(10, 48, 86, 124, 162), Bouts(5, 5.0, 38.0)),
        # Higher all the time, or once: no bursts.
        (np.full(200, 45.0), None),
        (45 - with_stalls(10), None),
        # As high as it normally is.
        (6 - with_stalls(10, 48, 86) / 40, None),
    ],
)
def test_bursts_are_told_as_stalls_are(values: FloatArray, found: Bouts | None) -> None:
    assert find_bursts(TIMES, values, 8.0) == found


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("is_counted", [False, True])
def test_stalls_that_move_the_level_most_are_told_as_stalls(seed: int, *, is_counted: bool) -> None:
    """Of twenty seconds six are at nothing: the median falls, too, but "fell from 8 to 6" hides what happened."""
    rng = np.random.default_rng(seed)

    def make(n: int) -> FloatArray:
        return rng.poisson(8, n).astype(np.float64) if is_counted else np.round(200 * rng.lognormal(0, 0.6, n))

    disks = [f"sd{letter}" for letter in "abcdefghijklmnopqrst"]
    normal, incident = ({(disk, "r_per_s"): make(n) for disk in disks} for n in (1200, 200))
    for begin in range(10, 200, 20):
        incident["sda", "r_per_s"][begin : begin + 6] = 0
    [group] = compare_values({"iostat_linux": (normal, incident)}).groups
    assert (group.kind, group.members[0].instance) == ("stall", "sda")
    # Three of ten samples lose all: two decades. The mean of the host's disks moves by 1.5 %.
    assert group.impact == pytest.approx(0.3 * 0.2, abs=0.01)
    assert " falls to 0.00 /s in about 30 % of its samples" in group.sentence
    assert group.sentence.endswith(" It stops for 6 s every 20 s.")
