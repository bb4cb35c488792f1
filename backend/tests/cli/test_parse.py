"""`normstat parse` as a script would use it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from normstat.cli import app
from tests.golden_captures import GOLDEN, capture_path

AGENT = capture_path("vmstat_linux/procps-4.0.2--agent")
BROKEN = capture_path("vmstat_linux/procps-4.0.2--broken-lines")
NO_DATE = (
    b"12:00:00     CPU    %usr    %sys   %idle\n"
    b"23:59:59     all    1.00    2.00   97.00\n"
    b"00:00:00     all    1.00    2.00   97.00\n"
)


SINCE_BOOT_HINT = " (--since-boot prints them, --first-is-real makes them samples)"


def run(*words: str, stdin: bytes = b"") -> tuple[int, list[dict[str, object]], str]:
    result = CliRunner().invoke(app, ["parse", *words], input=stdin)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def test_one_object_for_each_sample() -> None:
    code, samples, complaints = run(str(AGENT))
    assert code == 0
    assert complaints == f"{AGENT}: 1 row is about the time since boot and not printed{SINCE_BOOT_HINT}\n"
    assert len(samples) == 24
    assert len(run(str(AGENT), "--since-boot")[1]) == 25
    assert set(samples[0]) == {"stat", "time", "instance", "values"}
    assert (samples[0]["stat"], samples[0]["time"], samples[0]["instance"]) == ("vmstat_linux", "2026-11-21T09:43:23Z", "")
    values = samples[0]["values"]
    assert isinstance(values, dict)
    assert (values["free"], values["us"]) == (21347556, 78)


def test_a_file_without_samples_says_why(tmp_path: Path) -> None:
    path = tmp_path / "iostat.txt"
    path.write_text("Device            r/s     rkB/s\nsda              1.00      2.00\n")
    code, samples, complaints = run(str(path))
    assert (code, samples) == (1, [])
    assert complaints.startswith(f"{path}: no samples: 1 row is about the time since boot and not printed")
    assert "call the tool with an interval and a count" in complaints
    for words in (["--first-is-real"], ["--command", "iostat -xy 1 1"]):
        code, samples, complaints = run(str(path), *words)
        assert (code, len(samples), complaints) == (0, 1, "")
    named = path.rename(tmp_path / "iostat_-xy_1_1.txt")
    assert run(str(named))[::2] == (0, "")


def test_rejected_lines_go_to_standard_error() -> None:
    code, samples, complaints = run(str(BROKEN))
    assert code == 0
    assert samples
    assert f"{BROKEN}:31: column st: 'x' is not a number that it can hold: '" in complaints
    assert complaints.count("\n") == 6 + 1


def test_clock_without_a_date() -> None:
    assert [sample["time"] for sample in run("-", stdin=NO_DATE)[1]] == [None, None]
    code, samples, _ = run("--date", "2026-11-21", "-", stdin=NO_DATE)
    assert code == 0
    assert [sample["time"] for sample in samples] == ["2026-11-21T23:59:59Z", "2026-11-22T00:00:00Z"]
    _, samples, _ = run("--date", "2026-11-21", "--zone", "Europe/Berlin", "-", stdin=NO_DATE)
    assert samples[0]["time"] == "2026-11-21T22:59:59Z"


def test_spec_can_be_named() -> None:
    assert len(run("--spec", "vmstat_linux", str(AGENT))[1]) == 24
    code, samples, complaints = run("--spec", "mpstat_linux", str(AGENT))
    assert (code, samples) == (1, [])
    assert "no samples found" in complaints


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["/no/such/file"], 1, "No such file"),
        (["--spec", "nonsense", str(AGENT)], 1, "there is no spec 'nonsense'"),
        (["--date", "yesterday", str(AGENT)], 2, "'yesterday' is not a date"),
        (["--zone", "Mars/Olympus", str(AGENT)], 1, "no time zone 'Mars/Olympus'"),
        (["-"], 1, "no header of a known tool found"),
        ([str(GOLDEN)], 1, "directory"),
    ],
)
def test_mistakes_are_named(words: list[str], code: int, complaint: str) -> None:
    found, samples, complaints = run(*words)
    assert found == code
    assert samples == []
    assert complaint in complaints


def test_a_file_larger_than_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("normstat.cli.parsed_samples.PIECE", 1000)
    assert run(str(AGENT), "--since-boot") == (0, run("-", "--since-boot", stdin=AGENT.read_bytes())[1], "")
    lines = AGENT.read_bytes().splitlines(keepends=True)
    many = tmp_path / "many.txt"
    many.write_bytes(b"".join(lines[:3] + lines[3:10] * 300))
    assert len(run(str(many))[1]) == 2100
