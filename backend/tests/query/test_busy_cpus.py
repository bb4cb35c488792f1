"""The busy share of each CPU, and the imbalance, from steps that are there already."""

import numpy as np
import pytest

from normstat.codecs.rollup_codec import EMPTY, Buckets
from normstat.query.busy_cpus import CPU, find_busy, find_imbalance

NAN = np.nan


def buckets(*rows: tuple[int, int, int, float]) -> Buckets:
    """Rows of instance, step, number of samples and their mean."""
    instance, step, n = (np.array([row[at] for row in rows], dtype=np.int64) for at in range(3))
    mean = np.array([row[3] for row in rows])
    return Buckets(instance, step, n, mean * n, mean, mean, mean, mean)


def test_a_cpu_is_busy_when_it_is_neither_idle_nor_waiting_for_a_disk() -> None:
    idle = buckets((3, 10, 2, 80.0), (3, 12, 2, 50.0), (7, 10, 2, 100.0))
    steps, busy = find_busy(idle, EMPTY, np.array([3, 7]))
    assert steps.tolist() == [10, 12], "a step without any sample is none"
    np.testing.assert_array_equal(busy, [[20, 50], [0, NAN]])
    waiting = buckets((3, 10, 2, 15.0), (3, 11, 9, 99.0), (3, 12, 1, 50.0), (7, 10, 2, 0.3))
    np.testing.assert_array_equal(
        find_busy(idle, waiting, np.array([3, 7]))[1],
        [[5, NAN], [0, NAN]],
        "50 % idle of two samples and waiting of one of them do not add up; shares that the tool rounded stay within 0..100",
    )


@pytest.mark.parametrize(
    ("busy", "expected"),
    [
        ([50, 50, 50, 50], 0),
        ([100, 0, 0, 0], 300),
        ([100, 0, NAN, NAN], 100),
        ([100, NAN], NAN),
        ([9, 0, 0], NAN),
        ([NAN, NAN], NAN),
    ],
    ids=["even", "one of four", "two are offline", "one CPU alone", "hardly any work", "no samples"],
)
def test_imbalance(busy: list[float], expected: float) -> None:
    np.testing.assert_allclose(find_imbalance(np.array(busy, dtype=float)[:, None])[1], [expected])


def test_rows_of_all_cpus_are_no_cpu() -> None:
    assert [bool(CPU.fullmatch(name)) for name in ("0", "cpu12", "CPU3", "all", "cpu", "-1", "", "ALL")] == [True] * 3 + [False] * 5
