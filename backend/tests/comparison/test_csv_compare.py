"""Two files of long CSV, as odd as they come: every metric once, and never a crash."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from normstat.cli import app
from normstat.comparison.csv_comparison import MetricScore, compare_tables
from normstat.comparison.long_csv import LongTable, read_long_csv
from normstat.errors import BadRequest

T0 = 1_790_000_000
Row = tuple[object, object, object]


def write(path: Path, rows: Sequence[Row], *, header: str = "time,metric,value", end: str = "\n", start: str = "") -> Path:
    path.write_bytes((start + end.join([header, *(",".join(map(str, row)) for row in rows)]) + end).encode())
    return path


def read(tmp_path: Path, text: str | bytes) -> LongTable:
    path = tmp_path / "some.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_long_csv(path)


def samples(seed: int, names: Sequence[str], n: int, *, start: float = T0, step: float = 1, shift: float = 0) -> list[Row]:
    rng = np.random.default_rng(seed)
    return [(start + step * i, name, round(rng.normal(50, 5) + shift, 2)) for i in range(n) for name in names]


def verdicts(scores: Sequence[MetricScore]) -> dict[str, str]:
    found: dict[str, str] = {item.metric: item.verdict for item in scores}
    assert len(found) == len(scores), "a metric stands twice"
    return found


def compared(tmp_path: Path, baseline: Sequence[Row], incident: Sequence[Row]) -> dict[str, str]:
    return verdicts(
        compare_tables(read_long_csv(write(tmp_path / "a.csv", baseline)), read_long_csv(write(tmp_path / "b.csv", incident)))
    )


# --- reading ---


@pytest.mark.parametrize(
    "text",
    [
        "time,metric,value\n{t},a,1.5\n",
        "\ufefftime,metric,value\r\n{t},a,1.5\r\n",
        '"time","metric","value"\n"{t}","a","1.5"\n',
        "value,time,host,metric\n1.5,{t},web1,a\n",
        "Time, Metric, Value\n{t},a, 1.5 \n",
        "time,metric,value\n{t},a,15e-1",
    ],
)
def test_forms_of_the_same_file(tmp_path: Path, text: str) -> None:
    table = read(tmp_path, text.format(t=T0))
    assert (table.names, table.times.tolist(), table.values.tolist(), table.n_rejected) == (["a"], [T0], [1.5], 0)


@pytest.mark.parametrize(
    "time",
    [
        str(T0),
        f"{T0}.0",
        f"{T0}000",
        f"{T0}000000",
        f"{T0}000000000",
        "2026-09-21T14:13:20Z",
        "2026-09-21 14:13:20",
        "2026-09-21T14:13:20",
        "2026-09-21T16:13:20+02:00",
        "2026-09-21T09:13:20.000-05:00",
    ],
)
def test_forms_of_the_same_instant(tmp_path: Path, time: str) -> None:
    assert read(tmp_path, f"time,metric,value\n{time},a,1\n").times.tolist() == [T0]


def test_what_cannot_be_read_is_counted_and_shown(tmp_path: Path) -> None:
    lines = ["yesterday,a,1", f"{T0},,1", f"{T0},a,much", f"{T0},a", f"{T0},a,1,2", f"{T0},a,inf", "inf,a,1", f"{T0},a,5"]
    table = read(tmp_path, "time,metric,value\n" + "\n".join(lines) + "\n")
    assert (table.values.tolist(), table.n_rejected) == ([5.0], 7)
    assert len(table.first_rejected) == 5
    assert all("some.csv" in line for line in table.first_rejected)


def test_missing_values_are_missing_and_the_last_of_two_counts(tmp_path: Path) -> None:
    rows = [f"{T0 + number},a,{text}" for number, text in enumerate(("", "NaN", "null", "-", "None", "n/a", "3"))]
    table = read(tmp_path, "\n".join(["time,metric,value", *rows, f"{T0 + 6},a,4"]))
    assert (table.n_rejected, table.n_repeated) == (0, 1)
    np.testing.assert_array_equal(table.values, [np.nan] * 6 + [4.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "needs one column each|cannot be read"),
        (b"time,metric,value\n", "holds no sample"),
        (b"when,what,much\n1,a,2\n", "needs one column each of time,metric,value"),
        (b"time,time,metric,value\n1,1,a,2\n", "time missing or twice"),
        (b"\x00\xff\xfe\x01" * 50, "needs one column each|cannot be read"),
        (b"PK\x03\x04" + bytes(range(256)) * 20, "needs one column each|cannot be read"),
        (b"time,metric,value\nx,y,z\n", "holds no sample: 1 line could not be read"),
    ],
)
def test_what_is_no_such_file_is_said(tmp_path: Path, text: bytes, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        read(tmp_path, text)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "no.csv", tmp_path):
        with pytest.raises(BadRequest, match=r"no file|cannot be read"):
            read_long_csv(path)


# --- comparing ---


def test_what_changed_comes_first_and_insufficient_data_last(tmp_path: Path) -> None:
    names = [f"cpu{number}" for number in range(12)]
    baseline = [*samples(1, names, 600), (T0, "once", 1), (T0 + 1, "only_baseline", 1)]
    incident = [
        row if row[1] != "cpu7" else (row[0], row[1], float(str(row[2])) + 80) for row in samples(2, names, 120, start=T0 + 600)
    ]
    incident += [(T0 + 600 + number, "only_incident", number) for number in range(120)]
    scores = compare_tables(read_long_csv(write(tmp_path / "a.csv", baseline)), read_long_csv(write(tmp_path / "b.csv", incident)))
    found = verdicts(scores)
    assert scores[0].metric == "cpu7"
    assert [name for name, verdict in found.items() if verdict == "unusual"] == ["cpu7"]
    assert {name for name, verdict in found.items() if verdict == "insufficient-data"} == {"once", "only_baseline"}
    assert found["only_incident"] == "appeared"
    assert sorted(item.verdict for item in scores[:-2]) == ["appeared"] + ["normal"] * 11 + ["unusual"]
    assert [item.verdict for item in scores[-2:]] == ["insufficient-data"] * 2
    scored = [item.strength for item in scores if item.verdict != "insufficient-data"]
    assert scored == sorted(scored, reverse=True)


def test_metrics_of_different_intervals(tmp_path: Path) -> None:
    def both(seed: int, start: int, n_s: int, shift: float) -> list[Row]:
        return [
            *samples(seed, ["fast"], n_s, start=start),
            *samples(seed + 1, ["slow"], n_s // 10, start=start + 3, step=10, shift=shift),
            *samples(seed + 2, ["minute"], n_s // 60, start=start, step=60),
        ]

    found = compared(tmp_path, both(1, T0, 3600, 0), both(11, T0 + 3600, 600, 60))
    assert found == {"fast": "normal", "slow": "unusual", "minute": "normal"}


def test_instants_that_waver_and_those_without_any_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)

    def wavering(seed: int, name: str, start: int, n: int, *, width: float, shift: float = 0) -> list[Row]:
        return [
            (f"{float(str(t)) + rng.uniform(0, width):.3f}", m, v) for t, m, v in samples(seed, [name], n, start=start, shift=shift)
        ]

    for width in (0.3, 40.0):
        baseline = [row for number in range(4) for row in wavering(number, f"m{number}", T0, 600, width=width)]
        incident = [
            row
            for number in range(4)
            for row in wavering(10 + number, f"m{number}", T0 + 700, 120, width=width, shift=90 * (number == 2))
        ]
        rng.shuffle(baseline)
        found = compared(tmp_path, baseline, incident)
        assert found["m2"] == "unusual"
        assert "insufficient-data" not in found.values()


def test_the_same_file_twice_is_normal(tmp_path: Path) -> None:
    rows = samples(1, ["a", "b", "c"], 300)
    assert set(compared(tmp_path, rows, rows).values()) == {"normal"}


values_in_files = st.one_of(
    st.sampled_from(["", "NaN", "0", "-0", "1e308", "-1e308", "1e-320", "inf", "99.99", "abc", "100"]),
    st.floats(-1e6, 1e6).map(str),
    st.integers(0, 5).map(str),
)
names_in_files = st.sampled_from(["a", "b", "cpu 0", "cpu 1", "µ/é", "x;y", "'", "NULL", "#1", " a "])
instants_in_files = st.one_of(st.integers(T0, T0 + 40).map(str), st.sampled_from(["0", "-5", "1e20", "2026-02-30", f"{T0}.5"]))
files = st.lists(st.tuples(instants_in_files, names_in_files, values_in_files), min_size=1, max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files, files)
def test_whatever_is_in_the_files_every_metric_stands_once(tmp_path: Path, baseline: list[Row], incident: list[Row]) -> None:
    tables = []
    for name, rows in (("a.csv", baseline), ("b.csv", incident)):
        try:
            tables.append(read_long_csv(write(tmp_path / name, rows)))
        except BadRequest:
            return
    scores = compare_tables(*tables)
    assert set(verdicts(scores)) == {name for table in tables for name in table.names}
    assert all(np.isfinite(item.strength) and item.strength >= 0 for item in scores)
    assert all(item.strength == 0 for item in scores if item.verdict == "insufficient-data")


# --- the command ---


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["compare", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_a_line_for_each_metric(tmp_path: Path) -> None:
    names = ['"a, with ""quotes"" and a\ttab"', "größe", "plain", "hot"]
    baseline, incident = samples(1, names, 300), samples(2, names, 60, start=T0 + 300)
    incident = [(time, name, 500 if name == "hot" else value) for time, name, value in incident] + [(T0 + 300, "new", 1)]
    write(tmp_path / "a.csv", baseline, end="\r\n", start="\ufeff")
    write(tmp_path / "b.csv", [*incident, ("never", "hot", 1)])
    code, out, err = run("--baseline-csv", str(tmp_path / "a.csv"), "--incident-csv", str(tmp_path / "b.csv"))
    assert code == 0
    lines = [line.split("\t") for line in out.splitlines()]
    assert {len(line) for line in lines} == {3}
    assert sorted(line[0] for line in lines) == sorted(['a, with "quotes" and a tab', "größe", "plain", "hot", "new"])
    assert (lines[0][0], lines[0][2]) == ("hot", "unusual")
    assert float(lines[0][1]) > float(lines[1][1])
    assert {line[0]: line[2] for line in lines[1:]}.pop("new") == "appeared"
    assert {line[2] for line in lines[1:] if line[0] != "new"} == {"normal"}
    assert "cannot read 'never','hot','1'" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "give --baseline-csv and --incident-csv (and --before-csv), or --host"),
        (["--baseline-csv", "a.csv"], 2, "give --baseline-csv and --incident-csv"),
        (["--baseline-csv", "no.csv", "--incident-csv", "no.csv"], 1, "There is no file no.csv"),
        (["--host", "web1", "--from", "2026-01-01T00:00Z"], 2, "--to"),
    ],
)
def test_what_is_wrong_is_one_line_and_an_exit_code(arguments: list[str], code: int, message: str) -> None:
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert message in err
