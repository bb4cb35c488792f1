"""Episodes of reports: the same in whatever pieces they come."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from normstat.watch.rules.episode_tracker import Episode, EpisodeEnd, EpisodeTracker
from normstat.watch.rules.rule_file import load_builtin_rules
from normstat.watch.rules.rule_run import RuleRun

RULE = load_builtin_rules()["mutex"]
RED, GREEN, UNKNOWN = 0, 3, -1
STEP_S = 10.0


def run_of(states: Sequence[Sequence[int]], first: int, missing: frozenset[int] = frozenset()) -> RuleRun:
    """Return reports each ten seconds, some of which are missing, of two CPUs."""
    places = [place for place in range(first, first + len(states)) if place not in missing]
    own = np.array([states[place - first] for place in places], dtype=np.int8).reshape(-1, 2)
    values = {"smtx": own.astype(float)}
    return RuleRun(RULE, STEP_S * np.array(places, dtype=float), ("0", "1"), own, values)


def all_of(tracker: EpisodeTracker, runs: Sequence[RuleRun]) -> list[Episode]:
    ended = [episode for run in runs for episode in tracker.feed(run)]
    return sorted([*ended, *tracker.open_ones], key=lambda episode: (episode.start_s, episode.instance))


@given(
    states=st.lists(st.tuples(*[st.sampled_from([RED, RED, 1, GREEN, GREEN, GREEN, UNKNOWN])] * 2), min_size=1, max_size=120),
    cuts=st.lists(st.integers(1, 119), max_size=6),
    missing=st.frozensets(st.integers(0, 119), max_size=60),
)
def test_pieces_do_not_matter(states: list[tuple[int, int]], cuts: list[int], missing: frozenset[int]) -> None:
    # Twelve steps are the two minutes after which an episode ends and a silence counts; pieces have the usual distance.
    bounds = sorted({0, len(states), *(cut for cut in cuts if cut < len(states))})
    pieces = [run_of(states[a:b], a, missing) for a, b in pairwise(bounds)]
    usual = [piece for piece in pieces if len(piece.times_s) < 3 or np.median(np.diff(piece.times_s)) <= 40]
    if len(usual) == len(pieces):
        whole = run_of(states, 0, missing)
        if len(whole.times_s) < 3 or np.median(np.diff(whole.times_s)) <= 40:
            assert all_of(EpisodeTracker(RULE), pieces) == all_of(EpisodeTracker(RULE), [whole])


def lasting(states: Sequence[int]) -> list[tuple[float, float, float | None, EpisodeEnd | None]]:
    run = run_of([(state, GREEN) for state in states], 0)
    return [(each.start_s, each.end_s, each.ended_s, each.ended_by) for each in all_of(EpisodeTracker(RULE), [run])]


def test_what_comes_back_within_two_minutes_is_one_episode() -> None:
    assert lasting([RED, *[GREEN] * 11, RED, *[GREEN] * 12]) == [(0, 120, 240, EpisodeEnd.FINE)]
    assert lasting([RED, *[GREEN] * 12, RED]) == [(0, 0, 120, EpisodeEnd.FINE), (130, 130, None, None)]


def test_what_is_not_known_is_not_fine() -> None:
    assert lasting([RED, *[UNKNOWN] * 12]) == [(0, 0, 120, EpisodeEnd.UNKNOWN)]


def test_silence_ends_an_episode_at_the_time_after_which_it_counts() -> None:
    tracker = EpisodeTracker(RULE)
    tracker.feed(run_of([(RED, GREEN)] * 5, 0))
    assert tracker.see_silence(40 + 120) == []
    [episode] = tracker.see_silence(40 + 121)
    assert (episode.ended_s, episode.ended_by) == (160, EpisodeEnd.NO_SAMPLES)
