"""What is surprising: first moves of constant series, what was so already before, ranges apart, either direction."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from normstat.cli import app
from normstat.comparison.read_side import before_window
from normstat.comparison.score import StatPair, score_samples
from normstat.comparison.series_comparison import Verdict, compare_arrays, verdicts_of
from normstat.comparison.series_search import SeriesQuestion, ask_series
from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring.change_scale import TREND, VALUE
from normstat.scoring.host_profile import WindowScores
from normstat.scoring.significance import LOAD, UNUSUAL, appearance_significance, combine, strength_of
from normstat.scoring.summary import FloatArray
from normstat.window import Window
from tests.comparison.sides import compare_values, field_of, make_side, stat_of

N_NOISY = 40


def make_noise(n: int, *, seed: int = 1, n_series: int = N_NOISY) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.round(rng.lognormal(3, 0.2, (n_series, n)), 2)


def add(series: list[float], others: FloatArray) -> FloatArray:
    return np.concatenate([np.array([series], dtype=float), others])


def compare(baseline: FloatArray, incident: FloatArray) -> tuple[FloatArray, list[Verdict]]:
    return compare_arrays(
        60 * np.arange(baseline.shape[1], dtype=float), baseline, 1e6 + 60 * np.arange(incident.shape[1], dtype=float), incident
    )


@pytest.mark.parametrize("n_baseline", [16, 26, 40])
@pytest.mark.parametrize("moved", [[97.1, 95.7, 100.0], [75.0, 73.2, 87.1], [92.2, 100.0, 100.0]])
def test_a_constant_of_a_short_baseline_that_moves_comes_first(n_baseline: int, moved: list[float]) -> None:
    noise = make_noise(n_baseline + 3)
    # Others that were constant, and still are: constants seldom move here.
    noise[:20] = 100
    scores, verdicts = compare(add([100.0] * n_baseline, noise[:, :n_baseline]), add(moved, noise[:, n_baseline:]))
    assert int(scores.argmax()) == 0
    # The smallest of these moves is first, but against 16 samples it is no more than likely.
    is_small_against_few = n_baseline == 16 and moved[0] == 97.1
    assert verdicts[0] == ("likely" if is_small_against_few else "unusual")


@pytest.mark.parametrize("n_baseline", [16, 26, 40])
def test_three_samples_against_few_are_judged_the_same_on_a_host_and_in_files(n_baseline: int) -> None:
    noise = make_noise(n_baseline + 3, n_series=60)
    # Twenty that never moved; one of them does now.
    noise[:20] = 0
    noise[0, n_baseline:] = 25.01, 26.83, 12.97
    noise[30, n_baseline:] *= 3
    baseline, incident = noise[:, :n_baseline], noise[:, n_baseline:]
    disks, fields = [f"sd{number}" for number in range(20)], ("r_per_s", "w_per_s", "rkb_per_s")
    keys = [(disk, field) for field in fields for disk in disks]
    stat = stat_of("iostat_linux")
    sides = [make_side(stat, dict(zip(keys, side, strict=True)), start) for side, start in ((baseline, 0.0), (incident, 1e6))]
    on_host = score_samples([StatPair({key: field_of("iostat_linux", key) for key in fields}, sides[0], sides[1])])
    assert on_host is not None
    assert [(one.instance, one.field.key) for one in on_host.series] == keys
    names = [f"{field}/{disk}" for disk, field in keys]
    in_files, verdicts = compare_arrays(sides[0].times_s, baseline, sides[1].times_s, incident, names)
    np.testing.assert_allclose(on_host.scores.strength, in_files, rtol=1e-5, atol=1e-6)
    assert sorted(np.argsort(-in_files)[:2].tolist()) == [0, 30]
    assert [verdicts[row] for row in (0, 1, 30, 31)] == ["unusual", "normal", "unusual", "normal"]
    values = (dict(zip(keys, baseline, strict=True)), dict(zip(keys, incident, strict=True)))
    answer = ask_series([compare_values({"iostat_linux": values}).rows], SeriesQuestion(verdicts=["unusual"]))
    assert {one.instance for one in answer.series[:2]} == {"sd0", "sd10"}


def test_one_event_more_than_none_is_not_unusual() -> None:
    noise = make_noise(660)
    errors = [0.0] * 30 + [1.0] + [0.0] * 29
    scores, verdicts = compare(add([0.0] * 600, noise[:, :600]), add(errors, noise[:, 600:]))
    assert verdicts[0] == "normal"
    many = [0.0, 40.0] * 30
    more, verdicts = compare(add([0.0] * 600, noise[:, :600]), add(many, noise[:, 600:]))
    assert (int(more.argmax()), verdicts[0]) == (0, "unusual")
    assert more[0] > scores[0]


def test_where_first_moves_are_common_one_more_is_less_surprising() -> None:
    """Constants that move once in the baseline tell how often constants move, and how far."""
    rng = np.random.default_rng(3)
    noise, quiet = make_noise(260), np.zeros((60, 240))
    restless = quiet.copy()
    restless[np.arange(40), rng.integers(0, 240, 40)] = np.round(rng.lognormal(3, 1, 40))
    incident = np.concatenate([[np.r_[np.zeros(10), 30.0, np.zeros(9)]], np.zeros((60, 20)), noise[:, 240:]])
    scores = [compare(np.concatenate([[np.zeros(240)], of, noise[:, :240]]), incident)[0][0] for of in (quiet, restless)]
    assert scores[1] < scores[0] - 0.5


def with_before(baseline: FloatArray, before: FloatArray | None, incident: FloatArray) -> WindowScores:
    def times(start: float, values: FloatArray) -> FloatArray:
        return start + 60 * np.arange(values.shape[1], dtype=float)

    block = Block(
        times(0, baseline),
        baseline,
        times(2e6, incident),
        incident,
        times_before=None if before is None else times(1e6, before),
        before=before,
    )
    return compare_blocks([block], np.zeros(len(baseline), np.int64))[1]


@pytest.mark.parametrize("n_before", [1, 3, 10, 80])
def test_a_change_that_was_there_before_comes_behind_one_that_began_now(n_before: int) -> None:
    noise = make_noise(200 + n_before + 10)
    baseline, before, incident = noise[:, :200].copy(), noise[:, 200:-10].copy(), noise[:, -10:].copy()
    for part in (before, incident):
        part[:8] *= 6
    incident[20] *= 3
    without = with_before(baseline, None, incident)
    assert int(without.significance.argmax()) < 8
    scores = with_before(baseline, before, incident)
    if n_before > 1:
        assert int(scores.significance.argmax()) == 20
    assert verdicts_of(scores)[20] == "unusual"
    assert (scores.significance[:8] < without.significance[:8]).all()


def test_a_change_back_from_before_is_no_change_and_the_other_way_is() -> None:
    noise = make_noise(290)
    baseline, before, incident = noise[:, :200].copy(), noise[:, 200:280].copy(), noise[:, 280:].copy()
    before[0] *= 5
    before[1] *= 5
    incident[1] *= 0.2
    scores = with_before(baseline, before, incident)
    assert verdicts_of(scores)[0] == "normal"
    assert verdicts_of(scores)[1] == "unusual"


@pytest.mark.parametrize("factor", [8.0, 60.0])
def test_what_moves_at_its_new_level_as_it_did_right_before_is_not_unusual(factor: float) -> None:
    """Eight times the level moves eight times as far: that is natural there, whatever the baseline's normal variation."""
    noise = make_noise(290)
    noise[20:30] = np.round(1000 + noise[20:30])
    baseline, before, incident = noise[:, :200].copy(), noise[:, 200:280].copy(), noise[:, 280:].copy()
    for part in (before, incident):
        part[:10] *= factor
        part[20:25] = 1000 + factor * (part[20:25] - 1000)
    incident[[10, 11]] *= 3
    scores = with_before(baseline, before, incident)
    assert np.flatnonzero(scores.significance >= UNUSUAL).tolist() == [10, 11]


def test_before_equal_to_the_baseline_changes_no_verdict() -> None:
    noise = make_noise(300)
    baseline, before, incident = noise[:, :200], noise[:, 200:260], noise[:, 260:].copy()
    incident[5] *= 4
    assert verdicts_of(with_before(baseline, before, incident)) == verdicts_of(with_before(baseline, None, incident))


def test_a_range_outside_the_baselines_is_never_normal() -> None:
    noise = make_noise(66, n_series=400)
    scores = with_before(noise[:, :60], None, noise[:, 60:61])
    outside = (noise[:, 60] > noise[:, :60].max(axis=1)) | (noise[:, 60] < noise[:, :60].min(axis=1))
    assert outside.any()
    np.testing.assert_array_equal(scores.is_disjoint, outside)
    verdicts = np.array(verdicts_of(scores))
    assert not (verdicts[outside] == "normal").any()
    assert set(verdicts[~outside]) == {"normal"}


def test_what_three_times_the_load_explains_is_said() -> None:
    rng = np.random.default_rng(0)
    load = np.exp(np.cumsum(rng.normal(0, 0.05, 400)))
    load = np.r_[load[:360] / load[:360].max(), np.full(40, 3.0)]
    weights = rng.uniform(50, 500, (60, 1))
    values = np.round(weights * load * rng.lognormal(0, 0.02, (60, 400)), 2)
    verdicts = verdicts_of(with_before(values[:, :360], None, values[:, 360:]))
    assert verdicts.count("likely") + verdicts.count("unusual") == 60


@pytest.mark.parametrize("forward", [True, False])
def test_a_storm_is_found_in_either_direction(forward: bool) -> None:
    rng = np.random.default_rng(5)
    noise = make_noise(600)
    calm = np.round(rng.lognormal(1, 0.3, 300))
    storm = np.where(rng.random(300) < 0.3, np.round(rng.lognormal(6, 0.5, 300)), np.round(rng.lognormal(1, 0.3, 300)))
    one, other = (calm, storm) if forward else (storm, calm)
    scores, verdicts = compare(add(one.tolist(), noise[:, :300]), add(other.tolist(), noise[:, 300:]))
    # That a storm is over is less certain: its windows moved by themselves.
    assert (int(scores.argmax()), verdicts[0]) == (0, "unusual" if forward else "likely")


def test_the_command_reads_the_time_before(tmp_path: Path) -> None:
    noise = make_noise(130, n_series=12)
    noise[0, 100:] *= 6
    noise[1, 120:] *= 3
    paths = []
    for name, part in (("a", slice(0, 100)), ("b", slice(100, 120)), ("c", slice(120, 130))):
        lines = [f"{60 * at},m{row},{noise[row, at]}" for row in range(12) for at in range(part.start, part.stop)]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(["time,metric,value", *lines]) + "\n")
    nothing = tmp_path / "none.csv"
    nothing.write_text("time,metric,value\n")
    firsts = []
    for before in (nothing, paths[1]):
        files = ["--baseline-csv", str(paths[0]), "--incident-csv", str(paths[2]), "--before-csv", str(before)]
        found = CliRunner().invoke(app, ["compare", *files])
        assert found.exit_code == 0, found.output
        firsts.append(found.stdout.split("\t")[0])
    assert firsts == ["m0", "m1"]


def test_what_comes_and_goes_all_the_time_is_hardly_surprising() -> None:
    restless, quiet, unknown = 0, 1, -1
    n_with_new = np.array([18.0, 0.0, *([0.0] * 30)])
    found = appearance_significance(n_with_new, 20.0, np.array([restless, quiet, unknown]))
    assert found[0] < 0.5
    assert found[1] > found[2] > 1
    longer = appearance_significance(n_with_new, 200.0, np.array([restless, quiet, unknown]))
    assert (longer > found).all()


START = datetime(2026, 11, 1, 12, tzinfo=UTC)


def window(start_min: float, end_min: float) -> Window:
    return Window(START + timedelta(minutes=start_min), START + timedelta(minutes=end_min))


@pytest.mark.parametrize(
    ("incident", "baseline", "expected"),
    [
        (window(0, 2), [window(-600, -300)], window(-16, 0)),
        (window(0, 60), [window(-600, -300)], window(-60, 0)),
        (window(0, 2), [window(-600, -10)], window(-10, 0)),
        (window(0, 2), [window(-600, -300), window(-12, -5)], window(-5, 0)),
        # The baseline itself lies right before the incident, or goes on during it.
        (window(0, 2), [window(-600, 0)], None),
        (window(0, 2), [window(-600, -1)], None),
        (window(0, 2), [window(-600, 60)], None),
        # A baseline of a later time says nothing of the time before.
        (window(0, 2), [window(100, 200)], window(-16, 0)),
    ],
)
def test_the_time_right_before_is_not_of_the_baseline(incident: Window, baseline: list[Window], expected: Window | None) -> None:
    assert before_window(incident, tuple(baseline)) == expected


def test_a_trend_makes_a_series_unusual_but_values_that_moved_less_lead() -> None:
    kinds = np.zeros((LOAD + 1, 3))
    kinds[TREND, 0] = 12.0
    kinds[VALUE, 1] = 9.0
    kinds[TREND, 2] = 4.0
    ratios = np.zeros((LOAD + 1, 3), np.float32)
    ratios[TREND] = 300.0
    ratios[VALUE] = 2.0, 9.0, 2.0
    found = combine(kinds, np.zeros(3, np.float32), np.zeros(3, np.bool_))
    assert found[0] > found[1] > UNUSUAL > found[2]
    strength = strength_of(ratios, found)
    assert strength.argmax() == 1
    # There is no ceiling, and a rarer change of the same size is stronger.
    assert strength_of(10 * ratios, found) == pytest.approx(10 * strength)
    assert strength_of(ratios, 2 * found) == pytest.approx(4 * strength)
