"""Logs of traces (the slides are LKST's): filtered, paired, drawn as lanes, who blocked whom; and as files, CSV, JSON, pictures."""

import csv
import io
import random

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.artefacts.log_builder import LogBuilder
from normstat.artefacts.part_codec import pack_part, unpack_part
from normstat.artefacts.parts import NO_NUMBER, LogClock, LogPart
from normstat.artefacts.reading import read_artefact
from normstat.artefacts.tools import Effect
from normstat.artefacts.trace_log.blocking import find_blocking
from normstat.artefacts.trace_log.event_list import list_events
from normstat.artefacts.trace_log.lanes import MAX_ITEMS, LaneRequest, view_lanes
from normstat.artefacts.trace_log.latency import measure_latencies
from normstat.artefacts.trace_log.log_export import LineFilter, filter_lines, write_log_csv, write_log_json, write_log_table
from normstat.artefacts.trace_log.log_filter import choose_events
from normstat.artefacts.trace_log.log_times import read_time
from normstat.artefacts.trace_log.pairing import available_rules, find_rule, find_spans
from normstat.artefacts.trace_log.queue_depth import measure_queues
from normstat.artefacts.trace_log.trace_reading import find_form, read_trace
from normstat.errors import BadRequest, DamagedArtefact
from normstat.report.log_pictures import LogSource, draw_lanes, draw_latencies, lanes_pdf, latencies_pdf, nice_step
from normstat.report.svg_subset import read_svg
from normstat.runtime.readable import format_span

LKST = """| 時刻 | cpu | コマンド名 | lock/unlock | 関数 |
|---------------------------|-----|-----------|-------------|--------------|
| 10:59:59.109884679 | 0 | kdm_greet | lock | |
| 10:59:59.109884888 | 0 | kdm_greet | unlock | |
| 11:00:15.543851385 | 3 | iozone | unlock | schedule() |
| 11:00:15.543853871 | 1 | crond | lock | permission() |
| 11:00:15.543862258 | 1 | crond | unlock | |
"""
STRACE = rb"""4711 1795824982.690000 execve("/usr/bin/python3", ["python3"], 0x7ffe /* 35 vars */) = 0 <0.000200>
4711 1795824982.700000 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 4712 <0.000050>
4711 1795824982.701000 futex(0x55d0, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
4712 1795824982.702000 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000011>
4712 1795824983.001000 futex(0x55d0, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000009>
4711 1795824983.001500 <... futex resumed>) = 0 <0.300500>
4712 1795824983.002000 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
4712 1795824983.003000 +++ killed by SIGTERM +++
"""
FTRACE = b"""# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
            bash-21121   [001] .....  1859.293372: sys_exit: NR 1 = 2
         python3-21175   [001] d..3.  1859.294260: contention_begin: 000000001996c276 (flags=SPIN)
         python3-21175   [001] d..3.  1859.294262: contention_end: 000000001996c276 (ret=0)
         python3-21175   [001] d..2.  1859.294300: sched_switch: prev_comm=python3 prev_state=S ==> next_comm=bash next_pid=21121
          <idle>-0       [000] dNh4.  1859.294310: irq_handler_entry: irq=36 name=virtio1-req.0
          <idle>-0       [000] d.h4.  1859.294315: irq_handler_exit: irq=36 ret=handled
            bash-21121   [001] d..4.  1859.594300: sched_waking: comm=python3 pid=21175 prio=120 target_cpu=001
            bash-21121   [001] d..2.  1859.594305: sched_switch: prev_comm=bash prev_state=R ==> next_comm=python3 next_pid=21175
"""


def read_log(text: str | bytes) -> LogPart:
    (part,) = read_artefact(text.encode() if isinstance(text, str) else text).parts
    assert isinstance(part, LogPart)
    return part


def test_who_blocked_crond() -> None:
    log = read_log(LKST)
    (row,) = find_blocking(log).rows
    assert (row.waiter.command, row.waiter.cpu, row.waiter.function) == ("crond", 1, "permission()")
    assert (row.holder.command, row.holder.cpu, row.holder.function) == ("iozone", 3, "schedule()")
    assert (row.wait_start, row.wait_end, row.released) == ("39599109884888", "39615543853871", "39615543851385")
    # The log's gap; the slide says about 15 seconds of it were busy-waiting.
    assert (format_span(row.held_ns or 0, 5), row.gap_ns, row.held_is_limit, row.wait_is_limit) == ("16.434 s", 2486, True, True)
    assert row.sentence == (
        "crond got the lock 2.486 µs after iozone released it in schedule(); iozone held it for at most 16.43 s"
    )


def test_spans_of_the_slide_and_what_has_no_beginning() -> None:
    log = read_log(LKST)
    spans = find_spans(log, available_rules(log)[0])
    assert (spans.duration_ns.tolist(), spans.unmatched_end.tolist(), len(spans.unmatched_begin)) == ([209, 8387], [2], 0)
    lanes = {lane.label: lane for lane in view_lanes(log, np.ones(5, bool), LaneRequest(by="cpu")).lanes}
    (start,), (end,), (is_open,) = (lanes["CPU 3"].spans.start_ns, lanes["CPU 3"].spans.end_ns, lanes["CPU 3"].spans.is_open)
    assert (start, end, is_open) == (209, 16_433_966_706, True)


def test_decades_as_on_the_slide() -> None:
    """The first row of the distribution: 82 below 1 µs, 1 below 10 µs, 2 of 10 s or more; 85 calls in all."""
    log = LogBuilder()
    time_ns = 0
    for duration_ns in [209] * 82 + [8_000] + [16_140_000_000, 15_900_000_000]:
        log.add(time_ns, event="lock", pid=1, about="0xc019f83e")
        log.add(time_ns + duration_ns, event="unlock", pid=1, about="0xc019f83e")
        time_ns += duration_ns + 1000
    part = log.build(stat="x", title="x", clock=LogClock.DAY, decimals=9)
    summary = measure_latencies(part, find_spans(part, find_rule("hold")))
    (row,) = summary.rows
    assert (row.key, row.count, row.decades, sum(row.decades)) == ("0xc019f83e", 85, [82, 1, 0, 0, 0, 0, 0, 0, 2], 85)
    assert (row.max_ns, row.total_ns) == (16_140_000_000, 82 * 209 + 8_000 + 16_140_000_000 + 15_900_000_000)
    assert (summary.spread, row.longest_start) == ("96.4 % within 1 µs; 2 of 85 took 10 s or more", str(82 * 1209 + 9_000))


def test_strace_joins_what_another_thread_interrupts() -> None:
    found = read_artefact(STRACE, command="strace -f -ttt -T -p 4711")
    assert (found.spec, found.tool, found.effect, found.n_rejected) == ("strace_log", "strace", Effect.HEAVY, 0)
    assert found.first_us == 1_795_824_982_690_000
    assert found.duration_s == pytest.approx(0.313)
    log = found.parts[0]
    assert isinstance(log, LogPart)
    assert list(log.event) == ["execve", "clone3", "futex", "openat", "futex", "SIGTERM", "killed"]
    assert (set(list(log.command)[1:]), log.time_ns[0], log.duration_ns[2]) == ({"python3"}, 1_795_824_982_690_000_000, 300_500_000)
    (row,) = find_blocking(log).rows
    assert (row.how, row.object, row.waiter.pid, row.holder.pid, row.wait_ns) == ("futex", "0x55d0", 4711, 4712, 300_500_000)
    summary = measure_latencies(log, find_spans(log, find_rule("printed")))
    assert (summary.rows[0].key, summary.rows[0].count, summary.rows[0].total_ns) == ("futex", 2, 300_509_000)
    assert summary.n_unmatched_begin == 2, "a signal and an exit have no duration"
    assert list_events(log, choose_events(log, "event=openat")).rows[0].printed == "2026-11-28T00:16:22.702000Z"


def test_ftrace_pairs() -> None:
    log = read_log(FTRACE)
    assert (log.clock, log.decimals, log.object[1], log.function[4]) == (LogClock.RELATIVE, 6, "000000001996c276", "virtio1-req.0")
    durations = {rule.name: find_spans(log, rule).duration_ns.tolist() for rule in available_rules(log)}
    assert durations == {"contention": [2000], "blocked": [300_005_000], "scheduling": [5000], "irq": [5000]}
    (row,) = find_blocking(log).rows
    assert row.sentence == "python3 21175 was off the CPU for 300 ms until bash 21121 woke it"
    custom = find_spans(log, find_rule("irq_handler_entry->irq_handler_exit", ("cpu", "object")))
    assert custom.duration_ns.tolist() == [5000]


@pytest.mark.parametrize(
    ("where", "lines"),
    {
        "": [3, 4, 5, 6, 7],
        "cpu=1 and event=lock": [6],
        "event=lock or function=schedule()": [3, 5, 6],
        "not (cpu=0,1)": [5],
        "command!=crond": [3, 4, 5],
        "command!~CRON and not event=lock": [4, 5],
        "time>=11:00:15.543853871": [6, 7],
        "time=+0s..+209ns": [3, 4],
        "time<+1s": [3, 4],
    }.items(),
)  # fmt: skip
def test_filters(where: str, lines: list[int]) -> None:
    log = read_log(LKST)
    assert (np.flatnonzero(choose_events(log, where)) + 3).tolist() == lines


@pytest.mark.parametrize(
    "where",
    ["(event=lock", "event=lock)", "and", "cpu=x", "who=1", "event>lock", "time=noon", "cpu=1 cpu=2", "not",
     "(" * 40 + "cpu=1" + ")" * 40,
     "duration>1 fortnight", " or ".join(["cpu=1"] * 101), "__import__('os')"],
)  # fmt: skip
def test_filters_that_cannot_be_read_say_so(where: str) -> None:
    with pytest.raises(BadRequest):
        choose_events(read_log(LKST), where)


def test_a_log_is_stored_and_loaded_whole() -> None:
    for text in (LKST.encode(), STRACE, FTRACE):
        log = read_log(text)
        again = unpack_part(pack_part(log))
        assert isinstance(again, LogPart)
        assert list_events(again, np.ones(log.n_rows, bool), limit=100) == list_events(log, np.ones(log.n_rows, bool), limit=100)
    with pytest.raises(DamagedArtefact):
        unpack_part(pack_part(log)[:-9])


def test_a_day_ends_and_time_goes_backwards() -> None:
    day = read_log(LKST.replace("11:00:15.543851385", "00:00:01.000000000").replace("11:00:15.5438", "00:00:01.5438"))
    assert np.diff(day.time_ns).min() > 0, "after midnight it is the next day"
    lines = FTRACE.splitlines(keepends=True)
    mixed = read_log(b"".join(lines[:2] + lines[2:][::-1]))
    assert (mixed.n_backwards, mixed.time_ns.tolist()) == (7, read_log(FTRACE).time_ns.tolist())


@pytest.mark.parametrize("seed", range(5))
def test_noise_between_events_is_rejected_and_harms_nothing(seed: int) -> None:
    noise = random.Random(seed)
    lines = STRACE.splitlines(keepends=True) * 20
    for _ in range(40):
        lines.insert(noise.randrange(len(lines)), noise.randbytes(60).replace(b"\n", b" ") + b"\n")
    found = read_artefact(b"".join(lines), spec="strace_log")
    assert (found.parts[0].n_rows, found.n_rejected <= 40) == (140, True)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["lock", "unlock"]), st.sampled_from(["a", "b"])), max_size=60))
def test_every_event_is_in_one_pair_or_unmatched(events: list[tuple[int, str, str]]) -> None:
    log = LogBuilder()
    for time_ns, (pid, event, about) in enumerate(events):
        log.add(time_ns, event=event, pid=pid + 1, about=about)
    part = log.build(stat="x", title="x", clock=LogClock.RELATIVE, decimals=9)
    spans = find_spans(part, find_rule("hold"))
    # The definition: an unlock ends the lock before it, if that is of its thread and lock and nothing of them came between.
    expected: list[tuple[int, int]] = []
    open_: dict[tuple[int, str], int] = {}
    for number, (pid, event, about) in enumerate(events):
        begun = open_.pop((pid, about), None)
        if event == "lock":
            open_[pid, about] = number
        elif begun is not None:
            expected.append((begun, number))
    assert list(zip(spans.begin.tolist(), spans.end.tolist(), strict=True)) == sorted(expected)
    used = [*spans.begin.tolist(), *spans.end.tolist(), *spans.unmatched_begin.tolist(), *spans.unmatched_end.tolist()]
    assert sorted(used) == list(range(len(events)))


def test_lanes_never_have_more_items_than_can_be_drawn() -> None:
    log = LogBuilder()
    for at in range(60_000):
        log.add(
            at * 1000, event=f"event{at % 12}", pid=at % 97 + 1, cpu=at % 7, command="x", duration_ns=50 if at % 2 else NO_NUMBER
        )
    part = log.build(stat="x", title="x", clock=LogClock.RELATIVE, decimals=9)
    view = view_lanes(part, np.ones(part.n_rows, bool), LaneRequest(by="thread", width=4000))
    n_items = sum(len(lane.bins.count) + len(lane.spans.count) for lane in view.lanes)
    assert (n_items <= MAX_ITEMS, view.n_lanes, len(view.lanes), len(view.names)) == (True, 97, 60, 9)
    assert all(sum(lane.bins.count) == lane.n_events for lane in view.lanes)
    narrow = view_lanes(part, np.ones(part.n_rows, bool), LaneRequest(by="cpu", width=100, start_ns=0, end_ns=1_000_000))
    assert (narrow.n_events, sum(sum(lane.bins.count) for lane in narrow.lanes)) == (1000, 1000)


def test_times_are_read_as_they_are_printed() -> None:
    log = read_log(STRACE)
    for row in list_events(log, np.ones(log.n_rows, bool)).rows:
        assert str(read_time(row.printed, clock=log.clock, first_ns=int(row.time))) == row.time


@given(st.sampled_from([STRACE, FTRACE]), st.lists(st.integers(0, 7), min_size=3, max_size=20))
def test_lines_read_together_and_one_by_one_are_the_same(text: bytes, order: list[int]) -> None:
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(b"#")]
    chosen = [lines[at % len(lines)] for at in order]
    form = find_form(text)
    assert form is not None
    together, alone = read_trace(b"".join(chosen), form).part, form()
    for number, line in enumerate(chosen, 1):
        found = form.pattern.match(line.decode().rstrip("\n"))
        assert found is not None
        alone.take(found, number)
    expected = alone.log.build(stat=form.stat, title=form.title, clock=alone.clock, decimals=alone.decimals)
    assert together is not None
    for name in ("time_ns", "cpu", "pid", "line", "duration_ns", "command", "event", "function", "object", "arguments"):
        assert list(getattr(together, name)) == list(getattr(expected, name)), name
    assert (together.clock, together.decimals) == (expected.clock, expected.decimals)


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
