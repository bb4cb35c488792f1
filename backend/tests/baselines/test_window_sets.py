"""Sets of windows."""

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from normstat.baselines.window_sets import intersect, length_s, merge, sample_evenly, subtract
from normstat.window import Window

START = datetime(2026, 11, 21, tzinfo=UTC)


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def window(start: float, end: float) -> Window:
    return Window(at(start), at(end))


windows = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 15)).map(lambda pair: window(pair[0], pair[0] + pair[1])), min_size=1, max_size=6
)


def seconds_in(pieces: list[Window] | tuple[Window, ...]) -> set[int]:
    return {second for second in range(60) if any(piece.start <= at(second) < piece.end for piece in pieces)}


@given(windows, windows)
def test_sets_of_windows_are_sets_of_seconds(left: list[Window], right: list[Window]) -> None:
    assert seconds_in(merge(left)) == seconds_in(left)
    assert seconds_in(subtract(left, right)) == seconds_in(left) - seconds_in(right)
    assert seconds_in(intersect(left, right)) == seconds_in(left) & seconds_in(right)
    for found in (merge(left), subtract(left, right), intersect(left, right)):
        assert all(one.end < other.start for one, other in itertools.pairwise(found))
    assert length_s(merge(left)) == len(seconds_in(left))


def test_windows_that_touch_are_one() -> None:
    assert merge([window(10, 20), window(0, 10)]) == (window(0, 20),)


def test_thinning_keeps_a_share_of_every_part() -> None:
    kept = sample_evenly([window(0, 1000), window(5000, 6000)], 0.25, 20)
    assert len(kept) == 20
    assert abs(length_s(kept) - 500) < 1e-3
    assert kept[0] == window(0, 25)
    assert kept[10] == window(5000, 5025)
    assert subtract(kept, [window(0, 1000), window(5000, 6000)]) == ()


def test_a_short_window_among_long_ones_is_not_forgotten() -> None:
    kept = sample_evenly([window(0, 100_000), window(200_000, 200_010)], 0.5, 20)
    assert kept[-1] == window(200_000, 200_005)
