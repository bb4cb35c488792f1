"""Rows that lack columns are told apart by the places of their numbers: each stands under its own column, or the row is refused."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from tests.stats.test_layouts import found, spec_of

SHORT = spec_of("short_rows = true")
# name, aa, bb: where the words of the header end.
HEADER = "name     aa     bb"
ENDS = {"aa": 11, "bb": 18}


def row_of(cells: dict[str, str]) -> str:
    """A row whose numbers end where the words of the header do; the name ends where "name" does."""
    line = "   x"
    for column, end in ENDS.items():
        if column in cells:
            line = line.ljust(end - len(cells[column])) + cells[column]
    return line


@given(st.fixed_dictionaries({}, optional={"aa": st.integers(0, 99999), "bb": st.integers(0, 99999)}))
def test_every_number_stands_under_its_column(values: dict[str, int]) -> None:
    assume(values)
    row = row_of({column: str(value) for column, value in values.items()})
    assert found(SHORT, f"{HEADER}\n{row}\n") == [("x", (values.get("aa"), values.get("bb")))]


@given(st.text(" x17", min_size=1, max_size=20))
def test_a_number_is_never_taken_for_that_of_another_column(row: str) -> None:
    """Whatever the row: a value comes from a word that ends where its column does, unless there is one for every column."""
    words = row.split()
    for _, values in found(SHORT, f"{HEADER}\n{row}\n"):
        if len(words) == len(ENDS) + 1:
            assert [str(int(value or 0)) for value in values] == [str(int(word)) for word in words[1:]]
        else:
            for end, value in zip(ENDS.values(), values, strict=True):
                if value is not None:
                    begin = row.rfind(" ", 0, end) + 1
                    assert row[end : end + 1] in ("", " ")
                    assert int(row[begin:end]) == value


@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_a_row_that_is_shifted_is_refused(shift: int) -> None:
    assert found(SHORT, f"{HEADER}\n{row_of({'bb': '7'})}\n") == [("x", (None, 7))]
    row = "   x".ljust(ENDS["bb"] - 1 + shift) + "7"
    assert found(SHORT, f"{HEADER}\n{row}\n") == []


def test_without_the_layouts_word_a_short_row_is_refused() -> None:
    assert found(spec_of(""), f"{HEADER}\n{row_of({'bb': '7'})}\n") == []


def test_a_division_by_zero_costs_its_cell_and_not_the_row() -> None:
    text = b"Device            r/s     rkB/s   %util\n" + 2 * b"sda              5.00      -nan    inf\n"
    result = read(require_spec("iostat_linux"), text, state={}, offset=0, is_final=True)
    assert not result.rejected
    (block,) = result.blocks
    assert block.values[0].tolist() == [5.0]
    assert [None if mask is None else mask.tolist() for mask in block.missing] == [None, [True], [True]]
