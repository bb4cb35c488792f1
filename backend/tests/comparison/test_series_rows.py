"""Every series of a comparison can be asked for: its verdict, both values, and the reason in words."""

from dataclasses import replace

import numpy as np
import pytest

from normstat.cli.compared_hosts import has_no_verdict, print_differences
from normstat.comparison.host_comparison import HostComparison
from normstat.comparison.score import StatPair, score_samples
from normstat.comparison.series_reasons import SUBJECTS, describe_counts, round_count
from normstat.comparison.series_rows import VERDICTS, SeriesRows, SeriesVerdict, make_rows
from normstat.comparison.series_search import AskedSeries, SeriesQuestion, ask_series
from normstat.scoring.change_scale import KINDS
from normstat.scoring.host_profile import WindowScores
from normstat.scoring.summary import FloatArray
from tests.comparison.sides import Values, compare_values, make_side, stat_of

N, N_INCIDENT = 600, 60


def normal(seed: int, n: int, level: float, width: float) -> FloatArray:
    values = np.random.default_rng(seed).normal(level, width, n)
    return np.asarray(np.round(np.clip(values, 0, 100), 2), np.float64)


def disks(*, n_baseline: int = N, n_incident: int = N_INCIDENT, busy: float = 83.0) -> tuple[Values, Values]:
    """Two disks; the second one becomes busy, a third one appears."""
    baseline, incident = {}, {}
    for number, name in enumerate(("sda", "sdb")):
        baseline[name, "util_pct"] = normal(number, n_baseline, 3, 1)
        incident[name, "util_pct"] = normal(9 + number, n_incident, busy if name == "sdb" else 3, 1)
        baseline[name, "tps"] = normal(20 + number, n_baseline, 50, 5)
        incident[name, "tps"] = normal(30 + number, n_incident, 50, 5)
    incident["sdc", "util_pct"] = normal(40, n_incident, 7, 1)
    return baseline, incident


def compare(**sizes: float) -> HostComparison:
    return compare_values({"iostat_linux": disks(**sizes)})  # type: ignore[arg-type]


def ask(found: HostComparison, search: str = "", *verdicts: SeriesVerdict, **wish: object) -> list[AskedSeries]:
    return ask_series([found.rows], SeriesQuestion(search, verdicts, **wish)).series  # type: ignore[arg-type]


def by_instance(series: list[AskedSeries]) -> dict[str, AskedSeries]:
    return {one.instance: one for one in series}


def test_util_finds_every_disk_whatever_its_verdict() -> None:
    found = by_instance(ask(compare(), "util"))
    assert {name: one.verdict for name, one in found.items()} == {"sda": "unchanged", "sdb": "unusual", "sdc": "appeared"}
    busy = found["sdb"]
    assert (busy.column, busy.unit, busy.title) == ("%util", "%", "device sdb %util (iostat)")
    assert (busy.baseline.n, busy.incident.n) == (N, N_INCIDENT)
    assert busy.incident.median == pytest.approx(83, abs=1)
    assert busy.baseline.highest == pytest.approx(6, abs=2)
    assert busy.difference == pytest.approx(80, abs=1)
    assert busy.is_disjoint
    assert "no sample of the incident is within that range" in busy.reason
    assert busy.reason.endswith("x its normal variation; fewer than 1 in 1,000,000 normal windows change as much.")
    calm = found["sda"]
    assert calm.significance is not None
    assert calm.significance < 4.7
    assert calm.reason.startswith("Median 2.76 %; in the baseline 2.96 % (0.00 to 6.07 %). ")
    assert calm.reason.endswith(" A strong change is unusual from 1 in 10,000 on, others from 1 in 300,000.")
    new = found["sdc"]
    assert new.reason.startswith("Not in the baseline. In the incident: median 7.")
    assert (new.baseline.median, new.difference, new.ratio, new.significance) == (None, None, None, None)


def test_every_series_has_one_row_that_agrees_with_the_counts() -> None:
    found = compare()
    answer = ask_series([found.rows], SeriesQuestion())
    assert answer.n_series == answer.n_matched == len(answer.series) == found.n_series == len(found.rows)
    counts = answer.counts
    assert counts.unusual == found.n_findings
    assert counts.unchanged + counts.likely == found.n_unchanged
    assert counts.appeared == len(found.appeared)
    assert counts.insufficient_data == len(found.insufficient_data)
    finding = found.groups[0].members[0]
    [row] = ask(found, "", "unusual")
    assert row.change_ratio == pytest.approx(finding.change_ratio, rel=1e-4)
    assert row.significance == pytest.approx(finding.significance, rel=1e-4)
    assert row.baseline.median == finding.baseline.median
    assert (row.incident.lowest, row.incident.highest) == (finding.incident.lowest, finding.incident.highest)


def test_words_of_the_search_are_all_needed_and_found_anywhere() -> None:
    found = compare()
    assert {one.instance for one in ask(found, "UTIL sdb")} == {"sdb"}
    assert {one.field for one in ask(found, "device sda")} == {"util_pct", "tps"}
    assert len(ask(found, "web1")) == 5
    assert ask(found, "nothing-like-it") == []
    assert {(one.instance, one.field) for one in ask(found, "-util -sda")} == {("sdb", "tps")}
    assert ask(found, "-web1") == []
    answer = ask_series([found.rows], SeriesQuestion("util", ["unchanged"]))
    assert (answer.n_matched, answer.counts.unusual, answer.counts.appeared) == (1, 1, 1)
    assert {one.verdict for one in ask(found, "", "appeared", "unusual")} == {"appeared", "unusual"}


def test_a_process_is_found_by_its_id_where_its_command_is_compared() -> None:
    side = {(name, "cpu_pct"): normal(3, N, 20, 1) for name in ("python3", "java")}
    # A process that is always there is compared itself; these are there for a moment.
    processes = {(name, "cpu_pct"): normal(4, n, 20, 1) for name, n in (("21866/python3", 9), ("7/java", 9), ("1/init", N))}
    found = compare_values({"linux_command": (side, side), "linux_process": (processes, processes)})
    assert {one.instance for one in ask(found, "21866")} == {"python3"}
    assert {one.instance for one in ask(found, "-21866")} == {"java", "1/init"}
    assert ask(found, "2186") == []


def test_a_muted_series_is_muted() -> None:
    found = compare_values({"iostat_linux": disks()}, mutes=[("iostat_linux", "util_pct", None)])
    [muted] = ask(found, "", "muted")
    assert (muted.instance, muted.reason.endswith(" It is muted.")) == ("sdb", True)


def test_few_samples_give_a_plain_difference() -> None:
    one_each = by_instance(ask(compare(n_baseline=1, n_incident=1), "util", sort="difference"))
    assert [*one_each] == ["sdb", "sda", "sdc"]
    assert {one.verdict for one in one_each.values()} == {"insufficient_data", "appeared"}
    row = one_each["sdb"]
    assert row.baseline.median is not None
    assert row.incident.median is not None
    assert row.difference == pytest.approx(row.incident.median - row.baseline.median)
    assert row.ratio == pytest.approx(row.incident.median / row.baseline.median, rel=1e-4)
    assert row.reason.startswith("No verdict: 1 sample each. Value ")
    assert row.reason.endswith(" times the baseline.")
    several = by_instance(ask(compare(n_baseline=9, n_incident=2), "util"))["sda"]
    assert several.reason.startswith(
        "No verdict: 9 samples in the baseline (at least 10 are needed) and 2 samples in the incident (at least 3 are needed)."
    )


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_one_to_nine_samples_give_a_plain_difference_of_every_series(n: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(n_baseline=n, n_incident=n)
    assert has_no_verdict([found.rows])
    unjudged = ask(found, "", "insufficient_data")
    assert len(unjudged) == 4
    count = "1 sample" if n == 1 else f"{n} samples"
    for one in unjudged:
        assert one.reason.startswith(f"No verdict: {count} each. ")
        assert one.baseline.median is not None
        assert one.incident.median is not None
        assert one.difference == pytest.approx(one.incident.median - one.baseline.median)
    print_differences([found.rows])
    lines = capsys.readouterr().out.splitlines()
    assert [word for word in ("sda", "sdb", "sdc") if not any(word in line for line in lines)] == []
    assert not has_no_verdict([compare(n_baseline=10, n_incident=3).rows])


def test_a_series_out_of_range_has_a_verdict() -> None:
    """Three samples just above ten: few and near, so not unusual, but judged. Another series has nine samples."""
    ten = np.array([50.0, 40.0, 60.0, 45.0, 55.0, 42.0, 58.0, 47.0, 53.0, 50.0])
    values = {("sda", "tps"): ten}, {("sda", "tps"): np.array([61.0, 63.0, 62.0])}
    few = {("sdb", "tps"): ten[:9]}, {("sdb", "tps"): ten[:3]}
    found = compare_values({"iostat_linux": (values[0] | few[0], values[1] | few[1])})
    assert sorted(one.verdict for one in ask(found)) == ["insufficient_data", "likely"]
    assert not has_no_verdict([found.rows])


def test_pages_and_orders() -> None:
    found = compare()
    whole = ask(found, sort="series", is_descending=False)
    assert [one.instance for one in whole] == ["sda", "sda", "sdb", "sdb", "sdc"]
    assert ask(found, sort="series", is_descending=False, offset=1, limit=2) == whole[1:3]
    significance = [one.significance for one in ask(found)]
    # The one without a score comes last, in both directions.
    assert significance[-1] is None
    assert significance[:-1] == sorted(significance[:-1], key=lambda value: -(value or 0))
    assert ask(found, is_descending=False)[-1].significance is None
    medians = [one.incident.median or 0 for one in ask(found, sort="incident")]
    assert medians == sorted(medians, reverse=True)


def test_a_load_that_explains_a_change_is_said() -> None:
    """What would be unusual but for the load is not among the unchanged, and its reason says so."""
    stat = stat_of("iostat_linux")
    fields = {field.key: field for field in stat.fields}
    baseline, incident = disks()
    pair = StatPair(fields, make_side(stat, baseline, 0), make_side(stat, incident, N))
    scored = score_samples([pair])
    assert scored is not None
    by_load = replace(
        scored.scores,
        significance=np.minimum(scored.scores.significance, 2.0),
        explained_by_load=np.full(len(scored.series), 0.92, np.float32),
    )

    def rows_of(scores: WindowScores) -> SeriesRows:
        own, pairs = replace(scored, scores=scores), {"iostat_linux": pair}
        return make_rows("web1", own, pairs, None, is_left_out=lambda _: False, is_muted=lambda _: False)

    rows = rows_of(by_load)
    [explained] = ask_series([rows], SeriesQuestion(verdicts=["likely"])).series
    assert (explained.instance, explained.field) == ("sdb", "util_pct")
    assert explained.explained_by_load == pytest.approx(0.92)
    assert explained.reason.endswith("x its normal variation, but the load of the host explains 92 % of the shift.")
    assert ask_series([rows], SeriesQuestion(verdicts=["unchanged"])).n_matched == 3
    # A range that the baseline never touched is not unchanged where the load does not explain it either.
    rows = rows_of(replace(by_load, explained_by_load=np.zeros(len(scored.series), np.float32)))
    [outside] = ask_series([rows], SeriesQuestion(verdicts=["likely"])).series
    assert (outside.instance, outside.field, outside.is_disjoint) == ("sdb", "util_pct", True)
    assert "no sample of the incident is within that range" in outside.reason


def test_no_series_gives_no_rows() -> None:
    found = compare_values({})
    answer = ask_series([found.rows], SeriesQuestion("util"))
    assert (answer.n_series, answer.n_matched, answer.series) == (0, 0, [])
    assert ask_series([], SeriesQuestion()).n_series == 0


def test_a_hundred_thousand_rows_stay_small() -> None:
    n = 100_000
    found = compare().rows
    many = SeriesRows(
        "web1", found.fields, [f"{number}/sh" for number in range(n)], np.zeros(n, np.int32), np.arange(n, dtype=np.int32),
        np.full(n, VERDICTS.index("unchanged"), np.int8), np.full((2, n), 60, np.int32), np.ones((2, 3, n)), np.zeros(n, np.int8),
        np.ones(n, np.float32), np.arange(n, dtype=np.float32), np.zeros(n, np.float32), np.zeros(n, np.float32),
    )  # fmt: skip
    assert many.n_bytes < 25_000_000
    answer = ask_series([many], SeriesQuestion("99999/sh", limit=10))
    assert [one.instance for one in answer.series] == ["99999/sh"]


@pytest.mark.parametrize(("number", "text"), [(1, "1"), (200.4, "200"), (10**4.7, "50,000"), (3162, "3,000")])
def test_chances_are_round(number: float, text: str) -> None:
    assert f"{round_count(number):,}" == text


def test_why_there_is_no_verdict() -> None:
    assert describe_counts(1, 1) == "1 sample each"
    assert describe_counts(600, 2) == "2 samples in the incident (at least 3 are needed)"
    assert describe_counts(600, 0) == "none in the incident (at least 3 are needed)"


def test_halves_are_rounded_as_the_page_rounds_them() -> None:
    baseline = {("sda", "util_pct"): np.full(5, 1.0)}
    incident = {("sda", "util_pct"): np.array([97.08, 97.09])}
    [row] = ask(compare_values({"iostat_linux": (baseline, incident)}))
    assert row.incident.median == 97.085
    assert "Median 97.09 %, in the baseline 1.00 %: +96.09 %, 97.1 times the baseline." in row.reason
    huge = compare_values({"iostat_linux": (baseline, {("sda", "util_pct"): np.full(2, 1e25)})})
    assert "Median 10,000,000,000,000,000" in ask(huge)[0].reason


def test_every_kind_of_change_has_a_subject() -> None:
    assert set(SUBJECTS) == set(KINDS)
