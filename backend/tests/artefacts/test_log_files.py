"""Logs as files: raw lines that are read again, CSV, JSON, a table, pictures; and the queues of disks."""

import csv
import io

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.artefacts.log_builder import LogBuilder
from normstat.artefacts.parts import LogClock, LogPart
from normstat.artefacts.trace_log.blocking import find_blocking
from normstat.artefacts.trace_log.lanes import LaneRequest, view_lanes
from normstat.artefacts.trace_log.latency import measure_latencies
from normstat.artefacts.trace_log.log_export import LineFilter, filter_lines, write_log_csv, write_log_json, write_log_table
from normstat.artefacts.trace_log.log_filter import choose_events
from normstat.artefacts.trace_log.pairing import available_rules, find_spans
from normstat.artefacts.trace_log.queue_depth import measure_queues
from normstat.errors import BadRequest
from normstat.report.log_pictures import LogSource, draw_lanes, draw_latencies, lanes_pdf, latencies_pdf, nice_step
from normstat.report.svg_subset import read_svg
from tests.artefacts.test_trace_log import FTRACE, LKST, STRACE, read_log


def filtered(text: bytes, where: str, n_bytes: int = 7) -> bytes:
    log = read_log(text)
    pieces = [text[at : at + n_bytes] for at in range(0, len(text), n_bytes)]
    return b"".join(filter_lines(pieces, log, choose_events(log, where)))


def test_the_filtered_slide_is_read_again() -> None:
    text = filtered(LKST.encode(), "cpu=1")
    assert text.decode().splitlines() == LKST.splitlines()[:2] + LKST.splitlines()[5:]
    again = read_log(text)
    assert again.time_ns.tolist() == [39_615_543_853_871, 39_615_543_862_258]


def test_a_call_in_two_lines_stays_whole() -> None:
    text = filtered(STRACE, "pid=4711 and event=futex")
    assert [line.split()[1] for line in text.splitlines()] == [b"1795824982.701000", b"1795824983.001500"]
    (event,) = (read_log(text).duration_ns.tolist(),)
    assert event == [300_500_000]
    # The other thread's call has no second line, and takes none of this one.
    assert filtered(STRACE, "pid=4712 and event=futex").count(b"\n") == 1


@given(st.sampled_from([FTRACE, STRACE, LKST.encode()]), st.integers(1, 4000), st.sampled_from(["", "cpu=0", "pid=4712"]))
def test_pieces_of_any_size_give_the_same_lines(text: bytes, n_bytes: int, where: str) -> None:
    assert filtered(text, where, n_bytes) == filtered(text, where, len(text))
    if not where:
        assert filtered(text, where, n_bytes) == text


def test_without_lines_there_is_no_filtered_text() -> None:
    log = LogBuilder()
    log.add(1, event="x")
    with pytest.raises(BadRequest, match="artefact reparse"):
        LineFilter(log.build(stat="x", title="x", clock=LogClock.DAY, decimals=9), np.ones(1, bool))


def test_csv_and_json_have_all_digits() -> None:
    log = read_log(STRACE)
    mask = choose_events(log, "event=futex")
    rows = list(csv.DictReader(io.StringIO(b"".join(write_log_csv(log, mask)).decode(), newline="")))
    assert [(row["time_ns"], row["duration_ns"], row["line"], row["cpu"]) for row in rows] == [
        ("1795824982701000000", "300500000", "3", ""),
        ("1795824983001000000", "9000", "5", ""),
    ]
    objects = [orjson.loads(line) for line in b"".join(write_log_json(log, mask)).splitlines()]
    assert [(each["time_ns"], each["duration_ns"], each["cpu"]) for each in objects] == [
        ("1795824982701000000", 300_500_000, None),
        ("1795824983001000000", 9000, None),
    ]
    assert list(objects[0]) == list(rows[0])


def test_the_table_has_no_empty_column_and_nothing_of_a_terminal() -> None:
    log = read_log(LKST)
    lines = list(write_log_table(log, choose_events(log), limit=3, clean=lambda text: text.replace("c", "?")))
    assert lines[0].split() == ["time", "since", "cpu", "command", "event", "function"]
    assert lines[3].split() == ["11:00:15.543851385", "16.43", "s", "3", "iozone", "unlo?k", "s?hedule()"]
    assert len(lines) == 4


def test_pictures_of_the_slide() -> None:
    log = read_log(LKST.replace("crond", "<b>crond"))
    mask = np.ones(log.n_rows, bool)
    view, blocking = view_lanes(log, mask, LaneRequest("command", 840)), find_blocking(log)
    svg = str(draw_lanes(view, blocking.rows))
    assert ("<b>" in svg, "&lt;b&gt;crond" in svg, "10:59:59.109884679" in svg) == (False, True, True)
    # The wait of crond, the hold of iozone whose beginning is missing, both dashed; and who blocked whom.
    assert svg.count("stroke-dasharray") == 2
    assert "crond got the lock 2.486 µs after iozone released it in schedule()" in svg.replace("&lt;b&gt;", "")
    assert read_svg(svg).name == "svg"
    rule = available_rules(log)[0]
    summary = measure_latencies(log, find_spans(log, rule))
    histogram = str(draw_latencies(summary, rule.title))
    assert ("100.0 % within 10 µs" in histogram, "1 (50 %)" in histogram, "1 event without a partner" in histogram) == (True,) * 3
    source = LogSource("Lock log", [("Host", "web1")], "normstat", "2026-11-28 00:00:00 UTC")
    for pdf in (lanes_pdf(view, blocking, source), latencies_pdf(summary, rule.title, source)):
        assert pdf.startswith(b"%PDF")


def test_an_empty_window_and_no_pair_are_drawn_too() -> None:
    log = read_log(LKST)
    nothing = np.zeros(log.n_rows, bool)
    assert "No events in this window." in str(draw_lanes(view_lanes(log, nothing, LaneRequest())))
    summary = measure_latencies(log, find_spans(log, available_rules(log)[0], nothing))
    assert "No such pair of events." in str(draw_latencies(summary, "x"))


@given(st.floats(0, 1e18))
def test_steps_are_enough_and_round(span_ns: float) -> None:
    step = nice_step(span_ns)
    assert step >= span_ns
    assert str(step).rstrip("0") in {"1", "2", "5"}


def queue_log(n_open: int, *, n_insert: int = 0) -> LogPart:
    """A disk whose queue fills to `n_open` in a microsecond for each request, and stays so for a second."""
    log = LogBuilder()
    for number in range(n_open):
        log.add(number * 1000, event="block_rq_issue", about=f"8,0 sector {number}")
    for number in range(n_insert):
        log.add(number * 1000 + 500, event="block_rq_insert", about=f"8,16 sector {number}")
    for number in range(n_open):
        log.add(1_000_000_000 + number * 1000, event="block_rq_complete", about=f"8,0 sector {number}")
    for number in range(n_insert):
        log.add(1_000_000_000 + number * 1000, event="block_rq_complete", about=f"8,16 sector {number}")
    return log.build(stat="x", title="x", clock=LogClock.RELATIVE, decimals=9)


def test_a_queue_of_512_is_full() -> None:
    (queue,) = measure_queues(queue_log(512))
    assert (queue.object, queue.stage, queue.longest, queue.limit, queue.is_saturated) == ("8,0", "issued", 512, 512, True)
    assert queue.sentence == (
        "Disk 8,0: what was handed to it was at its limit of 512 for 99.9 % of the time: it is saturated; 512 at most."
    )
    full, other = measure_queues(queue_log(20, n_insert=512))
    assert (full.object, full.stage, full.limit) == ("8,16", "queued", 512)
    assert other.sentence == "Disk 8,0: what was handed to it was 20 long at most, 20 on average."
    (asked,) = measure_queues(queue_log(20), limit=20)
    assert (asked.limit, asked.is_saturated) == (20, True)
    assert measure_queues(read_log(LKST)) == []


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=30), st.integers(1, 40))
def test_queues_agree_with_counting(requests: list[tuple[int, int]], limit: int) -> None:
    log = LogBuilder()
    for number, (start, length) in enumerate(requests):
        log.add(start, event="block_rq_issue", about=f"8,0 sector {number}")
        log.add(start + length, event="block_rq_complete", about=f"8,0 sector {number}")
    (queue,) = measure_queues(log.build(stat="x", title="x", clock=LogClock.RELATIVE, decimals=9), limit=limit)
    first, last = min(start for start, _ in requests), max(start + length for start, length in requests)
    counts = [sum(start <= at < start + length for start, length in requests) for at in range(first, last)]
    if counts:
        assert queue.average == pytest.approx(sum(counts) / len(counts))
        assert queue.share_at_limit == pytest.approx(sum(count >= 0.9 * limit for count in counts) / len(counts))
