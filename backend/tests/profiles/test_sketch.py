"""Pieces and what is put together from them agree with the samples that they stand for."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.baselines.window_sets import length_s
from normstat.codecs.array_codec import BrokenBytes, Sections, pack_sections
from normstat.profiles import sketch_builder
from normstat.profiles.profile_builder import BuiltProfile, StatSketches, TooShort, build_profile
from normstat.profiles.profile_codec import BAND, find_in_band, make_band, pack_profile, unpack_band, unpack_profile
from normstat.profiles.seasonality import describe, find_slots, slot_of
from normstat.profiles.sketch import SHORT_BASELINE_S, TYPES, PackedSketch, Sketch, pack_sketch, rebase, sketch_spans, window_starts
from normstat.profiles.sketch_builder import StatRows, build_sketch, join_fields
from normstat.profiles.summary_codec import pack_minutes, pack_summaries, unpack_minutes, unpack_summary
from normstat.scoring.summary import Summary, summarise
from normstat.window import Window, to_us

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
KINDS = ("load", "idle", "bytes", "steps", "events", "constant")


def series_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """What tools print: loads that swing, percentages near 100, counts of bytes, coarse steps, rare events, nothing at all."""
    at = np.arange(n)
    noise = np.zeros(n)
    steps = rng.normal(0, 1, n)
    for number in range(1, n):
        noise[number] = 0.9 * noise[number - 1] + steps[number]
    values: dict[str, np.ndarray] = {
        "load": np.round(np.maximum(0, 30 + 15 * np.sin(at / 4000) + 3 * noise), 2),
        "idle": np.round(np.clip(96 - np.abs(noise), 0, 100), 2),
        "bytes": np.rint(2.0**41 + 4096 * np.cumsum(steps)),
        "steps": np.rint(3 + noise),
        "events": np.where(rng.random(n) < 0.002, rng.integers(1, 50, n), 0).astype(np.float64),
        "constant": np.full(n, 7.0),
    }
    return values[kind]


def sample(n: int, *, cpus: int = 2, seed: int = 0, interval_s: int = 1) -> StatRows:
    """That many reports of each kind of series for each CPU."""
    rng = np.random.default_rng(seed)
    values = {kind: np.stack([series_of(kind, n, rng) for _ in range(cpus)], axis=1).ravel() for kind in KINDS}
    return StatRows(
        to_us(START) + np.repeat(np.arange(n), cpus) * interval_s * 1_000_000,
        np.tile(np.arange(cpus), n),
        [f"cpu{number}" for number in range(cpus)],
        {kind: partial(values.__getitem__, kind) for kind in KINDS},
    )


def part(rows: StatRows, span: Window) -> StatRows:
    """The rows in a span."""
    inside = (rows.time_us >= to_us(span.start)) & (rows.time_us < to_us(span.end))
    values = {key: (lambda column=column: column()[inside]) for key, column in rows.values.items()}
    return StatRows(rows.time_us[inside], rows.instance[inside], rows.instances, values)


def packed(rows: StatRows, window: Window) -> list[PackedSketch]:
    """The pieces of a window, as they come out of the store."""
    return [PackedSketch(pack_sketch(build_sketch(part(rows, span), span))) for span in sketch_spans((window,))]


def put_together(rows: StatRows, window: Window) -> BuiltProfile:
    return build_profile([StatSketches("mpstat", packed(rows, window), frozenset({"idle"}), {"load": 0.01})])


def assert_same(one: Summary, other: Summary, *, except_for: tuple[str, ...] = (), scale: float = 1e-5) -> None:
    for field in fields(Summary):
        if field.name not in except_for:
            np.testing.assert_allclose(
                getattr(one, field.name), getattr(other, field.name), rtol=scale, atol=scale, err_msg=field.name
            )  # fmt: skip


def test_the_whole_is_that_of_all_samples() -> None:
    n = 4 * 3600
    rows = sample(n)
    found = put_together(rows, Window(START, START + 4 * HOUR))
    assert (found.n_samples, found.covered_s, found.n_left_out) == (2 * n, n, 0)
    [stat] = found.stats
    whole, series_stats = found.profile.baseline, found.profile.series_stats
    for row in range(len(stat.instance)):
        kind = stat.fields[stat.field[row]]
        values = rows.values[kind]()[int(stat.instance[row]) :: 2]
        # The level is a value that the tool can print, near the median; mostly one that it did.
        assert round(float(series_stats.level[row]), 2) == series_stats.level[row]
        assert series_stats.level[row] in values or kind == "bytes"
        spread = max(np.quantile(values, 0.9) - np.quantile(values, 0.1), 1e-9)
        assert abs(series_stats.level[row] - np.median(values)) < 0.05 * spread, kind
        direct = summarise(np.asarray(values - series_stats.level[row], np.float32)[None])
        assert (whole.n[row], whole.n_reports[row]) == (n, n)
        # Between two values that the tool prints a mixture may lie in the middle.
        near = max(0.06 * spread, 0.51 * series_stats.digit[row])
        np.testing.assert_allclose(whole.quantiles[row, 1:-1], direct.quantiles[0, 1:-1], atol=near, err_msg=kind)
        np.testing.assert_allclose(whole.quantiles[row, [0, -1]], direct.quantiles[0, [0, -1]], rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(whole.mean[row], direct.mean[0], rtol=1e-3, atol=1e-3 * spread)
        np.testing.assert_allclose(whole.still[row], direct.still[0], atol=1e-3)
        np.testing.assert_allclose(whole.away[row], direct.away[0], atol=0.04)
        assert series_stats.is_percent[row] == (kind == "idle")
        assert series_stats.is_event[row] == (kind in {"events", "constant"}), kind
    assert [known.natural_change.length_s for known in found.profile.window_models] == [60, 300, 900]
    assert len(set(found.profile.families.tolist())) == len(KINDS)


def test_windows_and_levels_are_those_of_the_samples() -> None:
    span = Window(START, START + HOUR)
    rows = sample(3600)
    sketch = build_sketch(rows, span)
    assert len(sketch.windows) == 9
    for window in sketch.windows:
        first = int(window.start_s - START.timestamp())
        for row in range(len(sketch.keys)):
            values = rows.values[sketch.keys.fields[sketch.keys.field[row]]]()[int(sketch.keys.instance[row]) :: 2]
            assert sketch.keys.level[row] in values
            inside = np.asarray(values[first : first + window.length_s] - sketch.keys.level[row], np.float32)
            assert_same(window.summary.take(slice(row, row + 1)), summarise(inside[None]))
    # Counts of bytes beyond what four bytes hold are as exact as hundredths.
    bytes_row = int(np.flatnonzero(sketch.keys.field == KINDS.index("bytes"))[0])
    assert sketch.keys.digit[bytes_row] == 1
    assert sketch.whole.quantiles[bytes_row, 0] == rows.values["bytes"]()[0::2].min() - sketch.keys.level[bytes_row]


@given(st.integers(0, 2**32 - 1), st.floats(-1e4, 1e4, allow_nan=False))
def test_another_level_changes_nothing_but_the_level(seed: int, delta: float) -> None:
    values = np.random.default_rng(seed).normal(0, 10, (3, 200)).astype(np.float32)
    moved = rebase(summarise(values), np.full(3, delta), np.zeros(3))
    direct = summarise(np.asarray(values.astype(np.float64) + delta, np.float32))
    # Neighbours that are as far apart as before, but for rounding; how many are at the level nobody knows exactly.
    assert_same(moved, direct, except_for=("away", "still"), scale=1e-6 * max(10.0, abs(delta)))


def test_sparse_instances_are_summed_up_like_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n, n_instances = 3600, 40
    # Processes that live for a minute, and one that stays.
    times = np.concatenate([np.arange(n), *(begin + np.arange(60) for begin in rng.integers(0, n - 60, n_instances))])
    who = np.concatenate([np.zeros(n, np.int64), np.repeat(np.arange(1, n_instances + 1), 60)])
    order = np.lexsort((who, times))
    values = np.round(rng.gamma(2, 4, len(times)), 1)[order]
    rows = StatRows(
        to_us(START) + times[order] * 1_000_000,
        who[order],
        [str(number) for number in range(n_instances + 1)],
        {"cpu": lambda: values},
    )
    sketches: list[Sketch] = []
    for share in (sketch_builder.SPARSE_SHARE, 0.0):
        monkeypatch.setattr(sketch_builder, "SPARSE_SHARE", share)
        sketches.append(build_sketch(rows, Window(START, START + HOUR)))
    for sketch in sketches:
        assert sorted(sketch.keys.instance.tolist()) == list(range(n_instances + 1))
    one, other = (np.argsort(sketch.keys.instance) for sketch in sketches)
    # Parts of a window follow its reports in the one way, its samples in the other.
    assert_same(sketches[0].whole.take(one), sketches[1].whole.take(other), except_for=("parts",))
    for mine, theirs in zip(sketches[0].windows, sketches[1].windows, strict=True):
        assert_same(mine.summary.take(one), theirs.summary.take(other), except_for=("parts",))
    np.testing.assert_allclose(sketches[0].minutes[one], sketches[1].minutes[other], rtol=1e-5)


def test_many_values_are_worked_on_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, span = sample(600, cpus=7), Window(START, START + HOUR / 6)
    at_once = build_sketch(rows, span)
    monkeypatch.setattr(sketch_builder, "MAX_CELLS", 2000)
    in_parts = build_sketch(rows, span)
    by_fields = join_fields(
        [build_sketch(StatRows(rows.time_us, rows.instance, rows.instances, {kind: rows.values[kind]}), span) for kind in KINDS]
    )
    for sketch in (in_parts, by_fields):
        one, other = (np.lexsort((own.keys.instance, own.keys.field)) for own in (at_once, sketch))
        assert np.array_equal(at_once.keys.level[one], sketch.keys.level[other])
        assert_same(at_once.whole.take(one), sketch.whole.take(other))
        np.testing.assert_array_equal(at_once.minutes[one], sketch.minutes[other])
        assert [window.start_s for window in sketch.windows] == [window.start_s for window in at_once.windows]


def test_series_come_and_go() -> None:
    rows = sample(3 * 3600, seed=5)
    early, late = Window(START, START + HOUR), Window(START + HOUR, START + 3 * HOUR)
    is_first = rows.instance == 0
    only_first = StatRows(
        rows.time_us[is_first], rows.instance[is_first], rows.instances, {"load": lambda: rows.values["load"]()[is_first]}
    )
    sketches = [*packed(only_first, early), *packed(rows, late)]
    found = build_profile([StatSketches("mpstat", sketches, frozenset(), {})])
    [stat] = found.stats
    assert len(stat.instance) == 2 * len(KINDS)
    n = dict(zip(zip(stat.instance.tolist(), stat.field.tolist(), strict=True), found.profile.baseline.n.tolist(), strict=True))
    load = stat.fields.index("load")
    assert n[stat.instances.index("cpu0"), load] == 3 * 3600
    assert n[stat.instances.index("cpu1"), load] == 2 * 3600


def test_too_short_for_a_profile() -> None:
    with pytest.raises(TooShort, match="too short"):
        put_together(sample(300), Window(START, START + timedelta(minutes=5)))
    with pytest.raises(TooShort, match="no sample"):
        build_profile([])
    found = put_together(sample(1200), Window(START, START + timedelta(minutes=20)))
    assert [known.natural_change.length_s for known in found.profile.window_models] == [60]


@given(st.binary(max_size=200), st.lists(st.floats(allow_nan=False, width=32), max_size=50), st.text(max_size=20))
def test_what_was_packed_comes_back(data: bytes, numbers: list[float], word: str) -> None:
    array = np.array(numbers, np.float32)
    body = pack_sections({"a": (array, word, len(data), None), "b": np.frombuffer(data, np.uint8)})
    sections = Sections(body, ())
    found, text, n, nothing = sections.read("a")
    assert np.array_equal(found, array)
    assert (text, n, nothing) == (word, len(data), None)
    assert sections.read("b").tobytes() == data


def test_broken_bytes_are_refused() -> None:
    span = Window(START, START + timedelta(minutes=2))
    body = pack_sketch(build_sketch(part(sample(120, cpus=1), span), span))
    assert_same(PackedSketch(body).unpack().whole, build_sketch(part(sample(120, cpus=1), span), span).whole)
    for place in range(0, len(body), 37):
        broken = bytearray(body)
        broken[place] ^= 0x55
        with pytest.raises(BrokenBytes):
            PackedSketch(bytes(broken)).unpack()
    for length in (0, 3, 10, len(body) // 2, len(body) - 1):
        with pytest.raises(BrokenBytes):
            PackedSketch(body[:length]).unpack()
    # A record that has other fields today.
    with pytest.raises(BrokenBytes):
        Sections(body, TYPES[1:]).read("keys")


def test_a_profile_and_its_band_come_back() -> None:
    rows = sample(3 * 3600)
    found = put_together(rows, Window(START, START + 3 * HOUR))
    body, band = pack_profile(found, "3 days")
    again = unpack_profile(body)
    assert again.facts.days == "3 days"
    assert_same(again.profile.baseline, found.profile.baseline, scale=0)
    assert [own.instances for own in again.stats] == [own.instances for own in found.stats]
    for one, other in zip(again.profile.window_models, found.profile.window_models, strict=True):
        assert np.array_equal(one.natural_change.change, other.natural_change.change, equal_nan=True)
    step = find_in_band(unpack_band(band), "mpstat", "cpu1", "load")
    assert step is not None
    values = rows.values["load"]()[1::2]
    assert step.n == len(values)
    spread = np.ptp(np.quantile(values, BAND))
    np.testing.assert_allclose((step.p5, step.p50, step.p95), np.quantile(values, BAND), atol=0.05 * spread)
    assert find_in_band(make_band(found.stats, found.profile), "mpstat", "cpu9", "load") is None


@given(st.integers(0, 10_000), st.integers(1, 5_000), st.integers(0, 3))
def test_spans_hold_every_instant_once(start_minute: int, n_minutes: int, gap: int) -> None:
    first = Window(START + timedelta(minutes=start_minute), START + timedelta(minutes=start_minute + n_minutes))
    second = Window(first.end + timedelta(hours=1), first.end + timedelta(hours=1, minutes=gap + 1))
    spans = sketch_spans((first, second))
    assert length_s(spans) == length_s((first, second))
    assert all(one.end <= other.start for one, other in pairwise(spans))
    longest = 1800 if length_s(spans) < SHORT_BASELINE_S else 3600
    for span in spans:
        assert span.length_s <= longest
        assert span.start.hour == (span.end - timedelta(microseconds=1)).hour
        for window_s in (60, 300, 900):
            for start in window_starts(span.start.timestamp(), span.end.timestamp(), window_s):
                assert span.start.timestamp() <= start <= span.end.timestamp() - window_s


def test_like_hours_follow_the_clock_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    # The clocks went back on 2026-10-25: 09:00 there is 07:00 UTC before and 08:00 after.
    days = [datetime(2026, 10, day, 9, tzinfo=berlin) for day in (22, 23, 24, 25, 26, 27)]
    windows = tuple(Window(day.astimezone(UTC), (day + timedelta(hours=8)).astimezone(UTC)) for day in days)
    spans = sketch_spans(windows)
    slots = find_slots(spans, berlin)
    assert sorted(slot % 24 for slot in slots) == list(range(9, 17))
    noon = slots[12]
    assert {span.start.astimezone(berlin).hour for span in noon.spans} == {11, 12, 13}
    assert noon.days == "6 days"
    at = Window(datetime(2026, 11, 3, 12, 10, tzinfo=berlin), datetime(2026, 11, 3, 12, 50, tzinfo=berlin))
    assert slot_of(at, berlin, slots) == 12
    assert describe(at, berlin, 12, noon.days) == "Compares 12:10-12:50 with 11:00-14:00 of 6 days (Europe/Berlin)."
    night = Window(at.start - timedelta(hours=9), at.end - timedelta(hours=9))
    assert slot_of(night, berlin, slots) is None
    assert slot_of(Window(at.start, at.start + timedelta(hours=4)), berlin, slots) is None


def test_the_day_of_25_hours_has_each_hour_once() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start = datetime(2026, 10, 23, tzinfo=berlin).astimezone(UTC)
    spans = sketch_spans((Window(start, datetime(2026, 10, 28, tzinfo=berlin).astimezone(UTC)),))
    assert len(spans) == 5 * 24 + 1
    slots = find_slots(spans, berlin)
    assert len(slots) == 24
    # Two hours of that Sunday are two o'clock.
    assert sum(span.start.astimezone(berlin).hour == 2 for span in slots[2].spans) == 6


def test_working_days_and_weekends_are_apart_where_both_are_known() -> None:
    start = datetime(2026, 11, 2, tzinfo=UTC)
    two_weeks = find_slots(sketch_spans((Window(start, start + timedelta(days=14)),)), UTC)
    assert len(two_weeks) == 48
    saturday = Window(datetime(2026, 11, 28, 12, tzinfo=UTC), datetime(2026, 11, 28, 13, tzinfo=UTC))
    slot = slot_of(saturday, UTC, two_weeks)
    assert slot is not None
    assert two_weeks[slot].days == "4 days of weekends"
    monday = slot_of(Window(saturday.start + timedelta(days=2), saturday.end + timedelta(days=2)), UTC, two_weeks)
    assert monday is not None
    assert two_weeks[monday].days == "10 working days"
    one_week = find_slots(sketch_spans((Window(start, start + timedelta(days=7)),)), UTC)
    assert len(one_week) == 24
    assert find_slots(sketch_spans((Window(start, start + timedelta(days=2)),)), UTC) == {}


def summary_of(values: np.ndarray) -> Summary:
    return summarise(values.astype(np.float32), len(values[0]))


@given(
    st.sampled_from([0.0, 1e-2, 1.0, 1e-4]),
    st.lists(st.one_of(st.floats(width=32), st.integers(-500, 500).map(float)), min_size=4, max_size=40),
    st.integers(0, 3),
)
def test_packed_statistics_have_every_bit(digit: float, numbers: list[float], n_missing: int) -> None:
    # Multiples of the digit, and what is none: other numbers, infinities, NaN, -0.0; series without samples, and with few.
    with np.errstate(all="ignore"):
        values = np.array([numbers, np.rint(numbers) * digit, np.full(len(numbers), np.nan)], np.float32)
        values[:, :n_missing] = np.nan
        whole, windows = summary_of(values), [summary_of(values[:, :3]), summary_of(values[:, 3:]), summary_of(values)]
    digits = np.full(3, digit)
    found = [unpack_summary(pack_summaries([whole], digits), 0, digits)]
    packed_windows = pack_summaries(windows, digits, whole)
    found += [unpack_summary(packed_windows, number, digits, whole) for number in range(len(windows))]
    for one, other in zip([whole, *windows], found, strict=True):
        for field in fields(Summary):
            mine, yours = getattr(one, field.name), getattr(other, field.name)
            assert (mine.dtype, mine.shape, mine.tobytes()) == (yours.dtype, yours.shape, yours.tobytes()), field.name
    minutes = unpack_minutes(pack_minutes(values, digits), digits)
    assert minutes.tobytes() == values.tobytes()


def test_sketches_of_earlier_versions_are_read() -> None:
    span = Window(START, START + HOUR)
    sketch = build_sketch(part(sample(3600), span), span)
    sections: dict[str, object] = {
        "keys": (sketch.keys, tuple((window.start_s, window.length_s) for window in sketch.windows)),
        "whole": sketch.whole,
        "minutes": sketch.minutes,
    }
    sections |= {f"window{number}": window.summary for number, window in enumerate(sketch.windows)}
    old, new = pack_sections(sections), pack_sketch(sketch)
    assert len(new) < 0.7 * len(old)
    for body in (old, new):
        found = PackedSketch(body).unpack()
        assert found.minutes.tobytes() == sketch.minutes.tobytes()
        for one, other in zip(sketch.windows, found.windows, strict=True):
            assert (one.start_s, one.length_s) == (other.start_s, other.length_s)
            assert_same(one.summary, other.summary, scale=0)


def test_short_processes_leave_room_for_the_series_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    window = Window(START, START + HOUR)
    processes = []
    for number, span in enumerate(sketch_spans((window,))):
        rows = sample(1800, cpus=3, seed=number)
        rows = replace(rows, time_us=rows.time_us - to_us(START) + to_us(span.start), instances=[f"{number}/{n}" for n in range(3)])
        processes.append(PackedSketch(pack_sketch(build_sketch(rows, span))))
    stats = [
        StatSketches("pidstat", processes, frozenset(), {}),
        StatSketches("vmstat", packed(sample(3600), window), frozenset(), {}),
    ]
    n_stay = 2 * len(KINDS)
    monkeypatch.setattr("normstat.profiles.profile_builder.MAX_SERIES", n_stay)
    found = build_profile(stats)
    assert [(stat.stat, len(stat.field)) for stat in found.stats] == [("pidstat", 0), ("vmstat", n_stay)]
    assert found.n_left_out == 6 * len(KINDS)
