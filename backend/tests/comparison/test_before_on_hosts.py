"""The time right before an incident, for hosts: against samples and against a profile, and where it has no samples."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.comparison.score import ScoredSeries, StatPair, score_samples, score_with_profile
from normstat.profiles.stored_profile import LoadedProfile, SeriesKey
from normstat.scoring.summary import FloatArray
from normstat.window import Window
from tests.comparison.sides import START, make_side, stat_of

N_BASELINE, N_BEFORE, N_INCIDENT, N_CPUS = 600, 320, 40, 24
STALE, NEW, LATE = "0", "5", "9"


def make_pair(*, with_before: bool, gone_before: str = "") -> StatPair:
    """All of a host's CPUs; one is elsewhere since before the incident, one from its beginning, one has no samples before."""
    rng = np.random.default_rng(2)
    stat = stat_of("mpstat_linux")
    field = next(field for field in stat.fields if field.key == "usr_pct")

    def values(n: int, factors: dict[str, float], left_out: str = "") -> dict[tuple[str, str], FloatArray]:
        names = [str(number) for number in range(N_CPUS) if str(number) != left_out]
        return {(name, field.key): np.round(factors.get(name, 1.0) * rng.normal(20, 2, n), 2) for name in names}

    baseline, before, incident = (
        make_side(stat, values(N_BASELINE, {}), START.timestamp()),
        make_side(stat, values(N_BEFORE, {STALE: 3.0}, gone_before), START.timestamp() + 5000),
        make_side(stat, values(N_INCIDENT, {STALE: 3.0, NEW: 2.0, LATE: 2.0}), START.timestamp() + 5000 + N_BEFORE),
    )
    return StatPair({field.key: field}, baseline, incident, before if with_before else None)


def score(pair: StatPair, *, by_profile: bool) -> dict[str, float]:
    scored = score_samples([pair])
    assert scored is not None
    if by_profile:
        scored = score_by_profile(scored, pair)
    return {series.instance: float(found) for series, found in zip(scored.series, scored.scores.significance, strict=True)}


def score_by_profile(scored: ScoredSeries, pair: StatPair) -> ScoredSeries:
    [model] = scored.profile.window_models
    length_s = replace(model, natural_change=replace(model.natural_change, length_s=float(N_INCIDENT)))
    keys = [SeriesKey(series.stat, series.instance, series.field.key) for series in scored.series]
    loaded = LoadedProfile(
        keys, replace(scored.profile, window_models=[length_s]), 1, 1.0, {}, (), False, "", 0, datetime.now(UTC),
    )  # fmt: skip
    start = datetime.fromtimestamp(float(pair.incident.times_s[0]), UTC)
    found = score_with_profile(
        loaded, Window(start, start + timedelta(seconds=N_INCIDENT)), {"mpstat_linux": replace(pair, baseline=None)}
    )
    assert found is not None
    return found


@pytest.mark.parametrize("by_profile", [False, True])
def test_what_was_so_before_comes_behind_what_began_now(*, by_profile: bool) -> None:
    without = score(make_pair(with_before=False), by_profile=by_profile)
    assert max(without, key=without.__getitem__) == STALE
    found = score(make_pair(with_before=True), by_profile=by_profile)
    assert found[STALE] < found[NEW]
    assert found[STALE] < without[STALE] / 2
    assert found[NEW] > 5


@pytest.mark.parametrize("by_profile", [False, True])
def test_an_instance_without_samples_before_is_judged_by_the_baseline_alone(*, by_profile: bool) -> None:
    without = score(make_pair(with_before=False, gone_before=LATE), by_profile=by_profile)
    found = score(make_pair(with_before=True, gone_before=LATE), by_profile=by_profile)
    assert found[LATE] == pytest.approx(without[LATE], rel=1e-3)
