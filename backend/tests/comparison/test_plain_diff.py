"""Two outputs without enough samples are put side by side."""

import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from normstat.cli import app
from normstat.comparison.plain_diff import PlainDifference


def write(path: Path, rows: list[tuple[int, str, float]]) -> str:
    path.write_text("time,metric,value\n" + "".join(f"{time},{name},{value}\n" for time, name, value in rows))
    return str(path)


def test_two_single_outputs_are_a_plain_difference(tmp_path: Path) -> None:
    one = write(tmp_path / "a.csv", [(1, "reads", 4), (1, "same", 7), (1, "gone", 1), (1, "errors", 0), (1, "load", 100)])
    other = write(tmp_path / "b.csv", [(9, "reads", 10), (9, "same", 7), (9, "new", 3), (9, "errors", 2), (9, "load", 110)])
    result = CliRunner().invoke(app, ["compare", "--baseline-csv", one, "--incident-csv", other])
    assert result.exit_code == 0
    assert [line.split("\t") for line in result.stdout.splitlines()] == [
        ["errors", "0.000", "insufficient-data", "0 -> 2 (+2); no verdict: 1 sample each"],
        ["reads", "0.000", "insufficient-data", "4 -> 10 (+6, 2.5 times); no verdict: 1 sample each"],
        ["load", "0.000", "insufficient-data", "100 -> 110 (+10, 1.1 times); no verdict: 1 sample each"],
        ["same", "0.000", "insufficient-data", "7 -> 7 (+0, 1.0 times); no verdict: 1 sample each"],
        ["gone", "0.000", "insufficient-data", "1 -> none; no verdict: 1 sample in the baseline, no sample in the incident"],
        ["new", "0.000", "insufficient-data", "none -> 3; no verdict: no sample in the baseline, 1 sample in the incident"],
    ]


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        (10.0, 4.0, "10 -> 4 (-6, 0.4 times)"),
        (-2.0, 2.0, "-2 -> 2 (+4)"),
        (1234567.0, 1234567.0, "1234567 -> 1234567 (+0, 1.0 times)"),
        (math.nan, 2.0, "none -> 2"),
    ],
)
def test_values(one: float, other: float, text: str) -> None:
    assert PlainDifference("m", 2, 2, one, other).describe() == f"{text}; no verdict: 2 samples each"
