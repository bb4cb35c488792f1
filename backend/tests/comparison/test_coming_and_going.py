"""A unit that comes or goes is a finding where it uses something of the host, as a process is."""

from dataclasses import replace

import pytest

from normstat.comparison.findings.classify import NO_VALUES, SeriesIdentity
from normstat.comparison.findings.coming_and_going import Surroundings, Unmatched, find_unmatched
from normstat.stats.catalogue import load_catalogue

AROUND = Surroundings(
    n_cpus=4, memory_bytes=8.0 * 2**30, come_and_go={}, totals={}, long_enough=frozenset({"linux_unit", "linux_unit_disk"})
)


def unmatched(stat: str, field: str, mean: float) -> Unmatched:
    known = next(one for one in load_catalogue().stats[stat][1].fields if one.key == field)
    values = replace(NO_VALUES, n=12, mean=mean, median=mean, highest=mean)
    return Unmatched(SeriesIdentity(stat, "etl.service", known), "incident", values, n_reports=12)


@pytest.mark.parametrize(
    ("stat", "field", "mean", "is_finding"),
    [
        ("linux_unit", "cpu_pct", 90.0, True),
        ("linux_unit", "cpu_pct", 2.0, False),
        ("linux_unit", "anon_kb", 2.0**20, True),
        ("linux_unit", "anon_kb", 1024.0, False),
        ("linux_unit_disk", "kb_wr_per_s", 9000.0, True),
        ("linux_unit_disk", "kb_wr_per_s", 12.0, False),
        # How many tasks it has, and how near it is to a limit, takes nothing of the host.
        ("linux_unit", "tasks", 40.0, False),
        ("linux_unit", "memory_of_limit_pct", 99.0, False),
    ],
)
def test_a_unit_that_comes_is_a_finding_by_what_it_uses(stat: str, field: str, mean: float, is_finding: bool) -> None:
    found = find_unmatched("web1", [unmatched(stat, field, mean)], AROUND)
    assert [group.members[0].kind for group in found] == (["appeared"] if is_finding else [])


def test_cpu_time_of_a_unit_is_of_one_cpu() -> None:
    [group] = find_unmatched("web1", [unmatched("linux_unit", "cpu_pct", 80.0)], AROUND)
    assert group.impact == pytest.approx(0.2)
