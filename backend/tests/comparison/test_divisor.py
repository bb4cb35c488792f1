"""A load that is zero now and then: those reports are left out, and change neither values nor the share of missing samples."""

import numpy as np
import pytest

from normstat.comparison.divisor import Divisor, Rate, describe_left_out, divide, divide_pair
from normstat.comparison.host_comparison import HostComparison, Task, compare_sides, score_sides
from normstat.comparison.score import StatPair
from normstat.profiles.sketch_reader import is_profiled
from normstat.scoring.summary import FloatArray
from normstat.window import Window, from_us, to_us
from tests.comparison.sides import START, make_side, stat_of

N, N_INCIDENT = 600, 60
BEGIN = START.timestamp()


def compare(load_baseline: FloatArray, load_incident: FloatArray) -> HostComparison:
    """Seven disks whose work follows the load, divided by it."""
    rng = np.random.default_rng(4)
    stat = stat_of("iostat_linux")
    sides = []
    for load, start_s in ((load_baseline, BEGIN), (load_incident, BEGIN + N)):
        values = {}
        for number in range(7):
            noise = np.exp(0.05 * rng.normal(size=len(load)))
            values[f"sd{number}", "tps"] = np.round((number + 1) * (load + 1) * noise, 2)
            values[f"sd{number}", "rkb_per_s"] = np.round(8 * (number + 1) * (load + 1) * noise, 2)
        sides.append(make_side(stat, values, start_s))
    fields = {field.key: field for field in stat.fields if is_profiled(field)}
    rates = [Rate(side.times_s, load) for side, load in zip(sides, (load_baseline, load_incident), strict=True)]
    divisor = Divisor("vmstat_linux.system_in", *rates)
    pair, left_out = divide_pair(StatPair(fields, *sides), divisor)
    middle = from_us(to_us(START) + N * 1_000_000)
    incident = Window(middle, from_us(to_us(middle) + N_INCIDENT * 1_000_000))
    task = Task("web1", 1, incident, (1,), (Window(START, middle),), divisor=divisor)
    return compare_sides(task, score_sides(task, [pair]), {}, [left_out])


def busy(n: int) -> FloatArray:
    return np.round(1000 + 100 * np.sin(np.arange(n) / 9), 0)


def test_a_load_that_is_zero_in_some_reports_drowns_nothing() -> None:
    calm = compare(busy(N), busy(N_INCIDENT))
    assert (calm.n_findings, calm.divisor_note) == (0, "")
    idle = busy(N_INCIDENT)
    idle[10:27] = 0
    found = compare(busy(N), idle)
    # Every one of the series differed: all were missing from 28 of 100 reports.
    assert found.n_findings == 0
    assert found.n_unchanged == 14
    assert found.divisor_note == (
        "17 of 60 reports of the incident have no load (vmstat_linux.system_in is zero or missing) and are left out."
    )


def test_a_side_without_any_load_makes_nothing_appear() -> None:
    found = compare(np.zeros(N), busy(N_INCIDENT))
    assert (found.appeared, found.disappeared) == ([], [])
    assert {(one.n_baseline, one.n_incident) for one in found.insufficient_data} == {(0, N_INCIDENT)}


def test_reports_without_a_load_are_gone_and_the_rest_is_divided() -> None:
    stat = stat_of("iostat_linux")
    side = make_side(stat, {("sda", "tps"): np.arange(5.0), ("sdb", "tps"): np.arange(3.0)}, BEGIN)
    rate = Rate(side.times_s, np.array([2.0, 0.0, 4.0, np.nan, 8.0]))
    divided = divide(side, rate)
    np.testing.assert_array_equal(divided.times_s, side.times_s[[0, 2, 4]])
    np.testing.assert_allclose(divided.grid([("sda", "tps"), ("sdb", "tps")]), [[0, 0.5, 0.5], [0, 0.5, np.nan]])


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ([(0, 0), (0, 0)], ""),
        ([(0, 600), (1, 1)], "1 of 1 report of the incident has no load (a.b is zero or missing) and is left out."),
        (
            [(1, 600), (2, 60)],
            "1 of 600 reports of the baseline and 2 of 60 of the incident have no load (a.b is zero or missing) and are left out.",
        ),
        ([(1200, 6000), (0, 60)], "1,200 of 6,000 reports of the baseline have no load (a.b is zero or missing) and are left out."),
    ],
)
def test_the_sentence(counts: list[tuple[int, int]], note: str) -> None:
    assert describe_left_out("a.b", [(counts[0], counts[1])]) == note
