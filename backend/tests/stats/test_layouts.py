"""What a layout of the reader `columns` can say: rows with more, fewer or other words than their header."""

import pytest

from normstat.stats.catalogue import parse_spec, require_spec
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.readers import read
from normstat.stats.spec import Spec
from tests.generated import VMSTAT_HEADER
from tests.stats.reading import Row, rows_of_result

SPEC = """
name = "tool"
tool = "tool"
os = "linux"
title = "A tool"
version = 1
commands = ["tool 1"]
reader = "columns"

[layout]
{layout}

[[layout.tables]]
stat = "tool"
header = ["aa", "bb"]
instance = ["name"]
{table}

[[stats]]
name = "tool"
title = "tool"
instance_title = "name"

[[stats.fields]]
key = "aa_kb"
column = "aa"
group = ""
unit = "kB"
kind = "gauge"
worse = "neither"
help = "What it is."
source = "tool(1)"

[[stats.fields]]
key = "bb_pct"
column = "bb"
group = ""
unit = "%"
kind = "percent"
worse = "neither"
help = "What it is."
source = "tool(1)"
"""


def spec_of(table: str, layout: str = "") -> Spec:
    return parse_spec("tool.toml", SPEC.format(table=table, layout=layout))


def rows_of(spec: Spec, text: str) -> list[Row]:
    return rows_of_result(read(spec, text.encode(), state={}, offset=0, is_final=True))


def found(spec: Spec, text: str) -> list[tuple[str, tuple[float | None, ...]]]:
    """Instances and values, None where one is missing."""
    return [
        (row.instance, tuple(None if is_missing else value for value, is_missing in zip(row.values, row.missing, strict=True)))
        for row in rows_of(spec, text)
    ]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("my disk 1 2", [("my disk", (1, 2))]),
        ("disk 1 2", [("disk", (1, 2))]),
        # The name may end in a number, or the row have a value too many: nobody knows.
        ("disk 2 1 2", []),
    ],
)
def test_a_first_column_with_blanks(row: str, expected: list[object]) -> None:
    assert found(spec_of("first_text = true"), f"name aa bb\n{row}\n") == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("x\t1", [("x", (1, None))]),
        ("x\t\t2", [("x", (None, 2))]),
        ("x \t 1 ", [("x", (1, None))]),
        ("x\t1\t2", [("x", (1, 2))]),
        ("x\t1\t2\t3", []),
        # name aa bb: the numbers end where the words of the header do, or they do not.
        ("   x  1", [("x", (1, None))]),
        ("   x     2", [("x", (None, 2))]),
        ("   x   2", []),
    ],
)
def test_rows_that_lack_columns(row: str, expected: list[object]) -> None:
    header = "name\taa\tbb" if "\t" in row else "name aa bb"
    assert found(spec_of("short_rows = true"), f"{header}\n{row}\n") == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("a_long_name\n 1 2\n", [("a_long_name", (1, 2))]),
        ("a_long_name\n\n 1 2\n", []),
        ("not_its_name\nb 1 2\n", [("b", (1, 2))]),
        ("a_long_name\nb_long_name\n 1 2\n", [("b_long_name", (1, 2))]),
        ("7\n 1 2\n", []),
    ],
)
def test_a_name_on_a_line_of_its_own(lines: str, expected: list[object]) -> None:
    assert found(spec_of("wrapped = true"), f"name aa bb\n{lines}") == expected


def test_the_instance_in_the_header() -> None:
    assert found(spec_of('titled = true\njoined = ["c d"]'), "vda aa bb c d\n1 2 3\n") == [("vda", (1, 2, 3))]


def test_columns_in_the_middle_that_only_some_rows_have() -> None:
    assert found(spec_of('optional = ["cc"]'), "name cc aa bb\nall 1 2\n0 7 1 2\n") == [("all", (None, 1, 2)), ("0", (7, 1, 2))]


def test_sizes_with_suffixes_are_a_field_of_their_own() -> None:
    rows = rows_of(spec_of(""), "name aa bb\nx 1 2\nx 1.5k 2%\nx 12B 2\nx 1.5x 2\n")
    assert [(row.columns[0][0], row.values[0]) for row in rows] == [("aa_kb", 1), ("aa_bytes", 1536), ("aa_bytes", 12)]
    assert [row.values[1] for row in rows] == [2, 2, 2]


def test_rows_of_a_header_that_no_table_knows_are_not_those_of_the_one_before() -> None:
    spec = spec_of('time = "leading"', 'unknown = "tool"')
    text = "12:00:00 name aa bb\n12:00:01 x 1 2\n\n12:00:01 NAME cc dd\n12:00:02 x 3 4\n"
    assert [row.columns[0][0] for row in rows_of(spec, text)] == ["aa_kb", "cc"]
    # Without a blank line before it the line may be anything, and the rows behind it may be anyone's.
    assert [row.values for row in rows_of(spec, text.replace("\n\n", "\n"))] == [(1, 2)]


def test_behind_a_gap_rows_may_be_those_of_any_table() -> None:
    """The header that was lost may have been that of another table with as many columns."""
    spec = require_spec("sar_linux")
    tasks = b"12:00:00 proc/s cswch/s\n12:00:01 1.00 2.00\n"
    swap = b"\n12:00:00 pswpin/s pswpout/s\n12:00:01 3.00 4.00\n"
    rest = b"rest of a line\n12:00:02 5.00 6.00\n"
    one = read(spec, tasks, state={}, offset=0)
    behind_one = read(spec, rest, state=state_after_gap(one.state), offset=500)
    assert [row.stat for row in rows_of_result(behind_one)] == ["sar_linux_task"]
    two = read(spec, tasks + swap, state={}, offset=0)
    behind_two = read(spec, rest + tasks, state=state_after_gap(two.state), offset=500)
    assert [(row.stat, row.values) for row in rows_of_result(behind_two)] == [("sar_linux_task", (1.0, 2.0))]
    assert [line.reason for line in behind_two.rejected] == ["a line before any header"]


def test_a_header_behind_a_gap_repeats_the_one_before() -> None:
    """Its distance is unknown: were it a new run, a row of the interval would be left out as one about the time since boot."""
    spec = require_spec("vmstat_linux")
    head, columns, *_ = VMSTAT_HEADER.splitlines(keepends=True)
    rows = [f" 1  0 0 8 9 7 0 0 5 12 250 400 {n} 2 38 0 0 2026-11-20 09:00:{n:02d}\n" for n in range(60)]
    screens = "".join(head + columns + "".join(rows[at : at + 20]) for at in range(0, 60, 20))
    first = read(spec, (head + columns + rows[0]).encode(), state={}, offset=0)
    rest = screens[screens.index(rows[13]) :].encode()
    behind = read(spec, rest, state=state_after_gap(first.state), offset=5000)
    assert not behind.since_boot
    # The line that ends the gap may be the rest of one.
    assert len(rows_of_result(behind)) == 60 - 14
