"""Specs drafted from samples: right as they are for dim_STAT's worked examples, and never one that cannot be read."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normstat.errors import BadRequest
from normstat.stats.catalogue import UserSpecText, built_in_catalogue
from normstat.stats.draft import DraftRequest, Form, SpecDraft, draft_spec
from normstat.stats.preview import MAX_SHOWN, SpecPreview, preview_spec
from normstat.stats.user_spec import require_user_spec

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
APP_TIME = "0.21 0.30 1.20 4.05 0.00 12\n0.20 0.31 1.19 4.10 0.00 11\n0.25 0.28 1.22 3.99 0.01 13\n"
APP_USER = (
    "1795262400\nUser Calls Wait%\nanna 12 0.5\nbert 3 1.25\n\n"
    "1795262410\nUser Calls Wait%\nanna 14 0.7\n"
    "1795262420\nUser Calls Wait%\nbert 1 -\ncarl 7 0.0\nanna 15 2\n"
)


def draft(sample: str, form: Form = Form.SINGLE, **known: str) -> SpecDraft:
    return draft_spec(DraftRequest(name="app", sample=sample, form=form, **known))


def read_with(found: SpecDraft, sample: str) -> SpecPreview:
    spec = require_user_spec(UserSpecText("app", found.toml, 1), built_in_catalogue())
    return preview_spec(spec, sample.encode())


def values(found: SpecPreview) -> list[tuple[str, list[int | float | None]]]:
    return [(row.instance, list(row.values.values())) for row in found.rows]


PING = """PING db1 (10.0.0.2) 56(84) bytes of data.
[1795262400.123456] 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.201 ms
[1795262401.123456] 64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.199 ms
"""


def test_numbers_behind_their_names() -> None:
    found = draft(PING, tool="ping", command="ping -D db1")
    assert [(column.key, column.column, column.unit) for column in found.columns] == [
        ("icmp_seq", "icmp_seq", ""),
        ("ttl", "ttl", ""),
        ("time_value", "time", "ms"),
    ]
    shown = read_with(found, PING)
    assert values(shown) == [("", [1, 64, 0.201]), ("", [2, 64, 0.199])]
    assert [row.time for row in shown.rows] == [NOON + timedelta(seconds=second, microseconds=123_456) for second in (0, 1)]
    # A word names what a row is about; another one is skipped.
    lines = "12:00:01 host=web1 level=info qps=12.5, p99=3ms\n12:00:01 host=web2 level=warn qps=10, p99=12ms\n"
    multi = draft(lines, Form.MULTI)
    assert [(column.column, column.unit) for column in multi.columns] == [("qps", ""), ("p99", "ms")]
    assert values(read_with(multi, lines)) == [("web1", [12.5, 3]), ("web2", [10, 12])]
    # A table with a stray pair in it is a table.
    assert "fixed_columns" in draft("1 2 3\n4 5 6\nnote=7\n7 8 9\n").toml


def test_single_line_without_a_header() -> None:
    found = draft(APP_TIME, tool="app_time", command="app_time 10")
    assert [(column.column, column.decimals) for column in found.columns] == [
        ("col1", 2), ("col2", 2), ("col3", 2), ("col4", 2), ("col5", 2), ("col6", 0)
    ]  # fmt: skip
    assert 'commands = ["app_time 10"]' in found.toml
    assert "The sample has no times" in found.toml
    shown = read_with(found, APP_TIME)
    assert values(shown) == [("", [float(word) for word in line.split()]) for line in APP_TIME.splitlines()]
    assert [row.time for row in shown.rows] == [None] * 3
    assert (shown.n_rows, shown.n_rejected, shown.n_lines) == (3, 0, {"sample": 3})


def test_several_lines_with_header_and_times() -> None:
    found = draft(APP_USER, Form.MULTI)
    assert [(column.key, column.unit, column.kind, column.decimals) for column in found.columns] == [
        ("calls", "", "gauge", 0),
        ("wait_pct", "%", "percent", 2),
    ]
    assert 'reader = "columns"' in found.toml
    assert 'instance = ["User"]' in found.toml
    assert "no times" not in found.toml
    shown = read_with(found, APP_USER)
    assert values(shown)[:3] == [("anna", [12, 0.5]), ("bert", [3, 1.25]), ("anna", [14, 0.7])]
    assert values(shown)[3] == ("bert", [1, None])
    assert [row.time for row in shown.rows] == [NOON + timedelta(seconds=second) for second in (0, 0, 10, 20, 20, 20)]
    assert shown.n_rejected == 0


@pytest.mark.parametrize(
    ("sample", "form", "n_rows", "columns"),
    [
        # The time before the columns, in a form that no header of the reader `columns` has.
        ("2026-11-21 12:00:00 1 2\n2026-11-21 12:00:10 3 4\n", Form.SINGLE, 2, ["col1", "col2"]),
        ("Time a b\n2026-11-21T12:00:00Z 1 2\nTime a b\n2026-11-21T12:00:10Z 3 4\n", Form.SINGLE, 2, ["a", "b"]),
        ("# a b\n1795262400\n1 2\n", Form.SINGLE, 1, ["a", "b"]),
        # Columns of one name, a name that tables need for themselves, and one of blanks and signs only.
        ("1795262400\nx x time ++\n1 2 3 4\n", Form.SINGLE, 1, ["x", "x_2", "time", "++"]),
        # Sizes with suffixes, decimal commas, signs.
        ("1795262400\nsize rate\n12K 0,5\n1795262410\nsize rate\n1.5M -0,25\n", Form.SINGLE, 2, ["size", "rate"]),
        # Noise that is shorter than a row, and text at its end.
        ("ok\n1795262400\nname n what\nanna 1 idle\nbert 22 busy\n--\n", Form.MULTI, 2, ["n"]),
        # One number a line.
        ("1795262400\n57\n1795262410\n58\n", Form.SINGLE, 2, ["col1"]),
        # Instances that are numbers.
        ("1795262400\ncpu busy\n0 1.5\n1 2.5\n1795262410\ncpu busy\n0 3.5\n1 4.5\n", Form.MULTI, 4, ["busy"]),
        ("1795262400\n7 1 9.5\n8 2 9.25\n", Form.MULTI, 2, ["col2", "col3"]),
        ("1795262400\r\na b\r\n1 2\r\n", Form.SINGLE, 1, ["a", "b"]),
    ],
)
def test_odd_samples_are_read_as_drafted(sample: str, form: Form, n_rows: int, columns: list[str]) -> None:
    found = draft(sample, form)
    assert [column.column for column in found.columns] == columns
    shown = read_with(found, sample)
    assert (shown.n_rows, shown.rejected) == (n_rows, [])


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("time", ["", "12:00:01 "])
def test_a_line_with_the_words_of_the_header_and_more_does_not_replace_it(form: Form, time: str) -> None:
    head = "# Time " if time else ""
    sample = f"{head}anna bert\n{head}anna anna bert\n{time}1 1\n{time}2 1\n"
    shown = read_with(draft(sample, form), sample)
    assert shown.n_rows == 2
    assert [line.text for line in shown.rejected] == [f"{head}anna anna bert"]


def test_an_instance_is_chosen_by_name_or_place() -> None:
    sample = "1795262400\nrule user calls\nlogin anna 3\nlogout anna 4\n"
    for wanted in ("user", "2"):
        assert 'instance = ["user"]\nlabels = ["rule"]' in draft(sample, Form.MULTI, instance_column=wanted).toml
    assert 'instance = ["rule"]' in draft(sample, Form.MULTI).toml
    with pytest.raises(BadRequest, match="no column 'who'; it has rule, user, calls"):
        draft(sample, Form.MULTI, instance_column="who")


def test_only_what_surely_counts_up_is_a_counter() -> None:
    rows = "".join(f"{1_795_262_400 + 10 * n}\nall some few\n{n * 7} {n // 3} {-n}\n" for n in range(12))
    assert [column.kind for column in draft(rows).columns] == ["counter", "gauge", "gauge"]
    short = "".join(f"{1_795_262_400 + 10 * n}\nall some\n{n * 7} 1\n" for n in range(5))
    assert [column.kind for column in draft(short).columns] == ["gauge", "gauge"]
    per_user = "".join(f"{1_795_262_400 + 10 * n}\nu n\na {n * 7}\nb {900 - n}\n" for n in range(12))
    assert [column.kind for column in draft(per_user, Form.MULTI).columns] == ["gauge"]


def test_whole_numbers_may_get_decimals_later_and_huge_ones_stay_exact() -> None:
    found = draft("1795262400\na b\n1 9007199254740993\n")
    assert re.findall(r'^storage = "(\w+)"$', found.toml, re.MULTILINE) == ["float8", "int8"]
    shown = read_with(found, "1795262400\na b\n1.5 9007199254740993\n")
    assert values(shown) == [("", [1.5, 9007199254740993])]
    assert shown.rejected == []


@pytest.mark.parametrize(
    ("sample", "form", "message"),
    [
        ("", Form.SINGLE, "no line with a number"),
        ("hello world\n", Form.SINGLE, "no line with a number"),
        ("1795262400\n", Form.SINGLE, "no line with a number"),
        ("1 b\nc 2\n", Form.SINGLE, "no column of numbers"),
        ("57\n", Form.MULTI, "single-line one"),
        ("1 " * 600 + "\n", Form.SINGLE, "at most 500 columns"),
    ],
)
def test_samples_without_rows_are_refused(sample: str, form: Form, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        draft(sample, form)


def test_names_must_be_names() -> None:
    with pytest.raises(BadRequest, match="cannot be a name"):
        draft_spec(DraftRequest(name="App Time", sample=APP_TIME, form=Form.SINGLE))


def test_a_preview_is_bounded_and_says_how_much_there_is() -> None:
    found = draft(APP_USER, Form.MULTI)
    sample = (
        "1795262400\nUser Calls Wait%\n"
        + "".join(f"u{n} {n} 0.5\n" for n in range(500))
        + "odd\n" * 300
        + "odd line here it is\n" * 300
    )
    shown = read_with(found, sample)
    assert (len(shown.rows), shown.n_rows) == (MAX_SHOWN, 500)
    assert (len(shown.rejected), shown.n_rejected) == (MAX_SHOWN, 300)
    assert shown.rejected[0].line_no == 803


WORDS = st.sampled_from(
    ["1", "2.50", "0", "-3", "12%", "1.5K", "anna", "bert", "User", "%busy", "-", "n/a", "12:00:01", "2026-11-21", "1795262400",
     "#", "time", "a", "a", "é", "'q\"", "\\", "x" * 60, "9" * 17, "1,5", "+4", "5.", "Time", "<b>", "\x1b[1m", "\ud800"]
)  # fmt: skip
SAMPLES = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=25).map("\n".join)


@settings(max_examples=settings().max_examples // 3)
@given(SAMPLES, st.sampled_from(Form), st.text(max_size=20), st.text(max_size=20))
def test_every_draft_is_a_spec_that_reads_its_sample(sample: str, form: Form, tool: str, command: str) -> None:
    try:
        found = draft(sample, form, tool=tool, command=command)
    except BadRequest:
        return
    shown = read_with(found, sample.encode("utf-8", "replace").decode())
    assert shown.n_rows > 0, (sample, form, found.toml)
