"""What units stand for, and that specs say what their tools mean."""

import doctest
import re

import pytest

from normstat.stats import units
from normstat.stats.catalogue import load_catalogue

DECIMAL = re.compile(r"([kKMGTP]B|[kKMGTP]|[kKMG]bytes?|kilobytes|megabytes)(/.*)?")


def test_sizes_of_tools_are_powers_of_1024_by_name() -> None:
    """No tool of the catalogue counts kilobytes of 1000: a unit of kB would be scaled by it."""
    found = {
        f"{stat.name}.{field.key}: {field.unit}"
        for _, stat in load_catalogue().stats.values()
        for field in stat.fields
        if DECIMAL.fullmatch(field.unit)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("stat", "field", "unit"),
    [
        ("iostat_linux", "rkb_per_s", "KiB/s"),
        ("iostat_linux", "rmb_per_s", "MiB/s"),
        ("iostat_linux", "rareq_sz_kb", "KiB"),
        ("pidstat_linux", "kb_rd_per_s", "KiB/s"),
        ("pidstat_linux", "rss_kb", "KiB"),
        ("sar_linux_net_dev", "rxkb_per_s", "KiB/s"),
        ("sar_linux_mem", "memfree_kb", "KiB"),
        ("sadf_linux_mem", "memfree_kb", "KiB"),
        ("vmstat_linux", "io_bi", "KiB/s"),
        ("vmstat_linux", "memory_free", "KiB"),
        ("free_linux", "total", "KiB"),
        ("proc_meminfo", "mem_total", "KiB"),
        ("iostat_solaris", "kr_per_s", "KiB/s"),
        ("vmstat_solaris", "memory_swap", "KiB"),
        ("nicstat", "rkb_per_s", "KiB/s"),
        ("nfsiostat_linux_op", "kb_per_s", "KiB/s"),
    ],
)
def test_kilobytes_of_1024(stat: str, field: str, unit: str) -> None:
    _, found = load_catalogue().stats[stat]
    assert {item.key: item.unit for item in found.fields}[field] == unit


def test_examples() -> None:
    assert doctest.testmod(units).failed == 0
