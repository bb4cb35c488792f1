"""Receivers: bodies of other protocols become texts of hosts, and those become samples."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.errors import BadRequest, TooLarge
from normstat.ingest.receivers import wire_fields
from normstat.ingest.receivers.host_texts import host_of, host_trouble, write_texts
from normstat.ingest.receivers.metric_samples import MetricSamples, is_stale
from normstat.ingest.receivers.native_histograms import cumulate
from normstat.ingest.receivers.otlp import MAX_JSON_VALUES, read_metrics, read_metrics_json
from normstat.ingest.receivers.remote_write import read_request_2, read_write_request, unpack_snappy
from normstat.stats.catalogue import require_spec
from normstat.stats.engine.series.exposition_line import format_series, format_value, parse_line, parse_series
from normstat.stats.readers import read
from normstat.stats.records import LineKind, State
from tests.ingest.remote_writes import Series, double, pack, plain_request, sub, varint, write_request, write_request_2

NOW_MS = 1_795_262_400_000
TEXT = st.text(max_size=12)
PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029"), min_size=1, max_size=12)
LABELS = st.dictionaries(PRINTABLE, PRINTABLE, max_size=4)
SAMPLES = st.lists(st.tuples(st.floats(allow_nan=False), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=3)


def texts_of(found: MetricSamples, *, bound: str | None = None) -> dict[str, bytes]:
    return write_texts(found, host_labels=["instance"], bound_host=bound, known_types={}, now_ms=NOW_MS, max_bytes=1 << 20).texts


@given(name=PRINTABLE, labels=LABELS)
def test_a_series_comes_back_from_its_text(name: str, labels: dict[str, str]) -> None:
    line = parse_line(f"{format_series(name, labels)} 1.5 1795262400017")
    assert line is not None
    assert parse_series(line.series) == (name, tuple(sorted(labels.items())))
    assert (line.value, line.time_ms) == ("1.5", 1_795_262_400_017)


@given(value=st.floats(allow_nan=False))
def test_a_value_comes_back_from_its_text(value: float) -> None:
    assert float(format_value(value)) == value


@given(body=st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(pack)))
def test_any_bytes_are_a_request_or_an_error(body: bytes) -> None:
    for reader in (read_write_request, read_request_2):
        # Anything else fails the test.
        with suppress(BadRequest, TooLarge):
            texts_of(reader(unpack_snappy(body, 1 << 20)), bound="web1")


@given(series=st.lists(st.tuples(LABELS.map(lambda labels: {"__name__": "m", **labels}), SAMPLES), min_size=1, max_size=4))
def test_both_versions_say_the_same_and_every_line_is_accounted_for(series: list[Series]) -> None:
    first = read_write_request(unpack_snappy(write_request(series), 1 << 20))
    second = read_request_2(unpack_snappy(write_request_2(series), 1 << 20))
    assert first.series == second.series
    text = texts_of(first, bound="web1")["web1"]
    assert text == texts_of(second, bound="web1")["web1"]
    result = read(require_spec("prometheus"), text, state={}, offset=0)
    assert result.n_taken == len(text)
    assert sum(result.accounts.n_lines.values()) == 1 + first.n_samples


Scrape = dict[str, float]
ToLabels = Callable[[str], dict[str, str]]
NAMES = ["node_disk_reads_completed_total", "node_disk_read_bytes_total", "node_disk_io_now", "other_total", "other"]


def of_a_disk(name: str) -> dict[str, str]:
    return {"__name__": name, "device": "sda"}


def requests_of(scrapes: Sequence[Scrape], size: int, to_labels: ToLabels = of_a_disk) -> list[bytes]:
    """The texts of requests of so many samples, every five seconds, in the order of a sender that has one queue."""
    samples = [
        (to_labels(name), [(value, NOW_MS - 60_000 + 5000 * number)])
        for number, scrape in enumerate(scrapes)
        for name, value in scrape.items()
    ]
    requests = [samples[at : at + size] for at in range(0, len(samples), size)]
    return [texts_of(read_write_request(plain_request(request)), bound="web1")["web1"] for request in requests]


def samples_of(texts: Sequence[bytes]) -> set[tuple[str, str, int, str, float]]:
    found: list[tuple[str, str, int, str, float]] = []
    state: State = {}
    offset = 0
    for number, text in enumerate([*texts, b""]):
        result = read(require_spec("prometheus"), text, state=state, offset=offset, is_final=number == len(texts))
        state, offset = result.state, offset + len(text)
        for block in result.blocks:
            for row in range(len(block)):
                where = block.stat.name, block.instances[row], int(block.time_us[row])
                found += [(*where, field.key, float(values[row])) for field, values in zip(block.fields, block.values, strict=True)]
    assert len(found) == len(set(found)), "a sample twice"
    return set(found)


@given(
    scrapes=st.lists(st.fixed_dictionaries({}, optional={name: st.integers(0, 1000).map(float) for name in NAMES}), max_size=5),
    size=st.integers(1, 6),
    again=st.lists(st.integers(1, 3), max_size=6),
)
def test_requests_of_any_size_and_repeated_ones_give_the_same(scrapes: list[Scrape], size: int, again: list[int]) -> None:
    whole = samples_of(requests_of(scrapes, 1000))
    texts = requests_of(scrapes, size)
    assert samples_of(texts) == whole
    # A request without an answer is sent again, before any later one.
    repeated = [text for number, text in enumerate(texts) for _ in range(again[number] if number < len(again) else 1)]
    assert samples_of(repeated) == whole


CPUS = ["0", "1", "2"]


def idle_of(cpu: str) -> dict[str, str]:
    return {"__name__": "node_cpu_seconds_total", "cpu": cpu, "mode": "idle"}


@given(
    scrapes=st.lists(st.fixed_dictionaries({cpu: st.integers(0, 1000).map(float) for cpu in CPUS}), max_size=6),
    size=st.integers(1, 7),
)
def test_all_cpus_are_the_mean_of_the_cpus_for_requests_of_any_size(scrapes: list[Scrape], size: int) -> None:
    found = samples_of(requests_of(scrapes, size, idle_of))
    own = {(cpu, time): value for _, cpu, time, _, value in found}
    times = {time for _, time in own}
    for time in times:
        cpus = [own[cpu, time] for cpu in CPUS if (cpu, time) in own]
        assert own["all", time] == pytest.approx(sum(cpus) / len(cpus), abs=0.001)


def test_a_cpu_that_comes_later_has_no_part_in_the_mean_before() -> None:
    scrapes = [{"0": 1.0 * number} | ({"1": 3.0 * number} if number > 2 else {}) for number in range(6)]
    means = {time: value for _, cpu, time, _, value in samples_of(requests_of(scrapes, 2, idle_of)) if cpu == "all"}
    # A share of 20 % for each second in five, and the new CPU counts from its second sample on.
    assert [means[time] for time in sorted(means)] == [20.0, 20.0, 20.0, 40.0, 40.0]


def test_cpus_that_come_one_after_the_other_have_no_mean_of_the_first_alone() -> None:
    """Some senders bring all times of one CPU, then those of the next one."""
    times = [NOW_MS - 60_000 + 5000 * number for number in range(8)]

    def bring(begin: int, end: int) -> bytes:
        lines = [
            f'node_cpu_seconds_total{{cpu="{cpu}",mode="idle"}} {(cpu + 1) * number} {times[number]}\n'
            for cpu in range(3)
            for number in range(begin, end)
        ]
        return "".join([f"# BATCH {begin}\n", *lines]).encode()

    found = samples_of([bring(0, 4), bring(4, 8)])
    means = {time: value for _, cpu, time, _, value in found if cpu == "all"}
    assert set(means.values()) == {40.0}
    assert sorted(means) == [time * 1000 for time in times[4:]]


def test_used_space_is_worked_out_as_by_df() -> None:
    values = {"size_bytes": 1000.0, "free_bytes": 300.0, "avail_bytes": 100.0}
    samples = [
        ({"__name__": f"node_filesystem_{name}", "mountpoint": "/"}, [(value, NOW_MS - 9000)]) for name, value in values.items()
    ]
    found = {
        key: value for _, _, _, key, value in samples_of([texts_of(read_write_request(plain_request(samples)), bound="w")["w"]])
    }
    assert found == values | {"used_bytes": 700.0, "used_pct": 87.5}


def test_requests_that_overtake_each_other_make_whole_rows() -> None:
    """Of a sender with two queues, one is a scrape behind."""
    reads = [({"__name__": NAMES[0], "device": "sda"}, [(10.0 * number, NOW_MS - 60_000 + 5000 * number)]) for number in range(6)]
    now = [({"__name__": NAMES[2], "device": "sda"}, [(1.0, NOW_MS - 60_000 + 5000 * number)]) for number in range(6)]
    order = [reads[0], now[0], reads[1], reads[2], now[1], reads[3], now[2], reads[4], now[3], reads[5], now[4], now[5]]
    texts = [texts_of(read_write_request(plain_request([one])), bound="web1")["web1"] for one in order]
    found = samples_of(texts)
    assert {key for _, _, _, key, _ in found} == {"reads_completed_per_s", "io_now"}
    assert {value for _, _, _, key, value in found if key == "reads_completed_per_s"} == {2.0}
    assert len(found) == 5 + 6
    assert found == samples_of([texts_of(read_write_request(plain_request([*reads, *now])), bound="web1")["web1"]])


def test_a_stale_marker_ends_a_series_and_other_nans_are_no_value() -> None:
    stale = b"\x02\x00\x00\x00\x00\x00\xf0\x7f"
    labels = sub(1, sub(1, b"__name__") + sub(2, b"up"))
    times = [b"\x10" + sub(0, b"")[:0] + bytes([number]) for number in (1, 2)]
    body = sub(1, labels + sub(2, b"\x09" + stale + times[0]) + sub(2, double(1, float("nan")) + times[1]))
    (series,) = read_write_request(body).series
    assert [is_stale(value) for value, _, _ in series.samples] == [True, False]
    text = texts_of(read_write_request(body), bound="web1")["web1"]
    assert text.splitlines()[1:] == [b"up StaleNaN 1", b"up nan 2"]
    result = read(require_spec("prometheus"), text, state={}, offset=0, is_final=True)
    assert result.accounts.n_lines[LineKind.STATE_CHANGE] == result.accounts.n_lines[LineKind.IGNORED] == 1
    assert not result.blocks


def test_a_label_twice_and_gauge_histograms_are_kept_with_a_reason() -> None:
    label = sub(1, sub(1, b"a") + sub(2, b"1"))
    name = sub(1, sub(1, b"__name__") + sub(2, b"m"))
    sample = sub(2, double(1, 1.0) + b"\x10\x01")
    text = texts_of(read_write_request(sub(1, name + label + label + sample) + sub(1, name + sub(4, b"\x70\x03"))), bound="web1")[
        "web1"
    ]
    result = read(require_spec("prometheus"), text, state={}, offset=0)
    assert sorted(line.reason for line in result.rejected) == [
        "a label name twice",
        "gauge histograms are not stored",
    ]


def zigzag(number: int) -> bytes:
    return varint((number << 1) ^ (number >> 63))


def native(
    *, time_ms: int, count: int, sum_: float, schema: int, spans: list[tuple[int, int]], deltas: list[int], zero: int
) -> bytes:
    parts = [b"\x08" + varint(count), double(3, sum_), b"\x20" + zigzag(schema), double(5, 0.25), b"\x30" + varint(zero)]
    parts += [sub(11, b"\x08" + zigzag(offset) + b"\x10" + varint(length)) for offset, length in spans]
    parts += [sub(12, b"".join(map(zigzag, deltas))), b"\x78" + varint(time_ms)]
    return b"".join(parts)


def test_a_native_histogram_has_its_buckets_that_end_at_powers_of_two() -> None:
    """Of 8 buckets from 1 to 2 and 2 of the next 8, at schema 3; the second request has half of that resolution."""
    name = sub(1, sub(1, b"__name__") + sub(2, b"rpc_seconds")) + sub(1, sub(1, b"code") + sub(2, b"200"))
    first = native(time_ms=NOW_MS, count=10, sum_=12.5, schema=3, spans=[(1, 2), (6, 1), (2, 1)], deltas=[1, 1, -1, 5], zero=0)
    second = native(
        time_ms=NOW_MS + 10_000, count=40, sum_=62.5, schema=2, spans=[(1, 1), (3, 1), (1, 1)], deltas=[8, -6, 8], zero=20
    )
    body = sub(1, name + sub(4, first) + sub(4, second))
    text = texts_of(read_write_request(body), bound="web1")["web1"]
    words = (line.rpartition(" ") for line in text.decode().splitlines() if line[0] != "#")
    lines = {(series, int(time)) for series, _, time in words}
    assert ('rpc_seconds_bucket{code="200",le="2"} 3', NOW_MS) in lines
    assert ('rpc_seconds_bucket{code="200",le="4"} 10', NOW_MS) in lines
    assert ('rpc_seconds_bucket{code="200",le="0.25"} 20', NOW_MS + 10_000) in lines
    assert ('rpc_seconds_bucket{code="200",le="2"} 28', NOW_MS + 10_000) in lines
    result = read(require_spec("prometheus"), text, state={}, offset=0, is_final=True)
    found = {
        (block.stat.name, name): {field.key: float(block.values[n][row]) for n, field in enumerate(block.fields)}
        for block in result.blocks
        for row, name in enumerate(block.instances)
    }
    assert found["prom_distributions", 'rpc_seconds{code="200"}'] == {
        "count_per_s": 3.0,
        "sum_per_s": 5.0,
        "mean": pytest.approx(5 / 3),
    }
    assert found["prom_buckets", 'rpc_seconds_bucket{code="200",le="+Inf"}'] == {"per_s": 3.0}
    assert not result.rejected


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=50), st.integers(-2, 8))
def test_counts_at_powers_of_two_are_those_of_the_values(values: list[float], schema: int) -> None:
    counts: dict[int, float] = {}
    for value in values:
        # The bucket whose end is the first that is not below: found as the definition says, not by a logarithm alone.
        index = math.ceil(math.log2(value) * 2.0**schema)
        counts[index] = counts.get(index, 0.0) + 1
    ends = cumulate(counts, schema, n_zero=2, zero_end=0.0, n_below=1)
    assert ends[0] == (0.0, 3.0)
    for end, count in ends[1:]:
        near = sum(math.isclose(value, end, rel_tol=1e-9) for value in values)
        assert abs(count - 3 - sum(value <= end for value in values)) <= near
    assert ends[-1][1] == len(values) + 3


def test_broken_native_histograms_are_an_error() -> None:
    name = sub(1, sub(1, b"__name__") + sub(2, b"m"))
    broken = native(time_ms=1, count=1, sum_=1, schema=0, spans=[(0, 5)], deltas=[1], zero=0)
    with pytest.raises(BadRequest, match="spans of 5 buckets with 1 counts"):
        read_write_request(sub(1, name + sub(4, broken)))
    huge = native(time_ms=1, count=1, sum_=1, schema=0, spans=[(0, 2**40)], deltas=[1], zero=0)
    with pytest.raises(BadRequest, match="spans of"):
        read_write_request(sub(1, name + sub(4, huge)))


def test_many_samples_of_a_series_at_once_make_whole_rows() -> None:
    """Some senders bring all samples of a series, then those of the next one."""
    samples = [(10.0 * number, NOW_MS - 60_000 + 5000 * number) for number in range(10)]
    series: list[Series] = [({"__name__": name, "device": "sda"}, samples) for name in NAMES[:3]]
    text = texts_of(read_write_request(plain_request(series)), bound="web1")["web1"]
    (block,) = [block for block in read(require_spec("prometheus"), text, state={}, offset=0).blocks if len(block) > 1]
    assert len(block) == 9
    assert len(block.fields) == 3


def test_types_are_written_where_they_are_known() -> None:
    series: list[Series] = [({"__name__": "jobs"}, [(1.0, 1)]), ({"__name__": "rpc_sum"}, [(1.0, 1)])]
    found = read_write_request(plain_request(series, {"jobs": "counter", "rpc": "summary", "other": "gauge"}))
    lines = texts_of(found, bound="web1")["web1"].decode().splitlines()
    assert lines[1:] == ["# TYPE jobs counter", "# TYPE rpc summary", "jobs 1 1", "rpc_sum 1 1"]


@pytest.mark.parametrize(
    ("labels", "host", "is_named"),
    [
        ({"instance": "web1:9100"}, "web1", True),
        ({"instance": "web1"}, "web1", True),
        ({"instance": "10.0.0.7:9100"}, "10.0.0.7", True),
        ({"instance": "[fe80::1]:9100"}, "fe80::1", True),
        ({"instance": "https://example.com/x"}, "https://example.com/x", False),
        ({"instance": "-rf"}, "-rf", False),
        ({"instance": "a\nb"}, "a\nb", False),
        ({}, "", False),
    ],
)
def test_the_host_of_a_series(labels: dict[str, str], host: str, is_named: bool) -> None:
    assert host_of(labels, ["instance"]) == host
    assert (host_trouble(host, ["instance"]) == "") is is_named


def test_sizes_are_looked_at_before_anything_is_unpacked() -> None:
    with pytest.raises(TooLarge):
        unpack_snappy(b"\xff\xff\xff\x7f" + b"x", 1 << 20)
    for body in (b"", b"\xff\xff\xff\xff\xff\xff", b"\x05abc"):
        with pytest.raises(BadRequest):
            unpack_snappy(body, 1 << 20)


def test_what_would_become_too_many_objects_is_refused_before_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_fields, "MAX_FIELDS", 1000)
    for read_request, number in ((read_write_request, 1), (read_request_2, 5), (read_metrics, 1)):
        # Fields that nobody knows, and those of a message within.
        for body in (b"\x7a\x00" * 1001, sub(number, b"\x7a\x00" * 1000)):
            with pytest.raises(TooLarge):
                read_request(body)
    for text in (b'{"resourceMetrics":[' + b"[]," * MAX_JSON_VALUES + b"[]]}", b"[" * (MAX_JSON_VALUES + 1)):
        with pytest.raises(TooLarge):
            read_metrics_json(text)


@pytest.mark.parametrize(
    ("metric", "label", "columns"),
    [
        ("system_memory_usage_bytes", "state", ["cached_bytes", "free_bytes", "used_bytes"]),
        ("system_memory_usage_bytes", "system_memory_state", ["cached_bytes", "free_bytes", "used_bytes"]),
        ("system_memory_utilization_ratio", "state", ["cached_ratio", "free_ratio", "used_ratio"]),
    ],
)
def test_states_of_opentelemetry_are_columns(metric: str, label: str, columns: list[str]) -> None:
    """Collectors of two generations of the conventions name the label differently."""
    values = {"used": 3, "free": 2, "cached": 1}
    text = f"# TYPE {metric} gauge\n" + "".join(
        f'{metric}{{{label}="{state}"}} {value} 1795262400000\n' for state, value in values.items()
    )
    result = read(require_spec("prometheus"), text.encode(), state={}, offset=0, is_final=True)
    assert result.rejected == ()
    (block,) = result.blocks
    assert block.stat.name == "system_memory"
    assert {field.column: float(column[0]) for field, column in zip(block.fields, block.values, strict=True)} == {
        column: values[column.partition("_")[0]] for column in columns
    }


def test_times_of_all_cpus_together_are_shares_of_their_sum() -> None:
    """A collector that leaves out the label cpu adds up the times of all, and does not say how many there are."""
    line = 'system_cpu_time_seconds_total{{state="{}"}} {} {}\n'
    times = {"user": (100, 115), "system": (50, 52.5), "idle": (500, 502.5)}
    text = "".join(line.format(state, own[n], 5000 * (n + 1)) for n in range(2) for state, own in times.items())
    # The last state has not come yet.
    late = "".join(line.format(state, own[1] + 1, 15000) for state, own in times.items() if state != "idle")
    result = read(require_spec("prometheus"), (text + late).encode(), state={}, offset=0, is_final=True)
    [block] = [block for block in result.blocks if block.stat.name == "system_cpu"]
    assert block.instances == ["all"]
    found = {field.key: float(block.values[n][0]) for n, field in enumerate(block.fields)}
    assert found == {"user_pct": 75.0, "system_pct": 12.5, "idle_pct": 12.5}
