"""Stalls are told by how long and how often they are."""

import doctest

import numpy as np
import pytest

from normstat.comparison.findings import stalls
from normstat.comparison.findings.stalls import Stalls, find_stalls
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
        (with_stalls(10, 48, 86, 124, 162), Stalls(5, 5.0, 38.0)),
        (with_stalls(10, 30, 150), Stalls(3, 5.0, None)),
        (with_stalls(10), None),
        (np.zeros(200), None),
        (np.full(200, 40.0), None),
        (np.empty(0), None),
    ],
)
def test_how_long_and_how_often(values: FloatArray, found: Stalls | None) -> None:
    assert find_stalls(TIMES[: len(values)], values) == found


def test_examples_in_docstrings() -> None:
    result = doctest.testmod(stalls)
    assert (result.attempted, result.failed) == (1, 0)


def test_a_disk_that_stops_for_five_seconds_now_and_then() -> None:
    rng = np.random.default_rng(3)
    normal, incident = (np.round(rng.uniform(900, 1100, n)) for n in (2000, 200))
    for begin in range(10, 200, 38):
        incident[begin : begin + 5] = 0
    [group] = compare_values({"iostat_linux": ({("sda", "r_per_s"): normal}, {("sda", "r_per_s"): incident})}).groups
    assert group.kind == "stall"
    assert group.sentence.endswith(" It stops for 5 s every 38 s.")
