"""Rows without a header: times before rows and in them, reports of several rows, and any bytes in any pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.errors import SpecError
from normstat.stats.catalogue import parse_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, LineKind, Timing
from normstat.stats.spec import Spec
from tests.stats.reading import read_pieces, rows_of_result

T0 = 1_795_262_400_000_000
SECOND = 1_000_000


def spec(layout: str, fields: tuple[str, ...] = ("a", "b"), *, extra: str = "") -> Spec:
    described = "".join(
        f'[[stats.fields]]\nkey = "{name}"\ncolumn = "{name}"\ngroup = ""\nunit = ""\nkind = "gauge"\nworse = "neither"\n'
        f'storage = "float8"\nhelp = "h"\nsource = "own"\n{extra}'
        for name in fields
    )
    return parse_spec(
        "app.toml",
        'name = "app"\ntool = "app"\nos = "any"\ntitle = "t"\nversion = 1\ncommands = ["app 10"]\nreader = "fixed_columns"\n'
        f'[layout]\nstat = "app"\n{layout}\n[[stats]]\nname = "app"\ntitle = "t"\n{described}',
    )


def rows(app: Spec, text: str, timing: Timing | None = None) -> list[tuple[int | None, str, list[float]]]:
    """Seconds since T0, instance and values of each sample."""
    result = read(app, text.encode(), state={}, offset=0, timing=timing or Timing())
    return [
        (None if row.time_us == NO_TIME else (row.time_us - T0) // SECOND, row.instance, list(row.values))
        for row in rows_of_result(result)
    ]


SINGLE = spec('columns = ["a", "b"]')
MULTI = spec('columns = ["user", "a", "b"]\ninstance = ["user"]\nignored = ["^total"]')
LEADING = spec('columns = ["a", "b"]\ntime = "leading"')
LONE = spec('columns = ["a"]', ("a",))
TEXT = spec('columns = ["a", "b", "what"]\nlabels = ["what"]\nlast_text = true\nmissing = ["n/a"]')


def test_a_time_dates_the_one_row_behind_it() -> None:
    assert rows(SINGLE, "1795262400\n1 2.5\n1795262410\n3 4\n5 6\n") == [(0, "", [1, 2.5]), (10, "", [3, 4]), (None, "", [5, 6])]


def test_with_an_interval_the_rows_behind_are_dated_too() -> None:
    timing = Timing(start_us=T0, interval_us=10 * SECOND)
    assert rows(SINGLE, "1 2\n3 4\n5 6\n", timing) == [(0, "", [1, 2]), (10, "", [3, 4]), (20, "", [5, 6])]


def test_a_report_has_a_row_for_each_instance() -> None:
    text = "2026-11-21T12:00:00Z\nanna 1 2\nbert 3 4\ntotal 4 6\n2026-11-21T12:00:10Z\nbert 5 6\nbert 7 8\n"
    assert rows(MULTI, text) == [(0, "anna", [1, 2]), (0, "bert", [3, 4]), (10, "bert", [5, 6]), (None, "bert", [7, 8])]


@pytest.mark.parametrize(
    "time",
    [
        "1795262400", "2026-11-21T12:00:00Z", "2026-11-21T14:00:00+0200", "2026-11-21 12:00:00", "2026-11-21 12:00:00 UTC",
        "11/21/2026 12:00:00 PM", "Sat Nov 21 12:00:00 UTC 2026", "Sat Nov 21 12:00:00 2026",
    ],
)  # fmt: skip
def test_times_before_the_columns(time: str) -> None:
    assert rows(LEADING, f"{time} 1 2\n{time} 3 4\n") == [(0, "", [1, 2]), (0, "", [3, 4])]


def test_clocks_before_the_columns_need_a_day_and_pass_midnight() -> None:
    text = "23:59:55 1 2\n00:00:05 3 4\n"
    assert rows(LEADING, text) == [(None, "", [1, 2]), (None, "", [3, 4])]
    banner = "2026-11-20 23:59:00\n"
    assert [time for time, _, _ in rows(LEADING, banner + text)] == [-43205, -43195]


def test_local_times_are_of_the_zone_that_is_given() -> None:
    assert rows(LEADING, "2026-11-21 13:00:00 1 2\n", Timing(zone="Europe/Berlin")) == [(0, "", [1, 2])]


def test_a_lone_column_is_told_from_a_time() -> None:
    assert rows(LONE, "1795262400\n57\n1795262410\n4\n") == [(0, "", [57]), (10, "", [4])]


def test_text_at_the_end_and_missing_values() -> None:
    result = read(TEXT, b"1795262400\n1 n/a some words here\n", state={}, offset=0)
    (block,) = result.blocks
    assert block.values[0].tolist() == [1]
    assert [None if mask is None else mask.tolist() for mask in block.missing] == [None, [True]]


def test_lines_that_are_no_rows_are_rejected_and_short_ones_are_noise() -> None:
    result = read(SINGLE, b"1795262400\nok\n\n1 2 3\n1 x\nno\n", state={}, offset=0)
    assert [line.reason for line in result.rejected] == [
        "3 values for 2 columns",
        "column b: 'x' is not a number that it can hold",
    ][:1]
    assert result.accounts.n_lines[LineKind.REJECTED] == 1
    assert result.accounts.n_lines[LineKind.IGNORED] == 4
    longer = read(SINGLE, b"1795262400\n1 xx\n", state={}, offset=0)
    assert [line.reason for line in longer.rejected] == ["column b: 'xx' is not a number that it can hold"]
    assert [line.reason for line in read(LEADING, b"x 1 2\n", state={}, offset=0).rejected] == ["no time before 2 columns"]


def test_a_last_line_that_may_lack_its_end_is_no_row() -> None:
    result = read(SINGLE, b"1795262400\n1 234", state={}, offset=0, is_final=True)
    assert not result.blocks
    assert result.n_taken == 16
    assert len(result.rejected) == 1


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ('columns = ["a", "a"]', "1 to 500 different names"),
        ("columns = []", "1 to 500 different names"),
        ('columns = ["a b"]', "without blanks"),
        ('columns = ["a"]\ninstance = ["x"]', "instance: 'x' is no column"),
        ('columns = ["x"]\ninstance = ["x"]', "at least one must be neither"),
        ('columns = ["a"]\nlast_text = true', "the last column is no text"),
        ('columns = ["a"]\ntime = "trailing"', "time: 'trailing' is none of line, leading"),
        ('columns = ["a"]\nignored = ["("]', "layout: ignored: "),
        ('columns = ["a"]\nheaders = 1', "headers: is not known"),
        ('columns = ["a"]\nshortest = "x"', "shortest: must be a whole number"),
    ],
)
def test_layouts_that_make_no_sense(layout: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        spec(layout, ("a",))


LINES = st.sampled_from(
    [b"1795262400", b"anna 1 2", b"bert 3 4", b"1 2", b"7", b"", b"total 1", b"12:00:01 1 2", b"2026-11-21 12:00:01 1 2", b"x",
     b"\xff\0", b"1 2 3 4 5", b"23:59:59 AM 1 2", b"- -", b"anna - 5", b"1e5 2", b"Sat Nov 21 12:00:01 UTC 2026 1 2 some text"]
)  # fmt: skip


@given(
    st.lists(LINES, max_size=40), st.lists(st.integers(1, 60), max_size=12), st.sampled_from([SINGLE, MULTI, LEADING, LONE, TEXT])
)
def test_pieces_do_not_show(lines: list[bytes], cuts: list[int], app: Spec) -> None:
    data = b"".join(line + b"\n" for line in lines)
    whole = read_pieces(app, [data])
    pieces = []
    for size in cuts:
        pieces.append(data[:size])
        data = data[size:]
    assert read_pieces(app, [*pieces, data]) == whole
    data = b"".join(pieces) + data
    assert sum(whole.n_bytes.values()) == len(data)


@given(st.binary(max_size=300), st.sampled_from([SINGLE, MULTI, LEADING, LONE, TEXT]))
def test_any_bytes_are_booked(data: bytes, app: Spec) -> None:
    result = read(app, data, state={}, offset=0, is_final=True)
    assert result.n_taken == len(data) == sum(result.accounts.n_bytes.values())
