"""The second of two incidents is one, and what goes on since long before is none."""

from collections.abc import Sequence

import numpy as np
import pytest

from normstat.comparison.series_comparison import compare_arrays
from normstat.scoring.earlier_episodes import Marks, find_over

N_BASELINE, N_BEFORE, N_INCIDENT, N_SERIES = 240, 88, 12, 40
Spans = Sequence[tuple[int, int]]


def verdict_of(before: Spans, incident: Spans) -> str:
    """The verdict of a service that uses 12 % of a CPU, and 1 % in these spans of samples."""
    rng = np.random.default_rng(5)
    baseline, earlier, now = (np.round(rng.normal(12, 1, (N_SERIES, n)), 2) for n in (N_BASELINE, N_BEFORE, N_INCIDENT))
    for values, spans in ((earlier, before), (now, incident)):
        for begin, end in spans:
            values[0, begin:end] = 1
    times = np.arange(N_BASELINE + N_BEFORE + N_INCIDENT, dtype=float)
    of_before = times[N_BASELINE : N_BASELINE + N_BEFORE], earlier
    _, verdicts = compare_arrays(times[:N_BASELINE], baseline, times[-N_INCIDENT:], now, before=of_before)
    return verdicts[0]


@pytest.mark.parametrize("before", [[], [(75, 84)], [(30, 40)], [(20, 28), (60, 70)]])
@pytest.mark.parametrize("incident", [[(0, 12)], [(2, 7)]])
def test_an_incident_like_one_that_is_over_is_seen(before: Spans, incident: Spans) -> None:
    assert verdict_of(before, incident) == "unusual"


@pytest.mark.parametrize(
    ("before", "incident"), [([(0, 88)], [(0, 12)]), ([(begin, begin + 4) for begin in range(3, 88, 10)], [(1, 5)])]
)
def test_what_goes_on_since_before_is_not_this_incidents(before: Spans, incident: Spans) -> None:
    assert verdict_of(before, incident) != "unusual"


@pytest.mark.parametrize(
    ("outside", "is_over"),
    [
        ([], False),
        ([10, 11, 12], True),
        ([17], False),
        ([16], True),
        # A pause within it: it is over after twice as long without it.
        ([10, 13], True),
        ([10, 15], False),
        # Two episodes.
        ([0, 15], True),
    ],
)
def test_an_episode_is_over_when_it_has_paused_for_long_enough(outside: Sequence[int], *, is_over: bool) -> None:
    before = np.zeros((2, 20), np.float32)
    before[1, outside] = 9
    before[1, 5] = np.nan
    marks = Marks(np.full(2, -np.inf, np.float32), np.full(2, 5, np.float32))
    assert find_over(before, marks, 12).tolist() == [False, is_over]
