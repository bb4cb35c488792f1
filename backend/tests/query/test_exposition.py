"""Pages of the newest values: the strictest parser reads them, the table of OpenTelemetry fits, and each field has one name."""

import math
import re
from dataclasses import replace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as parse_text

from normstat.errors import Conflict
from normstat.query.exposition import OPENMETRICS, OWN_NAMES, TEXT, format_page
from normstat.query.newest_values import NewestRow, NewestValues
from normstat.query.semantic_names import FACTORS, OPENMETRICS_UNITS, load_semantic_names
from normstat.samples.lookup import StatRef
from normstat.stats.catalogue import load_catalogue
from normstat.stats.metric_names import find_shared_names
from normstat.stats.spec import Semantics

TIME_MS = 1_795_262_400_123
NAMES = load_semantic_names()


def newest(stat: str, *rows: tuple[str, str, dict[str, float]]) -> NewestValues:
    """The newest rows of a stat: host, instance, values by key. A field without one is missing."""
    spec, known = load_catalogue().stats[stat]
    return NewestValues(
        StatRef(1, stat, spec.name, spec.version, known.fields),
        tuple(
            NewestRow(host, instance, TIME_MS, tuple(values.get(field.key, math.nan) for field in known.fields))
            for host, instance, values in rows
        ),
    )


def parse(*found: NewestValues) -> dict[str, set[tuple[str, tuple[tuple[str, str], ...], float]]]:
    """The samples of each family: name, labels, value."""
    page = format_page(found, NAMES, OPENMETRICS).decode()
    return {
        family.name: {(sample.name, tuple(sorted(sample.labels.items())), sample.value) for sample in family.samples}
        for family in text_string_to_metric_families(page)  # type: ignore[no-untyped-call]
    }


def test_the_table_names_fields_of_the_catalogue_that_are_values_of_a_moment() -> None:
    stats = load_catalogue().stats
    for (stat, key), semantic in NAMES.items():
        field = next((field for field in stats[stat][1].fields if field.key == key), None)
        assert field is not None, f"{stat} has no field {key}"
        assert (field.unit, semantic.unit) in FACTORS, f"{stat}.{key}: {field.unit} does not become {semantic.unit}"
        assert field.semantics is not Semantics.COUNTER
        assert "/s" not in field.unit
        assert semantic.unit in OPENMETRICS_UNITS or re.fullmatch(r"\{[a-z_]+\}", semantic.unit)
        assert bool(stats[stat][1].instance_title) is (semantic.instance is not None)
        assert len(semantic.instance_attributes) == (0 if semantic.instance is None else semantic.instance.groups)


def test_names_units_and_attributes_are_those_of_the_conventions() -> None:
    memory = {"used_kb": 2048.0, "available_kb": 1024.0, "used_pct": 57.0, "pgpgin_per_s": 3.5}
    cpu = {"usr_pct": 7.0, "idle_pct": 93.0}
    page = format_page([newest("linux_memory", ("web1", "", memory))], NAMES, OPENMETRICS).decode()
    assert page.startswith("# TYPE system_memory_usage_bytes gauge\n# UNIT system_memory_usage_bytes bytes\n# HELP ")
    assert f'{{host_name="web1",system_memory_state="used"}} 2097152 {TIME_MS / 1000}\n' in page
    assert page.endswith("\n# EOF\n")
    found = parse(
        newest("linux_cpu", ("web1", "3", cpu), ("web1", "all", cpu)),
        newest("linux_memory", ("web1", "", memory)),
        newest("linux_process", ("web1", "77/my/app", {"rss_kb": 1.0, "threads": 4.0})),
        newest("df_linux", ("web1", '/va"r', {"used_pct": 29.0, "size": 10.0})),
    )
    cpu_name = "system_cpu_utilization_ratio"
    assert found[cpu_name] == {
        (cpu_name, (("cpu_logical_number", "3"), ("cpu_mode", mode), ("host_name", "web1")), value)
        for mode, value in (("user", 0.07), ("idle", 0.93))
    }
    # A sum of all CPUs beside each of them would count twice, and a rate is no counter.
    own = "normstat_linux_cpu_usr_pct"
    assert found[own] == {(own, (("host", "web1"), ("instance", "all")), 7.0)}
    assert found["normstat_linux_memory_pgpgin_per_s"] == {("normstat_linux_memory_pgpgin_per_s", (("host", "web1"),), 3.5)}
    assert {value for _, _, value in found["system_memory_utilization_ratio"]} == {0.57}
    (process,) = found["process_memory_usage_bytes"]
    assert process[1:] == ((("host_name", "web1"), ("process_executable_name", "my/app"), ("process_pid", "77")), 1024.0)
    assert {value for _, _, value in found["process_thread_count"]} == {4.0}
    (mount,) = found["system_filesystem_limit_bytes"]
    assert mount[1:] == ((("host_name", "web1"), ("system_filesystem_mountpoint", '/va"r')), 10_240.0)


def test_of_two_stats_that_measure_the_same_one_is_taken_for_each_host() -> None:
    cpu = {"usr_pct": 7.0}
    found = parse(
        newest("linux_cpu", ("web1", "0", cpu)), newest("mpstat_linux", ("web1", "0", {"usr_pct": 8.0}), ("web2", "0", cpu))
    )
    assert {(dict(labels)["host_name"], value) for _, labels, value in found["system_cpu_utilization_ratio"]} == {
        ("web1", 0.07), ("web2", 0.07),
    }  # fmt: skip
    own = "normstat_mpstat_linux_usr_pct"
    assert found[own] == {(own, (("host", "web1"), ("instance", "0")), 8.0)}


def every_field() -> list[NewestValues]:
    """A value of every field of the catalogue."""
    return [
        newest(name, ("web1", "1" if stat.instance_title else "", {field.key: 1.0 for field in stat.fields}))
        for name, (_, stat) in load_catalogue().stats.items()
    ]


def test_every_field_of_the_catalogue_has_a_name_of_its_own() -> None:
    """Counters end in _total; the parser refuses a family that comes twice, and a sample that is none of its family."""
    every = every_field()
    found = parse(*every)
    assert sum(len(samples) for samples in found.values()) == sum(len(one.stat.fields) for one in every)
    assert ("normstat_vmstat_linux_disk_reads_total", (("host", "web1"), ("instance", "1")), 1.0) in found[
        "normstat_vmstat_linux_disk_reads"
    ]
    # fsstat prints the same number, removed names, by default and with -n.
    assert {"normstat_fsstat_solaris__name_remov", "normstat_fsstat_solaris_name_remov"} <= found.keys()
    assert find_shared_names([stat for _, stat in load_catalogue().stats.values()]) == []


def test_both_formats_have_the_same_series() -> None:
    every = every_field()
    text, strict = (format_page(every, OWN_NAMES, media_type).decode() for media_type in (TEXT, OPENMETRICS))
    older, newer = (
        {
            (sample.name, tuple(sample.labels.items()), sample.value, float(str(sample.timestamp)))
            for family in families
            for sample in family.samples
        }
        for families in (parse_text(text), text_string_to_metric_families(strict))  # type: ignore[no-untyped-call]
    )
    assert older == newer
    assert "# EOF" not in text


def test_a_unit_is_named_where_the_name_ends_with_it() -> None:
    page = format_page(
        [newest("node_disk", ("web1", "sda", {"read_await_ms": 1.5, "io_time_pct": 2.0}))], OWN_NAMES, OPENMETRICS
    ).decode()
    assert "# UNIT normstat_node_disk_read_await_ms ms\n" in page
    assert page.count("# UNIT") == 1, "a name that ends in pct has the unit %, which no name can end with"


def test_two_fields_of_one_name_are_an_error_that_names_both() -> None:
    """A user's spec, or a column that its spec does not know, may come between."""
    field = load_catalogue().stats["vmstat_linux"][1].fields[0]
    one, other = (
        NewestValues(StatRef(number, stat, stat, 1, (replace(field, key=key),)), (NewestRow("web1", "", TIME_MS, (1.0,)),))
        for number, (stat, key) in enumerate((("shop", "cart_n"), ("shop_cart", "n")))
    )
    with pytest.raises(Conflict, match=r"shop\.cart_n and shop_cart\.n have the same name as metrics, normstat_shop_cart_n"):
        format_page([one, other], OWN_NAMES, TEXT)
    assert format_page([one], OWN_NAMES, TEXT)
