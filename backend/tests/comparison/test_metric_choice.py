"""Which quantities hosts have in common, from the specs alone. Pure."""

from dataclasses import replace

import pytest

from normstat.comparison.metric_choice import KnownHost, choose_metric, dimension_of, is_comparable, list_metrics
from normstat.errors import NotFound
from normstat.query.step_reduction import Reduction
from normstat.samples.lookup import StatRef
from normstat.stats.catalogue import load_catalogue


def stats_of(*names: str) -> list[StatRef]:
    found = (load_catalogue().stats[name] for name in names)
    return [StatRef(number, stat.name, spec.name, 1, tuple(stat.fields)) for number, (spec, stat) in enumerate(found)]


LINUX = KnownHost(1, "lin", ("vmstat_linux", "mpstat_linux", "iostat_linux", "sar_linux_net_dev"))
SOLARIS = KnownHost(2, "sol", ("vmstat_solaris", "mpstat_solaris", "iostat_solaris", "nicstat"))
STATS = stats_of(*LINUX.stats, *SOLARIS.stats)


def test_a_quantity_is_read_from_the_stat_that_most_hosts_have() -> None:
    third = KnownHost(3, "more", ("vmstat_linux",))
    choice = choose_metric("cpu.usr", [LINUX, SOLARIS, third], STATS)
    assert {host: metric.name for host, metric in choice.columns.items()} == {
        "lin": "vmstat_linux.cpu_us",
        "sol": "mpstat_solaris.usr_pct",
        "more": "vmstat_linux.cpu_us",
    }
    assert (choice.info.unit, choice.info.n_hosts, choice.info.is_percent) == ("%", 3, True)


def test_dimensions_of_a_meaning_are_never_in_one_graph() -> None:
    keys = {info.key: info for info in list_metrics([LINUX, SOLARIS], STATS)}
    traffic = {key: info.unit for key, info in keys.items() if key.startswith("net.in")}
    assert len(traffic) >= 2
    assert "net.in:bytes_per_s" in traffic
    choice = choose_metric("net.in:bytes_per_s", [LINUX, SOLARIS], STATS)
    dimensions = {dimension_of(metric.column.field)[0] for metric in choice.columns.values()}
    assert dimensions == {"bytes_per_s"}
    assert set(choice.columns) == {"lin", "sol"}


def test_what_is_counted_for_the_whole_host_is_not_that_of_a_disk() -> None:
    choice = choose_metric("disk.read_bytes:bytes_per_s", [LINUX, SOLARIS], STATS)
    assert {metric.column.stat.name for metric in choice.columns.values()} == {"iostat_linux", "iostat_solaris"}
    # Disks may contain each other: their sum is only drawn when it is asked for.
    assert choice.usual is Reduction.MAXIMUM


def test_units_are_converted_only_where_they_differ() -> None:
    by_unit = {
        (metric.column.field.unit, metric.factor)
        for key in ("mem.free", "disk.read_bytes:bytes_per_s")
        for metric in choose_metric(key, [LINUX, SOLARIS], STATS).columns.values()
    }
    assert by_unit <= {("KiB", 1.0), ("KiB/s", 1.0), ("B", 1.0), ("KiB", 1024.0), ("KiB/s", 1024.0), ("B/s", 1.0)}


def test_every_meaning_has_dimensions_of_one_unit_family() -> None:
    everything = stats_of(*load_catalogue().stats)
    host = KnownHost(1, "all", tuple(load_catalogue().stats))
    metrics = {info.key: info for info in list_metrics([host], everything)}
    fields = {f"{stat.name}.{field.key}": field for stat in everything for field in stat.fields}
    by_meaning = [info for info in metrics.values() if info.group == ""]
    assert len(by_meaning) > 60
    for info in by_meaning:
        own = [fields[name] for name in info.fields]
        assert len({dimension_of(field)[0] for field in own}) == 1, info.key
        assert all(map(is_comparable, own)), info.key
        found = choose_metric(info.key, [host], everything).info
        assert replace(found, decimals=info.decimals) == info


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("nothing.at_all", "There is no metric 'nothing.at_all'"),
        ("rubbish", "There is no metric 'rubbish'"),
        ("vmstat_linux.nothing", "There is no metric 'vmstat_linux.nothing'"),
        ("vmstat_aix.cpu_us", "There is no metric 'vmstat_aix.cpu_us'"),
        ("cpu.usr:bytes", "None of these hosts has 'cpu.usr:bytes'"),
        ("cpu.ipc", "None of these hosts has instructions per cycle"),
    ],
)
def test_a_metric_that_no_host_has_is_said(key: str, reason: str) -> None:
    with pytest.raises(NotFound, match=reason):
        choose_metric(key, [LINUX, SOLARIS], STATS)
