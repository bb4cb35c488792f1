"""What must hold for any bytes: no exception, every byte booked, and the same result however the bytes come and are read."""

import functools
import gc
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from normstat.stats.catalogue import load_catalogue, require_spec
from normstat.stats.engine.shared_text import TextRows
from normstat.stats.readers import read
from normstat.stats.readers.tabular import columns
from normstat.stats.spec import Spec
from tests.golden_captures import Capture, captures, first_of_each_family, first_of_each_spec
from tests.stats.reading import Reading, read_pieces, read_together

# By name: Hypothesis prints what it chooses from, and a spec is long.
SPECS = load_catalogue().specs
WITH_BULK = [name for name, spec in SPECS.items() if spec.reader == "columns"]
WITHOUT_BULK = [name for name, spec in SPECS.items() if spec.reader != "columns"]
CAPTURES = {name: [capture.data for capture in captures() if capture.spec == name] for name in SPECS}
NEVER = 1 << 60
RELAXED = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

# Pieces of text that make a reader stumble, put into real output.
SPANNER_TEXT = [
    "-", "0", "00", ".", ",", "%", "x", "nan", "-0", "#", "Average:", "<<x>>", "AM", "23:59:59", "9" * 20, "1795262401", "é",
    "\u00a0",
]  # fmt: skip
SPANNERS = st.sampled_from(
    [text.encode() for text in SPANNER_TEXT]
    + [f"{text} ".encode() for text in SPANNER_TEXT]
    + [b"\n", b" ", b"\t", b"\r", b"\r\n", b"\0", b"\x1b[0m", b"\xff", b"\n1795262401\n", b"\n2026-11-21 10:00:00\t"]
)


@st.composite
def streams(draw: st.DrawFn, names: list[str]) -> tuple[Spec, bytes]:
    """A spec and bytes that look much like its tool's output, with damage."""
    spec = SPECS[draw(st.sampled_from(names))]
    data = b"".join(draw(st.lists(st.sampled_from(CAPTURES[spec.name]), min_size=1, max_size=2)))
    if len(data) > 6000:
        start = draw(st.integers(0, len(data) - 6000))
        data = data[start : start + 6000]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        cut = draw(st.sampled_from([0, 0, 1, 3, 80]))
        data = data[:at] + draw(SPANNERS) + data[at + cut :]
    return spec, data


def in_pieces(data: bytes, draw: st.DataObject) -> list[bytes]:
    places = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=6), label="cuts"))
    return [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]


def line_by_line(monkeypatch: pytest.MonkeyPatch, spec: Spec, pieces: list[bytes]) -> Reading:
    monkeypatch.setattr(columns, "MIN_BULK_BYTES", NEVER)
    return read_pieces(spec, pieces)


def in_bulk(monkeypatch: pytest.MonkeyPatch, spec: Spec, pieces: list[bytes]) -> Reading:
    monkeypatch.setattr(columns, "MIN_BULK_BYTES", 0)
    return read_pieces(spec, pieces)


@RELAXED
@given(name=st.sampled_from(list(SPECS)), data=st.binary(max_size=400))
def test_any_bytes_are_booked(monkeypatch: pytest.MonkeyPatch, name: str, data: bytes) -> None:
    spec = SPECS[name]
    assert sum(in_bulk(monkeypatch, spec, [data]).n_bytes.values()) == len(data)
    assert sum(line_by_line(monkeypatch, spec, [data]).n_bytes.values()) == len(data)


@RELAXED
@given(stream=streams(WITH_BULK))
def test_bulk_and_line_by_line_agree(monkeypatch: pytest.MonkeyPatch, stream: tuple[Spec, bytes]) -> None:
    spec, data = stream
    assert in_bulk(monkeypatch, spec, [data]) == line_by_line(monkeypatch, spec, [data])


@RELAXED
@given(stream=streams(WITH_BULK), draw=st.data())
def test_any_pieces_give_the_same(monkeypatch: pytest.MonkeyPatch, stream: tuple[Spec, bytes], draw: st.DataObject) -> None:
    spec, data = stream
    pieces = in_pieces(data, draw)
    whole = line_by_line(monkeypatch, spec, [data])
    assert line_by_line(monkeypatch, spec, pieces) == whole
    assert in_bulk(monkeypatch, spec, pieces) == whole


@RELAXED
@given(several=st.lists(streams(WITH_BULK), min_size=2, max_size=3), draw=st.data(), n_pieces=st.integers(1, 4))
def test_streams_that_share_texts_are_read_as_alone(
    monkeypatch: pytest.MonkeyPatch, several: list[tuple[Spec, bytes]], draw: st.DataObject, n_pieces: int
) -> None:
    """Several hosts send the same and others; their pieces begin and end anywhere."""
    sent = []
    for spec, data in [*several, several[0]]:
        cuts = sorted(draw.draw(st.integers(0, len(data)), label="cut") for _ in range(n_pieces - 1))
        sent.append((spec, [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]))
    alone = [line_by_line(monkeypatch, spec, pieces) for spec, pieces in sent]
    assert read_together(sent) == alone


def test_a_shared_text_has_rows_for_pieces_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second of vmstat is less than a piece must have to be read in bulk alone."""
    spec = require_spec("vmstat_linux")
    head = b" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    row = b" 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1\n"
    n_found = 0
    find = columns.Reader._take_run

    def take_run(self: columns.Reader, found: TextRows, first: int, n_rows: int) -> bool:
        nonlocal n_found
        n_found += n_rows
        return find(self, found, first, n_rows)

    monkeypatch.setattr(columns.Reader, "_take_run", take_run)
    sent = [(spec, [head + row, row * 2, row * 3]) for _ in range(3)]
    first, *others = read_together(sent)
    assert len(first.rows) == 6
    assert others == [first, first]
    # The rows that decide which report is the first are read alone.
    assert n_found == 3 * 3


@RELAXED
@given(stream=streams(WITHOUT_BULK), draw=st.data())
def test_any_pieces_give_the_same_to_readers_of_lines(stream: tuple[Spec, bytes], draw: st.DataObject) -> None:
    spec, data = stream
    assert read_pieces(spec, in_pieces(data, draw)) == read_pieces(spec, [data])


@pytest.mark.parametrize("capture", first_of_each_spec(captures()))
def test_captures_give_the_same_in_pieces(capture: Capture) -> None:
    """A cut behind every line of the beginning, and in the middle of lines."""
    spec = require_spec(capture.spec)
    few = capture.data[:6000]
    whole = read_pieces(spec, [few])
    assert read_pieces(spec, few.splitlines(keepends=True)) == whole
    assert read_pieces(spec, [few[at : at + 97] for at in range(0, len(few), 97)]) == whole


HOSTILE = [
    b"x", b"7 ", b"a b\n", b"1 2 3\n", b"@[", b"[1, 2)", b"a=1 ", b"|", b"-" * 8 + b" ", b"12:00:00 ", b"(1.0%) ", b'{"a":[', b";",
]  # fmt: skip


def n_calls(spec: Spec, data: bytes) -> int:
    """How many functions reading takes, of Python and of C: it does not depend on how busy the machine is."""
    # A profiler in C: getattr(frame, event, argument) finds nothing and raises nothing, and the cache, of size 0, counts its calls.
    count = functools.lru_cache(maxsize=0)(getattr)
    # Nor does what the collector calls count.
    gc.disable()
    sys.setprofile(count)
    try:
        read(spec, data, state={}, offset=0, is_final=True)
    finally:
        sys.setprofile(None)
        gc.enable()
    # A beginning and an end each.
    return count.cache_info().misses // 2


@pytest.mark.parametrize("name", first_of_each_family())
def test_twice_the_bytes_take_no_more_than_twice_the_calls(name: str) -> None:
    """Of the tool's own text with one hostile line in it; regular expressions are for `make bench-hostile` to judge."""
    spec = load_catalogue().specs[name]
    for part in HOSTILE:
        some = CAPTURES[name][0][:1200] + part * (800 // len(part)) + b"\n"
        # What the first call for a spec, and for these lines, prepares for all others is not counted.
        read(spec, some * 4, state={}, offset=0, is_final=True)
        # What is counted is the same each time, and never was above 2.03 times; hidden squares show early.
        assert n_calls(spec, some * 4) <= 2.2 * n_calls(spec, some * 2) + 200


@pytest.mark.parametrize("name", sorted(WITH_BULK))
def test_bulk_and_line_by_line_agree_on_captures(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    spec = load_catalogue().specs[name]
    for data in CAPTURES[name]:
        many = data * 3
        whole = line_by_line(monkeypatch, spec, [many])
        assert in_bulk(monkeypatch, spec, [many]) == whole
        assert in_bulk(monkeypatch, spec, [many[:701], many[701:]]) == whole
        assert sum(whole.n_bytes.values()) == len(many)


@RELAXED
@given(stream=streams(WITH_BULK))
def test_rows_stand_in_the_order_of_their_lines(monkeypatch: pytest.MonkeyPatch, stream: tuple[Spec, bytes]) -> None:
    spec, data = stream
    monkeypatch.setattr(columns, "MIN_BULK_BYTES", 0)
    result = read(spec, data, state={}, offset=7)
    for block in (*result.blocks, *result.since_boot):
        offsets = block.line_offset.tolist()
        assert offsets == sorted(set(offsets))
        assert offsets[0] >= 7


ODD_WORDS = [
    "0", "00", "007", "-0", "-1", "+1", "--1", "1-1", "-", "x", "1x", "é", "١", "0x10", "1_0", "1e5", "nan", "inf", "12%",
    "9" * 15, "9" * 16, "-" + "9" * 15, "9" * 18, "9" * 19, "9" * 40, "9" * 13 + ".99", "9" * 14 + ".99", "99999.99",
    "0.00", "1.00", "-1.00", "-0.00", "01.00", "00.00", "1.0", "1.000", ".50", "1.", "1,00", "1.2.3", "1..2", "1.-2",
    "41943.03", "41943.04", "100.00", "-01", "+3", "1:00", "1/2", "12a", "a12", "12345678", "-1234567", "-12345678", "123456789",
    "99999999", "100000000", "2147483647", "2147483648", "9223372036854775808", ":", "/", "1,2", "-0.50", "12.34", "00.50", "5.",
    "12.345", "1.-5", "9999.99", "-9999.99", "100000.00", "1234567.89", "-1234567.89", "21474836.47", "21474836.48", "1.5a", "a.50",
    "123456789012.12", "1.:0", "/.50",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["vmstat_linux", "mpstat_linux", "iostat_linux", "pidstat_linux"])
def test_bulk_leaves_no_odd_word_unseen(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Each word stands in every place of a row once: as a value, a name, a time."""
    head, row = {
        "vmstat_linux": (
            "procs -memory- -timestamp-\n r b swpd free buff cache si so bi bo in cs us sy id wa st UTC\n",
            "1 0 0 402312 267968 846360 0 0 1444 4554 647 1297 34 8 57 1 1 2026-11-21 12:00:01",
        ),
        "mpstat_linux": ("12:00:00 CPU %usr %sys %iowait %idle intr/s\n", "12:00:01 all 5.00 1.00 0.25 93.75 1000.00"),
        "iostat_linux": ("Device tps kB_read/s kB_read %util\n", "sda 1.00 20.00 20 1.00"),
        "pidstat_linux": ("# Time UID PID %usr kB_rd/s VSZ Command\n", "1795262401 0 7 1.00 -1.00 5000 sh"),
    }[kind]
    words = row.split()
    spec = load_catalogue().specs[kind]
    for word in ODD_WORDS:
        rows = [row] + [" ".join([*words[:at], word, *words[at + 1 :]]) for at in range(len(words))]
        data = (head + row + "\n" + head + "\n".join(rows) + "\n").encode()
        assert in_bulk(monkeypatch, spec, [data]) == line_by_line(monkeypatch, spec, [data]), word
