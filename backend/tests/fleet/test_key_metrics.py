"""Which fields of which stats a host is judged by."""

from collections.abc import Sequence

from normstat.fleet.key_metrics import KEY_METRICS, KeyField, choose_fields, find_key_fields
from normstat.stats.catalogue import load_catalogue
from normstat.storage.lookup import StatRef


def ref(name: str) -> StatRef:
    spec, stat = load_catalogue().stats[name]
    return StatRef(1, name, spec.name, spec.version, stat.fields)


def chosen(present: dict[str, Sequence[str]]) -> dict[str, set[str]]:
    known: dict[str, Sequence[KeyField]] = {name: find_key_fields(ref(name)) for name in present}
    return {stat: {key.field.key for key in keys} for stat, keys in choose_fields(known, present).items()}


def test_every_meaning_of_a_key_metric_is_known() -> None:
    found = {key.meaning for name in load_catalogue().stats for key in find_key_fields(ref(name))}
    assert found == {meaning for metric in KEY_METRICS for meaning in metric.meanings}


def test_each_metric_is_read_from_one_stat_and_of_cpus_only_their_sum() -> None:
    found = chosen({"vmstat_linux": [""], "mpstat_linux": ["all", "0"], "iostat_linux": ["vda"], "linux_net": ["eth0"]})
    assert found["vmstat_linux"] >= {"cpu_id", "cpu_sy", "procs_r", "memory_free"}
    assert "mpstat_linux" not in found
    assert "util_pct" in found["iostat_linux"]
    assert found["linux_net"] == {"rxkb_per_s", "txkb_per_s"}
    assert chosen({"mpstat_linux": ["0", "1"]}) == {}
    assert "idle_pct" in chosen({"mpstat_linux": ["0", "all"]})["mpstat_linux"]


def test_memory_available_comes_before_free_memory() -> None:
    found = chosen({"vmstat_linux": [""], "linux_memory": [""]})
    assert "memory_free" not in found["vmstat_linux"]
    assert "available_kb" in found["linux_memory"]


def test_solaris_is_judged_too() -> None:
    found = chosen({"vmstat_solaris": [""], "iostat_solaris": ["c0t0d0"]})
    assert found["vmstat_solaris"] >= {"cpu_id", "kthr_r", "memory_free"}
    assert "b_pct" in found["iostat_solaris"]
