"""A process that is always there among others of its command: what it does is found, though the sum of the command hardly moves."""

import numpy as np
import pytest

from normstat.comparison.host_comparison import HostComparison
from normstat.scoring.summary import FloatArray
from tests.comparison.sides import compare_values

N, M = 120, 20
Side = dict[tuple[str, str], FloatArray]


def service(n: int, *, seed: int) -> FloatArray:
    return np.round(12 + np.random.default_rng(seed).normal(0, 1, n), 1)


def compare(now: FloatArray, *, has_others: bool = True) -> HostComparison:
    """A host with a service beside scripts of the same interpreter, which come and go. `now`: CPU of the service"""
    given: dict[str, tuple[Side, Side]] = {name: ({}, {}) for name in ("linux_cpu", "linux_command", "linux_process")}
    for side, n, used in ((0, N, service(N, seed=1)), (1, M, now)):
        scripts = has_others * np.round(np.random.default_rng(2 + side).uniform(0, 80, n), 1)
        total = np.pad(used, (0, n - len(used))) + scripts
        for cpu in ("0", "1", "all"):
            given["linux_cpu"][side][cpu, "idle_pct"] = 100 - total / 2
        given["linux_command"][side]["python3", "cpu_pct"] = total
        given["linux_process"][side]["812/python3", "cpu_pct"] = used
        # Something else is in each report.
        given["linux_process"][side]["1/init", "cpu_pct"] = np.full(n, 0.2)
        if has_others:
            given["linux_process"][side][f"90{side}/python3", "cpu_pct"] = scripts[: n // 2]
    return compare_values(given)


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (np.zeros(M), "python3 (812) used 0 % of a CPU (normally 10 to 13 %)"),
        # No row: it did nothing.
        (service(1, seed=3), "python3 (812) used 0.7 % of a CPU (normally 10 to 13 %)"),
    ],
    ids=["idle", "no rows"],
)
def test_a_service_that_stops_is_named_by_its_id(now: FloatArray, sentence: str) -> None:
    [story] = compare(now).stories
    assert story.story.sentence.startswith(sentence)
    assert story.story.processes[0].pids == [812]


def test_a_service_that_goes_on_is_nothing() -> None:
    found = compare(service(M, seed=4))
    assert found.stories == []
    series = {found.rows.fields[field].field.key for field in found.rows.field.tolist()}
    assert "cpu_pct" in series


def test_the_only_process_of_a_command_stands_for_it() -> None:
    found = compare(np.zeros(M), has_others=False)
    assert {(group.stat, group.field) for group in found.groups} >= {("linux_process", "cpu_pct")}
    assert "linux_command" not in {group.stat for group in found.groups}


def test_what_a_process_reads_beside_its_work_hides_no_service_that_does_less() -> None:
    given: dict[str, tuple[Side, Side]] = {name: ({}, {}) for name in ("linux_cpu", "linux_command", "linux_process")}
    # A server works a little more than ever and reads a few pages, while the service beside it stalls: their sum is as normal.
    for side, n in ((0, N), (1, M)):
        at = np.arange(n)
        server = np.where((at < 6) & bool(side), 14.0, np.round(2 + np.random.default_rng(5 + side).normal(0, 0.1, n), 1))
        stalling = np.where((at % 12 < 4) & bool(side), 2.0, service(n, seed=1 + side))
        for cpu in ("0", "1", "all"):
            given["linux_cpu"][side][cpu, "idle_pct"] = 100 - (server + stalling) / 2
        for stat, names in (("linux_command", ("python", "java")), ("linux_process", ("45/python", "812/java"))):
            for name, used in zip(names, (server, stalling), strict=True):
                given[stat][side][name, "cpu_pct"] = used
            given[stat][side][names[0], "kb_rd_per_s"] = np.where((at == 7) & bool(side), 900.0, 0.0)
    [story] = compare_values(given).stories
    assert "java (812) used 8.1 % of a CPU (down to 2.0 %; normally 10 to 13 %)" in story.story.sentence
