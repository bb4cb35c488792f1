"""Numbers wider than their columns touch: their decimals part them in one way only, or the row is rejected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import ReadResult
from tests.stats.reading import rows_of_result

HEADER = "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"


def iostat(row: str) -> ReadResult:
    return read(require_spec("iostat_solaris"), f"{HEADER}{row}\n".encode(), state={}, offset=0, is_final=True)


def test_touching_numbers_are_parted_by_their_decimals() -> None:
    result = iostat("  120.4   80.1120000.51345120.2  0.1  1.2    0.4    6.1   2  41 c0t600A0B8000123d0")
    (row,) = rows_of_result(result)
    assert row.values == (120.4, 80.1, 120000.5, 1345120.2, 0.1, 1.2, 0.4, 6.1, 2, 41)
    assert row.instance == "c0t600A0B8000123d0"


@given(st.lists(st.integers(0, 10**8).map(lambda number: f"{number // 10}.{number % 10}"), min_size=8, max_size=8), st.data())
def test_a_row_is_read_right_or_not_at_all(numbers: list[str], data: st.DataObject) -> None:
    joints = data.draw(st.lists(st.sampled_from(["", " "]), min_size=7, max_size=7))
    cells = "".join(f"{number}{joint}" for number, joint in zip(numbers, [*joints, ""], strict=True))
    (row,) = rows_of_result(iostat(f"{cells} 2 41 sd0"))
    assert [*row.values[:8]] == [float(number) for number in numbers]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        # Two decimals where the tool prints one; a number that begins with a needless zero; a column that is missing as well.
        ("120.4 80.1 120000.55134.52 0.1 1.2 0.4 6.1 2 41 sd0", "two columns touch: '120000.55134.52'; 10 values for 11 columns"),
        ("120.4 80.1 120000.50134.5 0.1 1.2 0.4 6.1 2 41 sd0", "two columns touch: '120000.50134.5'; 10 values for 11 columns"),
        ("120.4 80.1 120000.5134.5 0.1 1.2 0.4 2 41 sd0", "9 values for 11 columns"),
        # The decimals of the last number may be those of a whole number beside it.
        ("120.4 80.1 9.6 5.2 0.1 1.2 0.4 6.12 41 sd0", "10 values for 11 columns"),
    ],
)
def test_what_could_be_parted_in_two_ways_is_rejected(row: str, reason: str) -> None:
    result = iostat(row)
    assert not rows_of_result(result)
    assert [line.reason for line in result.rejected] == [reason]
