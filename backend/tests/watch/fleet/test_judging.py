"""How hosts are judged: by which fields, what is normal, how far minutes are from it; and whether a host was sending."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.query.fleet_rows import PastStreams
from normstat.query.host_numbers import StreamState
from normstat.query.minute_means import SpanSamples
from normstat.samples.lookup import StatRef
from normstat.stats.catalogue import load_catalogue
from normstat.watch.fleet.fleet_answer import to_past_state
from normstat.watch.fleet.judging import FleetSeries, judge, largest_by_host, level_of, to_lines, to_ribbons
from normstat.watch.fleet.key_metrics import KEY_METRICS, KeyField, choose_fields, find_key_fields
from normstat.watch.fleet.normals import normals_of_samples
from normstat.window import to_us

NAN = np.nan

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LIVE, LATE, SILENT = StreamState.LIVE, StreamState.LATE, StreamState.SILENT


def ref(name: str) -> StatRef:
    spec, stat = load_catalogue().stats[name]
    return StatRef(1, name, spec.name, spec.version, stat.fields)


KEYS = find_key_fields(ref("vmstat_linux"))


def series(means: list[list[float]], *, host: list[int], low: float = 0, high: float = 6, scale: float = 2) -> FleetSeries:
    values = np.array(means, np.float32)
    n = len(values)
    same = np.ones(n)
    return FleetSeries(
        np.array(host),
        values,
        np.where(np.isnan(values), 0, 60).astype(np.int64),
        low * same,
        high * same,
        scale * same,
        scale * same,
    )


def test_inside_the_band_is_normal_and_outside_counts_in_change_scales() -> None:
    judged = judge(series([[3, 6, 10, -4]], host=[0], low=0, high=6))
    assert judged.minute_ratio.tolist() == [[0, 0, 2, 2]]


def test_recent_minutes_count_by_their_rows_and_missing_ones_do_not() -> None:
    own = series([[100, NAN, 8, 8, NAN, 16]], host=[0])
    own.n_rows[0] = [60, 0, 60, 60, 0, 30]
    judged = judge(own)
    assert judged.recent.tolist() == [(8 * 60 + 8 * 60 + 16 * 30) / 150]
    assert judged.recent_ratio.tolist() == [(judged.recent[0] - 6) / 2]


def test_without_samples_or_without_a_normal_there_is_no_ratio() -> None:
    judged = judge(series([[NAN, NAN], [1, 2]], host=[0, 1], low=NAN, high=NAN))
    assert np.isnan(judged.recent_ratio).all()
    assert np.isnan(judged.minute_ratio).all()
    assert judged.recent.tolist()[1] == 1.5


def test_a_ribbon_shows_the_worst_series_and_why_a_minute_has_no_level() -> None:
    own = series([[0, 7, NAN, NAN, 50], [8.5, NAN, NAN, NAN, 0]], host=[1, 1])
    ratios = largest_by_host(judge(own).minute_ratio, own.host, 3)
    has_data = np.array([[True] * 5, [True, True, True, False, True], [False] * 5])
    is_read = np.array([True, True, True, True, False])
    assert to_ribbons(ratios, has_data, is_read) == ["????.", "10?-.", "----."]


def test_levels() -> None:
    assert level_of(np.array([0, 0.99, 1, 2.9, 3, 9.9, 10, 1e9])).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_line_has_a_letter_for_each_minute() -> None:
    assert to_lines(np.array([[0, 50, 100, NAN, 200]]), np.array([100.0])) == ["0Uz-z"]
    assert to_lines(np.array([[0.0, NAN]]), np.array([0.0])) == ["0-"]


def test_a_baseline_without_samples_has_no_normal() -> None:
    empty = SpanSamples(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, len(KEYS)), np.float32))
    assert normals_of_samples("vmstat_linux", KEYS, empty, {}) == {}


def test_each_host_has_its_own_normal_and_missing_fields_have_none() -> None:
    values = np.full((4, len(KEYS)), np.nan, np.float32)
    at = next(place for place, key in enumerate(KEYS) if key.field.key == "cpu_id")
    values[:, at] = [90, 10, 94, 12]
    samples = SpanSamples(np.array([7, 8, 7, 8]), np.array([0, 0, 1, 1]), values)
    found = normals_of_samples("vmstat_linux", KEYS, samples, {7: (1, ""), 8: (2, "")})
    assert {host: [(name.field, normal.middle) for name, normal in normals.items()] for host, normals in found.items()} == {
        1: [("cpu_id", 92.0)],
        2: [("cpu_id", 11.0)],
    }


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


def minutes(n_silent: int) -> list[bool]:
    """An hour with samples up to so many minutes before its end."""
    return [at < 60 - n_silent for at in range(60)]


@pytest.mark.parametrize(("n_silent", "state"), [(0, LIVE), (1, LATE), (9, LATE), (10, SILENT), (60, SILENT)])
def test_minutes_with_samples_decide(n_silent: int, state: StreamState) -> None:
    found = to_past_state(PastStreams(None, 3, ("vmstat 1",)), minutes(n_silent), AT)
    # The exact time of the last sample is unknown: the streams go on.
    assert (found.state, found.last_sample_ms, found.n_running) == (state, None, 3)


def test_a_host_whose_streams_all_ended_has_the_exact_time_of_its_last_sample() -> None:
    ended_at = AT - timedelta(minutes=5, seconds=3)
    found = to_past_state(PastStreams(ended_at), minutes(5), AT)
    assert (found.state, found.last_sample_ms, found.n_running) == (LATE, to_us(ended_at) // 1000, 0)
    assert to_past_state(PastStreams(AT - timedelta(hours=3)), minutes(60), AT).state is SILENT


def test_a_host_that_came_later_was_silent() -> None:
    assert to_past_state(PastStreams(), minutes(60), AT) == to_past_state(PastStreams(), None, AT)
    assert to_past_state(PastStreams(), None, AT).state is SILENT


def test_seldom_reports_and_hosts_without_key_metrics() -> None:
    seldom = PastStreams(None, 1, ("@300 df -k",))
    assert to_past_state(seldom, minutes(4), AT).state is LIVE
    assert to_past_state(seldom, minutes(8), AT).state is LATE
    assert to_past_state(PastStreams(None, 2, ("@300 df -k", "vmstat 1")), minutes(4), AT).state is LATE
    # Nothing that the fleet page reads: its streams go on.
    assert to_past_state(seldom, None, AT).state is LIVE
    assert to_past_state(PastStreams(AT - timedelta(hours=1)), None, AT).state is SILENT
