"""The figures of `make bench-compare` on rankings made by hand, and each peer's method on a case that it must solve."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench import compare_measure
from bench.compare_measure import Outcome, measure, place_of_truth


@pytest.mark.parametrize(
    ("scores", "truths", "place"),
    [
        ([3.0, 2.0, 1.0], {"a"}, 1),
        ([3.0, 2.0, 1.0], {"c"}, 3),
        ([3.0, 2.0, 1.0], {"b", "c"}, 2),
        # Of equals the middle one.
        ([2.0, 2.0, 2.0], {"a"}, 2),
        ([2.0, 2.0, 1.0], {"b"}, 2),
        ([3.0, 2.0, -np.inf], {"c"}, None),
        ([3.0, 2.0, 1.0], set(), None),
    ],
)
def test_place_of_truth(scores: list[float], truths: set[str], place: int | None) -> None:
    assert place_of_truth(np.array(scores), ["a", "b", "c"], frozenset(truths)) == place


def outcome(place: int | None, kind: str = "stalls", n_false: int = 0) -> Outcome:
    return Outcome("x", kind, "hard", "m", place, is_called=place == 1, n_false=n_false, n_calm=100, cpu_s=0.5)


def test_measures_of_places() -> None:
    found = measure([outcome(1), outcome(2), outcome(5), outcome(None, n_false=4)])
    assert found["hit@1"].value == 0.25
    assert found["hit@3"].value == 0.5
    assert found["Avg@5"].value == pytest.approx((1 + 0.8 + 0.2 + 0) / 4)
    assert found["MRR"].value == pytest.approx((1 + 1 / 2 + 1 / 5) / 4)
    assert found["NDCG"].value == pytest.approx((1 + 1 / np.log2(3) + 1 / np.log2(6)) / 4)
    assert found["called"].value == 0.25
    assert found["false alarms"].value == 0.01
    assert found["hit@3"].low < 0.5 < found["hit@3"].high


def test_where_nothing_happened_only_false_alarms_count() -> None:
    assert set(measure([outcome(None, "none/idle", 1)])) == {"false alarms", "CPU s"}


def test_the_command_prints_tables_and_keeps_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--seeds", "0:1", "--kinds", "frozen,none/sparse", "--methods", "n_sigma,pmdiff", "--jobs", "1"]
    assert compare_measure.main([*options, "--results", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "| hit@3 | n_sigma | pmdiff |" in printed
    assert "| none/sparse |" in printed
    (path,) = tmp_path.glob("*-compare.json")
    kept = json.loads(path.read_text())
    assert {found["method"] for found in kept["outcomes"]} == {"n_sigma", "pmdiff"}
    assert 0 <= kept["figures"]["frozen"]["n_sigma"]["hit@3"]["value"] <= 1
