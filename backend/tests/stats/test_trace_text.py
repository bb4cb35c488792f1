"""Lines of tracers one by one: times, numbers with names, headers and the rows below them, frames."""

import re

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.outcome import Rejected
from normstat.stats.engine.trace.column_names import split_headers
from normstat.stats.engine.trace.stacks import MAX_FRAMES, fold_lines, fold_stack, is_frame
from normstat.stats.engine.trace.trace_layout import TraceLayout, begin_tables
from normstat.stats.engine.trace.trace_lines import Pairs, parse_pairs, says_nothing, split_stamp, tells_of_losses, tidy
from normstat.stats.engine.trace.trace_table import TableRow, cut_row


def trace_layout() -> TraceLayout:
    layout = require_spec("bcc").layout
    assert isinstance(layout, TraceLayout)
    return layout


LAYOUT = trace_layout()


def names(header: str, row: str = "") -> list[list[str]]:
    return [list(found.names) for found in split_headers(header, row)]


def cut(header: str, row: str) -> tuple[str, dict[str, str]] | None:
    """Key and values of the row, by the first way to read the header that it fits."""
    for table in begin_tables(LAYOUT, split_headers(header, row), ""):
        found = cut_row(table, row)
        if isinstance(found, TableRow):
            return found.key, dict(zip(found.columns, found.words, strict=True))
    return None


@pytest.mark.parametrize(
    ("text", "seconds", "rest"),
    [
        ("2005 Apr 27 23:37:58,", 1114645078.0, ""),
        ("2006 Jan  6 20:21:59,  load: 0.02", 1136578919.0, "load: 0.02"),
        ("Mon Sep 29 03:38:28 2008 , Average:  19Kb/sec", 1222659508.0, "Average:  19Kb/sec"),
        ("2026-11-21 10:00:00.5", 1795255200.5, ""),
        ("[06:14:36]", 22476.0, ""),
        ("time 10:05:00:", 36300.0, ""),
        ("06:33:40 PIDs/sec: @: 2314", 23620.0, "PIDs/sec: @: 2314"),
    ],
)
def test_times_at_the_beginning_of_a_line(text: str, seconds: float, rest: str) -> None:
    found = split_stamp(text)
    assert found is not None
    assert (found[0].seconds, found[1]) == (seconds, rest)


@pytest.mark.parametrize(
    "text", ["1795262401", "25:00:00", "12:00:00x", "2005 Foo 27 23:37:58,", "2005 Apr 31 23:37:58,", "12 read"]
)
def test_what_is_no_time(text: str) -> None:
    assert split_stamp(text) is None


@pytest.mark.parametrize(
    ("text", "columns", "words"),
    [
        ("load average: 1.24, 1.24, 1.22   syscalls: 1287", ("load 1 min", "load 5 min", "load 15 min", "syscalls"), 4),
        ("loadavg: 1.48 0.87 0.45 1/287 14547", ("load 1 min", "load 5 min", "load 15 min", "running", "tasks", "last pid"), 6),
        ("load averages: 2.091 2.048 1.947", ("load 1 min", "load 5 min", "load 15 min"), 3),
        ("avg = 13746 nsecs, total: 6543360 nsecs, count: 476", ("avg (nsecs)", "total (nsecs)", "count"), 3),
        ("Buffers MB: 125 / Cached MB: 1543 / Sort: HITS / Order: ascending", ("Buffers MB", "Cached MB"), 2),
        ("Read:  4096 bytes (0 Mb)", ("Read (bytes)",), 1),
    ],
)
def test_numbers_with_names(text: str, columns: tuple[str, ...], words: int) -> None:
    found = parse_pairs(text)
    assert isinstance(found, Pairs)
    assert found.columns == columns
    assert len(found.words) == words
    assert all(word in text for word in found.words)


@pytest.mark.parametrize("text", ["CMD: bash   PID: 12", "a: 1 b", "Sort: HITS", "@: 12", "x[1]: 2", "load: 1.2.3", "a: 1e5", ""])
def test_lines_with_anything_else_are_no_numbers_with_names(text: str) -> None:
    assert parse_pairs(text) is None


def test_what_tracers_say_of_themselves() -> None:
    for text in (
        "Tracing... Hit Ctrl-C to end.",
        "Attached 2 probes",
        "[...]",
        "-----",
        "Type Ctrl-C to exit",
        "Sampling at 49 Hertz...",
    ):
        assert says_nothing(text), text
    for text in ("Running 12", "  read 5", "Tracing", "a...b", "-1", "- 5"):
        assert not says_nothing(text) or text == "Tracing", text
    assert tells_of_losses("dtrace: 12 drops on CPU 0")
    assert tells_of_losses("Lost 3 events")
    assert not tells_of_losses("dtrace: script 'x' matched 3 probes")


def test_the_echo_of_ctrl_c_leaves_columns_where_they_are() -> None:
    assert tidy("^C       0      -19") == "         0      -19"
    assert tidy("^C^C\t1  ") == "        1"
    assert tidy("a ^C") == "a ^C"


def test_a_header_is_read_by_the_row_below_it() -> None:
    header = "                 Caller   Avg Spin  Count   Max spin Total spin"
    row = "     psi_avgs_work+0x2e       3675      5       5468      18379"
    assert names(header, row)[0] == ["Caller", "Avg Spin", "Count", "Max spin", "Total spin"]
    assert names("TYPE              # ALLOCS      # BYTES")[0] == ["TYPE", "# ALLOCS", "# BYTES"]
    assert names("  tid   %user %kernel (of 20002 ticks)")[0] == ["tid", "%user", "%kernel"]
    assert names("  uid |   poll  select| process")[0] == ["uid", "poll", "select", "process"]


@pytest.mark.parametrize("text", ["By value:", "Tracing, done.", "read 5", "one", "a ... b", "-- --", "x" * 500 + " Y", "| |"])
def test_lines_that_are_no_header(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("header", "row", "key", "values"),
    [
        ("PID    COMM             COUNT", "7      Chrome Worker        5", "7 Chrome Worker", {"COUNT": "5"}),
        ("PID COMM COUNT", "7 17287 5", "7 17287", {"COUNT": "5"}),
        ("COUNT      EVENT", "4          size = 16", "size = 16", {"COUNT": "4"}),
        ("SENDER RECIPIENT SIG COUNT", "sh vi 9 1", "sh vi 9", {"SIG": "9", "COUNT": "1"}),
        ("SENDER RECIPIENT SIG COUNT", "sh vi KILL 1", "sh vi KILL", {"COUNT": "1"}),
        ("CPU %runocc", "3 5", "3", {"%runocc": "5"}),
        ("NAME RW COUNT", "a - 5", "a", {"COUNT": "5"}),
        ("UID CMD COUNT", "root sh 5", "root sh", {"COUNT": "5"}),
        ("TIME     HITS  HIT%", "10:42:35: 7 95.29", "", {"HITS": "7", "HIT%": "95.29"}),
    ],
)
def test_rows_are_cut_by_what_is_known_of_columns(header: str, row: str, key: str, values: dict[str, str]) -> None:
    assert cut(header, row) == (key, values)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("PID COMM COUNT", "x y 5"),
        ("PID COMM COUNT", "7 5"),
        ("COMM FILE COUNT", "a b c 5"),
        ("FOO BAR BAZ", "1 2 3 4"),
        ("PID COMM COUNT", "7 a b"),
        ("some words here", "                    1                   2                  3"),
    ],
)
def test_rows_that_fit_in_no_way_or_in_two_are_not_cut(header: str, row: str) -> None:
    assert cut(header, row) is None


HEADER = "PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms"
ROW = "14501  cksum            R 202 1   xvda1      361   28832   3.39"


@pytest.mark.parametrize("at", range(9))
@pytest.mark.parametrize("change", ["", "{} 77777", "77777 {}", "{} xx"])
def test_a_cell_too_few_or_a_word_too_many_shifts_no_number(at: int, change: str) -> None:
    """Where the row is cut all the same, the word was taken for a part of a name, and all numbers are where they belong."""
    key, values = cut(HEADER, ROW) or ("", {})
    assert key == "14501 cksum R 202 1 xvda1"
    cells = list(re.finditer(r"\S+", ROW))
    cell = cells[at]
    changed = change.format(cell[0])
    # A name that became longer takes from the blanks behind it, as a wider name in a fixed column does.
    behind = ROW[cell.end() :]
    n_taken = min(len(changed) - len(cell[0]), len(behind) - len(behind.lstrip(" ")) - 1) if changed else -len(cell[0])
    found = cut(HEADER, ROW[: cell.start()] + changed + (behind[n_taken:] if n_taken >= 0 else " " * -n_taken + behind))
    if found is not None:
        assert found[1].items() <= values.items()


def test_a_row_may_stand_elsewhere_than_its_header_if_the_row_before_did_too() -> None:
    header = "PID      UID      CMD              HITS     MISSES"
    rows = ["   19151 root     bash                  60        0", "   19157 www      Web Content            1       10"]
    assert cut(header, rows[1]) is None
    table = next(begin_tables(LAYOUT, split_headers(header, rows[0]), ""))
    first = cut_row(table, rows[0])
    assert isinstance(first, TableRow)
    second = cut_row(first.table, rows[1])
    assert isinstance(second, TableRow)
    assert (second.key, second.words) == ("19157 www Web Content", ("1", "10"))


def test_a_column_that_once_held_numbers_holds_nothing_else() -> None:
    header, first = "NAME  SIZE", "a     5"
    table = next(begin_tables(LAYOUT, split_headers(header, first), ""))
    row = cut_row(table, first)
    assert isinstance(row, TableRow)
    assert cut_row(row.table, "b     big") == Rejected("column SIZE: 'big' is not a number")
    absent = cut_row(row.table, "b     -")
    assert isinstance(absent, TableRow)
    assert absent.words == ("-",)


def test_frames() -> None:
    for text in ("unix`idle+0x3b", "0x7f3a12bc", "vfs_read+145", "main+0x6d [allocs]", "ffffffff8160e52b wake_up"):
        assert is_frame(text), text
    for text in ("bash", "12", "a b", "123456789012", "Elapsed Times"):
        assert not is_frame(text), text
    assert fold_lines(["java", "a`b+0x1", "a`c"]) == "java;a`c;a`b+0x1"
    assert fold_stack(["x;y"], ["f"]) == "x:y;f"
    assert fold_stack([], ["f"] * MAX_FRAMES) is not None
    assert fold_stack([], ["f"] * (MAX_FRAMES + 1)) is None
    assert fold_stack([], ["f" * 20_000]) is None
